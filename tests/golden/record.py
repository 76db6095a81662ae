"""Record noise multipliers, events and seeded fits, or compare them with what was recorded.

    python tests/golden/record.py                        # write recorded.json beside this file
    python tests/golden/record.py --check                # compare with it
    python tests/golden/record.py --exact FILE           # write every bit, for this machine
    python tests/golden/record.py --exact --check FILE   # compare with it, to the last bit

A change of the code that isn't meant to change what is released leaves all of it as it is. The last
bits of a fit differ between processors and builds of BLAS. Searches for a multiplier or an optimum
that end within a tolerance make more of that, up to 1e-7 in a trial of three kernels of OpenBLAS.
So numbers of recorded.json are compared up to `TOLERANCE`, and all else as it is. What FILE holds
is compared bit by bit, and means something on one machine only.
`_subjects.py` says what is recorded.
"""

import argparse
import functools
import hashlib
import json
import math
import os
import sys
import warnings
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

RECORDED = Path(__file__).with_name("recorded.json")
ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-6
# Of an array as many values as this are recorded, beside its digest.
N_FIRST = 4
NUMERICAL = ("dp-accounting", "numpy", "scipy", "scikit-learn", "pandas", "dask", "numba")
# What a release of this or of another package changes, prose, and what a ledger calls releases.
UNRECORDED = {
    "names",
    "sampling",
    "accountant_version",
    "skdp_version",
    "assumed_public",
    "not_covered",
    "notes",
    "event",
}


def describe(value):
    """Return a value in the terms of JSON, whose numbers keep every bit of a float."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        # No number equals NaN, and a name does.
        return "nan" if math.isnan(value) else value
    if value is None or isinstance(value, bool | int | str):
        return value
    if issparse(value):
        return describe(value.toarray())
    if isinstance(value, np.ndarray):
        return _describe_array(value)
    if isinstance(value, dict):
        kept = {str(name): item for name, item in value.items() if name not in UNRECORDED}
        return {name: describe(item) for name, item in kept.items()}
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if isinstance(value, BaseEstimator):
        return _describe_estimator(value)
    if hasattr(value, "to_dict"):
        return describe(value.to_dict())
    if is_dataclass(value):
        return describe({field.name: getattr(value, field.name) for field in fields(value)})
    return type(value).__name__


def _describe_array(array):
    if array.dtype.kind not in "fiub":
        return describe(array.tolist())
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    first = describe(array.ravel()[:N_FIRST].tolist())
    return {f"{array.dtype} {array.shape}": first, "sha256": digest}


def _describe_estimator(estimator):
    """Return what a fit published, and what its parts did."""
    names = {name for name in vars(estimator) if name.endswith("_") and name[0] != "_"}
    if hasattr(estimator, "privacy_report_"):
        names.add("privacy_report_")
    found = {name: describe(getattr(estimator, name)) for name in sorted(names)}
    if hasattr(estimator, "steps"):
        found["steps"] = [describe(step) for _, step in estimator.steps]
    return {"class": type(estimator).__name__, **found}


def versions():
    """Return the versions of what numbers depend on."""
    return {name: version(name) for name in NUMERICAL}


def subjects():
    """Return the functions that make what is recorded, by name."""
    from tests.golden import _places, _subjects, _texts

    return {**_subjects.SUBJECTS, **_places.SUBJECTS, **_texts.SUBJECTS}


def record(names=None):
    """Return what is found now of all subjects, or of those with some names, by name."""
    made_by = subjects()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: describe(made_by[name]()) for name in names or made_by}
    return {"versions": versions(), **found}


def without_digests(value):
    """Return what may be compared between machines."""
    if isinstance(value, dict):
        return {k: without_digests(item) for k, item in value.items() if k != "sha256"}
    return [without_digests(item) for item in value] if isinstance(value, list) else value


def differences(found, recorded, tolerance, path=""):
    """Yield where two descriptions differ, by name and path."""
    if isinstance(found, dict) and isinstance(recorded, dict):
        for name in sorted({*found, *recorded}):
            here = f"{path}/{name}"
            if name not in recorded:
                yield f"{here}: isn't recorded"
            elif name not in found:
                yield f"{here}: is recorded, and no longer found"
            else:
                yield from differences(found[name], recorded[name], tolerance, here)
    elif isinstance(found, list) and isinstance(recorded, list) and len(found) == len(recorded):
        for i, (one, other) in enumerate(zip(found, recorded, strict=True)):
            yield from differences(one, other, tolerance, f"{path}/{i}")
    elif found != recorded and not _is_close(found, recorded, tolerance):
        yield f"{path}: {found}, recorded {recorded}"


def _is_close(found, recorded, tolerance):
    if not (isinstance(found, float) and isinstance(recorded, float)):
        return False
    return math.isclose(found, recorded, rel_tol=tolerance, abs_tol=1e-3 * tolerance)


def write(found, path):
    """Write a description, a line for a subject."""
    dump = functools.partial(json.dumps, separators=(",", ":"))
    lines = (f"{dump(name)}:{dump(item)}" for name, item in found.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main(arguments=None):
    """Record or compare, and return the number of differences."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=RECORDED)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--exact", action="store_true", help="to the last bit")
    options = parser.parse_args(arguments)
    if options.exact and options.file == RECORDED:
        parser.error("--exact needs a file of its own: it holds for one machine")
    found = record() if options.exact else without_digests(record())
    if not options.check:
        write(found, options.file)
        return 0
    recorded = json.loads(options.file.read_text(encoding="utf-8"))
    lines = list(differences(found, recorded, 0.0 if options.exact else TOLERANCE))
    print(*lines, f"{len(lines)} differences in {len(found)} subjects", sep="\n")
    return len(lines)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.path.insert(0, str(ROOT))
    sys.exit(1 if main() else 0)
