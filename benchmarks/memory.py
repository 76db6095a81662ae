"""Memory of a fit: copies of X, and a file of 4 GB that is fitted in 1 GB.

Each fit runs in a process of its own, on generated rows. "Copies" are the peak of the resident
memory above what was there before the fit, over the bytes of X: near 0 for an X that is used as it
is. The file is mapped into memory (np.memmap). Linux counts the pages of a
mapped file that were read as resident until something else needs the room, which is so for any
program that reads the file: adding its entries up is the comparison. What can't be taken back is
private memory, and it is limited to 1 GB: a fit that copied the file would fail. A ball is learnt
there, and in memory where the name says so. Linux only.

    python benchmarks/memory.py --scratch FOLDER

``--scratch`` is a folder for the file of 4 GB, the system's by default. A part that ``--parts``
leaves out stays in the table as it was, if the sizes are the same. ``--rows`` is of X in memory.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import _common as bench
import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from skdp import linear_model

CHILD = Path(__file__).with_name("_memory.py")
NOTE = "Rows are generated. Bytes in MB (10^6). BLAS and OpenMP have one thread."

BLOCK = 4096
COLUMNS = 90
ROWS = 200_000
FILE_BYTES = 4e9
LIMIT = 1e9

# Settings that make the fits short: memory doesn't depend on the number of passes.
_COLUMNS_ONCE = {"max_iter": 1, "delta": 1e-8, "random_state": 0}
_BATCHES = _COLUMNS_ONCE | {"batch_size": 1000}
_NO_BALL = {"ball_budget": 0, "data_norm": 1.0}
_BY_BATCH = ["DPSCDClassifier", "DPSCDRegressor", "DPSGDClassifier", "DPSGDRegressor"]
_BY_COLUMN = ["DPCDClassifier", "DPCDElasticNet", "DPCDLasso"]
_WHITENED = ["DPLogisticRegression", "DPRidge"]
# Settings by name, whose first word is the class.
COPIED = {
    **dict.fromkeys(_BY_BATCH, _BATCHES | _NO_BALL),
    "DPSCDClassifier, primal": _COLUMNS_ONCE | _NO_BALL | {"solver": "primal"},
    **dict.fromkeys([*_BY_COLUMN, *_WHITENED], _COLUMNS_ONCE | _NO_BALL),
    "WALRClassifier": _COLUMNS_ONCE | {"max_iter": 5},
    **{f"{name}, ball": _BATCHES for name in _BY_BATCH},
    **{f"{name}, ball": _COLUMNS_ONCE for name in (*_BY_COLUMN, *_WHITENED)},
}
# DPCD* and the primal solver store X by column and can't work from a file.
NO_FIT = "no fit: X.sum()"
MAPPED = {NO_FIT: {}} | dict.fromkeys(_BY_BATCH, _BATCHES | {"batch_size": 10_000})
MAPPED |= dict.fromkeys(_WHITENED, _COLUMNS_ONCE)
MAPPED |= {"WALRClassifier": _COLUMNS_ONCE | {"max_iter": 2}}
# WALR takes a minute for each.
MAPPED_TYPES = {"float64": list(MAPPED), "float32": [name for name in MAPPED if "WALR" not in name]}
# Type, order and length of the rows, of which the estimators' bound is 1.
LAYOUTS = {
    "float64": ("float64", "C", 0.9),
    "float32": ("float32", "C", 0.9),
    "float64, rows beyond data_norm": ("float64", "C", 2.0),
    "float64, Fortran order": ("float64", "F", 0.9),
}


def write_problem(folder, n_rows, dtype, length):
    """Write rows of a given length and their targets, block after block; return the files.

    The blocks repeat one, which is as good as any for memory.

    Returns
    -------
    dict
        Files of X, of labels ("classifier") and of numbers ("regressor").
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=(BLOCK, COLUMNS))
    x *= length / np.linalg.norm(x, axis=1, keepdims=True)
    scores = x @ rng.normal(size=COLUMNS)
    targets = np.resize(np.clip(scores, -1.0, 1.0), n_rows)
    files = {name: str(Path(folder) / f"{name}.npy") for name in ("X", "classifier", "regressor")}
    np.save(files["classifier"], (targets > 0.0).astype(np.int64))
    np.save(files["regressor"], targets)
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (n_rows, COLUMNS)}
    block = x.astype(dtype).tobytes()
    with open(files["X"], "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(n_rows // BLOCK):
            file.write(block)
        file.write(x[: n_rows % BLOCK].astype(dtype).tobytes())
    return files


def run_fit(name, settings, files, **how):
    """Return what `_memory.measure` finds in a new process, or None if memory ran out."""
    estimator = None if name == NO_FIT else name.split(",")[0]
    classifies = estimator is not None and is_classifier(getattr(linear_model, estimator)())
    kind = "classifier" if classifies else "regressor"
    task = {"estimator": estimator, "settings": settings, "X": files["X"], "y": files[kind], **how}
    command = [sys.executable, str(CHILD), json.dumps(task)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if found.returncode and "MemoryError" in found.stderr:
        return None
    if found.returncode:
        raise RuntimeError(found.stderr)
    return json.loads(found.stdout)


def describe(found):
    """Return the columns of a row of the table."""
    if found is None:
        return {"fits": False}
    extra = found["peak"] - found["before"]
    private = found["anonymous_peak"] - found["anonymous_before"]
    sizes = {"X_MB": found["X_bytes"], "extra_MB": extra, "private_extra_MB": private}
    sizes |= {"peak_MB": found["peak"], "private_peak_MB": found["anonymous_peak"]}
    megabytes = {name: size / 1e6 for name, size in sizes.items()}
    copies = {"fits": True, "copies": extra / found["X_bytes"]}
    return copies | megabytes | {"seconds": found["seconds"]}


def copies(n_rows, folder):
    """Yield what fits on X in memory take."""
    for layout, (dtype, order, length) in bench.progress(LAYOUTS.items()):
        files = write_problem(folder, n_rows, dtype, length)
        for name, settings in COPIED.items():
            found = run_fit(name, settings, files, layout=order)
            yield {"part": "copies", "model": name, "X": layout, **describe(found)}


def mapped(n_bytes, folder):
    """Yield what fits on a mapped file take."""
    for dtype, names in bench.progress(MAPPED_TYPES.items()):
        n_rows = int(n_bytes / np.dtype(dtype).itemsize / COLUMNS)
        files = write_problem(folder, n_rows, dtype, 0.9)
        for name in names:
            found = run_fit(name, MAPPED[name], files, mapped=True, limit=int(LIMIT))
            # Pages of the file are no copies.
            row = describe(found) | {"copies": None}
            yield {"part": "mapped", "model": name, "X": dtype, **row}
        os.remove(files["X"])


PARTS = {"copies": copies, "mapped": mapped}


def draw(table, options):
    """Draw copies of X for each model, and the peaks on a mapped file."""
    figure, ((left, right),) = bench.panels(1, 2, 6.2, 5.2, width_ratios=[1.25, 1.0])
    _draw_bars(left, table[table["part"] == "copies"], "copies")
    left.axvline(1.0, color="black", linewidth=1.0, linestyle="--")
    left.set(title="Memory that a fit adds", xlabel="copies of X")
    left.legend(fontsize=8)
    files = table[(table["part"] == "mapped") & table["fits"]]
    _draw_bars(right, files, "peak_MB", alpha=0.3, label="with pages of the file")
    _draw_bars(right, files, "private_peak_MB", label="private")
    right.axvline(LIMIT / 1e6, color="black", linewidth=1.0, linestyle="--")
    right.set_title(f"Peak while a file of {files['X_MB'].max():,.0f} MB is fitted")
    right.set_xlabel("MB (private: at most 1,000)")
    right.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    bench.save_figure(figure, "memory.png", options)


def _draw_bars(axis, table, value, label=None, **style):
    """Draw a bar for every model and kind of X."""
    models, kinds = list(dict.fromkeys(table["model"])), list(dict.fromkeys(table["X"]))
    height = 0.8 / max(1, len(kinds))
    for i, kind in enumerate(kinds):
        of_kind = table[table["X"] == kind].set_index("model")[value].reindex(models)
        places = np.arange(len(models)) + (i - (len(kinds) - 1) / 2) * height
        text = kind if label is None else f"{kind}, {label}"
        axis.barh(places, of_kind, height, color=f"C{i}", label=text, **style)
    axis.set_yticks(range(len(models)), models)
    axis.set_ylim(len(models) - 0.5, -0.5)
    axis.grid(axis="y", visible=False)


def main(arguments=None):
    unnamed = {"scratch": str, "parts": PARTS}
    sizes = {"rows": ROWS, "file_bytes": FILE_BYTES}
    options = bench.read_options(__file__, __doc__, arguments, unnamed=unnamed, **sizes)
    old = bench.read_kept("memory.csv", options)
    found = {part: old[old["part"] == part] if len(old) else old for part in PARTS}
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        for part, size in zip(PARTS, (options.rows, options.file_bytes), strict=True):
            if part in options.parts:
                found[part] = pd.DataFrame(PARTS[part](size, folder)).round(3)
    table = pd.concat([rows for rows in found.values() if len(rows)], ignore_index=True)
    is_whole = set(options.parts) == set(PARTS)
    bench.write_table(table, "memory.csv", options, NOTE, is_whole=is_whole)
    if set(table["part"]) == set(PARTS):
        draw(table, options)


if __name__ == "__main__":
    bench.run_script(__file__)
