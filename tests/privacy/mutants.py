"""Small faults planted in the source, each of which some test must notice.

    python tests/privacy/mutants.py                 # every mutant, against the tests named for it
    python tests/privacy/mutants.py --only clip     # those whose name contains a word
    python tests/privacy/mutants.py --whole         # against all tests, for hours
    python tests/privacy/mutants.py --jobs 4        # so many at once; by default one per core

`mutants.toml` lists them. A mutant names a symbol of the package (`clip_rows`, `RowSums.moment`,
or a name that is assigned) and a fragment of its source. Fragments are compared token by token, so
that neither moves between files nor line breaks, indentation and comments matter. Where several
modules define the symbol with the fragment, `beside` names another symbol of the module that is
meant.

Each mutant is planted in a copy of its own of package and tests. Tests are run there until the
first failure, in a fork of a process that has imported other packages, but nothing of ours. A test
that noticed a mutant the last time comes first. Tests that noticed one must then pass in a copy
without it. The script ends with status 1 if one of them doesn't, if a mutant survives, or if its
tests don't run or take longer than the limit: a test that hangs may be the machine's fault, and is
no notice. `tests/privacy/test_mutants.py` keeps the list in step with the source.
"""

import argparse
import ast
import contextlib
import functools
import importlib.util
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("skdp", "tests")
LINKED = ("benchmarks", "examples", "doc", "pyproject.toml", "README.rst", "CONTRIBUTING.rst")
# What takes time to import. None of them starts a thread, which a fork would lose.
PRELOADED = (
    "dp_accounting.pld.privacy_loss_distribution",
    "hypothesis.extra.numpy",
    "matplotlib.pyplot",
    "numpydoc.validate",
    "onnx",
    "pandas",
    "pytest",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.stats",
    "sklearn.calibration",
    "sklearn.compose",
    "sklearn.datasets",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.svm",
    "sklearn.utils.estimator_checks",
)
LIMIT = 300.0
NOTICED = ROOT / ".pytest_cache" / "mutants.json"
PASSED, FAILED, TOO_LONG = 0, 1, "too long"
VERDICTS = {PASSED: "SURVIVED", FAILED: "noticed", TOO_LONG: "TOO LONG"}

_TOKEN = re.compile(
    r"""
    (?P<space>(?:\s|\\\n|\#[^\n]*)+)
    | \w{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3} | '{3}(?:\\.|[^\\])*?'{3})
    | \w{0,2}(?:"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
    | \d[\w.]*(?:(?<=[eE])[+-]\d+)?
    | \w+
    | \*\*=? | //=? | >>=? | <<=? | -> | \.\.\. | [-+*/%&|^@=<>!:]=
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSING = (")", "]", "}")


class Mutant(NamedTuple):
    """A fault: in a symbol, one fragment in place of another that occurs there once; the tests."""

    name: str
    symbol: str
    old: str
    new: str
    tests: list
    beside: str = ""


class Module(NamedTuple):
    """A file of the package, and the places of its symbols: pairs of offsets by qualified name."""

    path: str
    text: str
    symbols: dict


class Planted(NamedTuple):
    """A file of the package with a fault."""

    path: str
    text: str


@functools.cache
def read_mutants():
    """Return the list."""
    listed = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return tuple(Mutant(**entry) for entry in tomllib.loads(listed)["mutant"])


@functools.cache
def read_package(folder):
    """Return the modules of the package in a folder."""
    return [_read_module(path, folder) for path in sorted((folder / "skdp").rglob("*.py"))]


def _read_module(path, folder):
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    symbols = {}
    for name, node in _symbols(ast.parse(text).body, ""):
        first = min([node.lineno, *(line.lineno for line in getattr(node, "decorator_list", ()))])
        symbols.setdefault(name, []).append((starts[first - 1], starts[node.end_lineno]))
    return Module(path.relative_to(folder).as_posix(), text, symbols)


def _symbols(body, prefix):
    """Yield functions, classes, assigned names and the same of classes, as (name, node)."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield prefix + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from _symbols(node.body, f"{prefix}{node.name}.")
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if _is_name(part)]
            yield from ((prefix + name, node) for name in names)


def _is_name(node):
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def tokens_of(text):
    """Return the tokens of a piece of source, which needn't be whole, as (text, start, end)."""
    found = _TOKEN.finditer(text)
    return [(token[0], *token.span()) for token in found if token["space"] is None]


def find_fragment(text, fragment):
    """Return pairs of offsets in a text where the tokens of a fragment stand."""
    tokens, wanted = tokens_of(text), [token for token, _, _ in tokens_of(fragment)]
    words = [token for token, _, _ in tokens]
    ends = ((first, _end_of_match(words, first, wanted)) for first in range(len(words)))
    return [(tokens[first][1], tokens[end - 1][2]) for first, end in ends if end is not None]


def _end_of_match(words, at, wanted):
    """Return where a match ends. A comma before a closing bracket is a matter of layout."""
    for i, word in enumerate(wanted):
        if word in _CLOSING and words[at : at + 1] == [","] and words[at + 1 : at + 2] == [word]:
            at += 1
        if words[at : at + 1] == [word]:
            at += 1
        elif not (
            word == ","
            and words[at : at + 1]
            and words[at] in _CLOSING
            and (i + 1 == len(wanted) or wanted[i + 1] in _CLOSING)
        ):
            return None
    return at


def plant(mutant, folder):
    """Return the file with the fault, from the package in a folder.

    Raises
    ------
    ValueError
        If the fragment doesn't stand exactly once in what has the name of the symbol.
    """
    modules = [module for module in read_package(folder) if mutant.symbol in module.symbols]
    if not modules:
        raise ValueError(f"{mutant.name!r}: nothing is called {mutant.symbol}.")
    places = [
        (module, start + first, start + last)
        for module in modules
        if not mutant.beside or mutant.beside in module.symbols
        for start, end in module.symbols[mutant.symbol]
        for first, last in find_fragment(module.text[start:end], mutant.old)
    ]
    if len(places) != 1:
        raise ValueError(
            f"{mutant.name!r}: its fragment stands {len(places)} times in {mutant.symbol}."
        )
    module, start, end = places[0]
    line = module.text[module.text.rfind("\n", 0, start) + 1 : start]
    indent = line[: len(line) - len(line.lstrip())]
    new = mutant.new.replace("\n", "\n" + indent)
    return Planted(module.path, module.text[:start] + new + module.text[end:])


def copy_project(source, target):
    """Copy package and tests, with what Python has compiled, and link to the rest."""
    for name in COPIED:
        shutil.copytree(source / name, target / name)
    for name in LINKED:
        (target / name).symlink_to(ROOT / name)


def write_fault(planted, folder):
    """Write a file with a fault, and remove what Python has compiled of the file without it."""
    path = folder / planted.path
    path.write_text(planted.text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


class Run:
    """Tests in a fork of this process, on a copy of the project in a folder."""

    def __init__(self, folder, tests, first=()):
        self.folder = folder
        self.start = time.perf_counter()
        # Controls share a folder.
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as log:
            self.log = Path(log.name)
        self.failed = self.log.with_suffix(".failed")
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            # Nothing of the parent's stack may run in the child, whatever happens.
            status = 70
            try:
                status = self._run_tests(tests, first)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)

    def _run_tests(self, tests, first):
        os.setpgid(0, 0)
        output = os.open(self.log, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(output, stream)
        scratch = tempfile.mkdtemp(dir=self.folder)
        os.environ.update(PYTHONPATH=str(self.folder), TMPDIR=scratch)
        tempfile.tempdir = None
        os.chdir(self.folder)
        here = (ROOT, ROOT / "tests", Path(__file__).resolve().parent)
        kept = [path for path in sys.path if Path(path).resolve() not in here]
        sys.path[:] = [str(self.folder), *kept]
        origin = importlib.util.find_spec("skdp").origin
        if not Path(origin).is_relative_to(self.folder):
            raise RuntimeError(f"Tests would import the package from {origin}.")
        import pytest

        options = [
            "-x",
            "-q",
            "-m",
            "",
            "-p",
            "no:cacheprovider",
            "-W",
            "ignore:Module already imported",
        ]
        return int(pytest.main([*options, *tests], plugins=[Noticing(self.failed, first)]))

    @property
    def seconds(self):
        """Time since the start."""
        return time.perf_counter() - self.start

    def outcome(self, limit):
        """Return the status of pytest, TOO_LONG, or None while it runs."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0 and self.seconds <= limit:
            return None
        # The tests' own processes are in the group, and end with it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if pid == 0:
            os.waitpid(self.pid, 0)
            return TOO_LONG
        # A fault may corrupt memory, and crash Python after the test that noticed it.
        return FAILED if self.failed_tests() else os.waitstatus_to_exitcode(status)

    def failed_tests(self):
        """Return names of tests that failed."""
        if not self.failed.is_file():
            return []
        return self.failed.read_text(encoding="utf-8").splitlines()

    def read_log(self):
        """Return the end of what pytest wrote."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-3000:]


class Noticing:
    """A plugin of pytest that runs some tests first, and writes down which ones fail."""

    def __init__(self, path, first):
        self.path, self.first = path, first

    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: item.nodeid not in self.first)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            with self.path.open("a", encoding="utf-8") as lines:
                lines.write(f"{report.nodeid}\n")


def run_all(jobs, n_jobs, limit):
    """Run (name, folder, tests, first) of jobs, some at once, and yield (name, outcome, run)."""
    jobs, running = iter(jobs), []
    while True:
        while len(running) < n_jobs and (job := next(jobs, None)) is not None:
            name, *arguments = job
            running.append((name, Run(*arguments)))
        if not running:
            return
        for name, run in list(running):
            outcome = run.outcome(limit)
            if outcome is not None:
                running.remove((name, run))
                yield name, outcome, run
        time.sleep(0.02)


def plant_all(mutants, base, noticed, *, whole):
    """Plant each mutant in a copy of its own, and yield (mutant, folder, tests, first)."""
    for mutant in mutants:
        folder = Path(tempfile.mkdtemp(dir=base.parent))
        copy_project(base, folder)
        write_fault(plant(mutant, ROOT), folder)
        yield mutant, folder, ["tests"] if whole else mutant.tests, noticed.get(mutant.name, [])


def read_noticed():
    """Return which tests noticed a mutant when it was last run, by its name."""
    return json.loads(NOTICED.read_text(encoding="utf-8")) if NOTICED.is_file() else {}


def write_noticed(noticed):
    """Keep which tests noticed a mutant, to run them first."""
    NOTICED.parent.mkdir(exist_ok=True)
    NOTICED.write_text(json.dumps(noticed), encoding="utf-8")


def check_control(base, noticing, n_jobs):
    """Return the files in which a test that noticed a fault fails without one."""
    by_file = {}
    for test in sorted(noticing):
        by_file.setdefault(test.partition("::")[0], []).append(test)
    jobs = ((file, base, tests, ()) for file, tests in by_file.items())
    failed = []
    for file, outcome, run in run_all(jobs, n_jobs, float("inf")):
        print(f"{'control':11}{run.seconds:6.1f} s  {file}", flush=True)
        if outcome != PASSED:
            failed.append(file)
            print(run.read_log(), flush=True)
    return failed


def main(arguments=None):
    """Run the mutants and return the number of those that weren't noticed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="a word in the names of mutants")
    parser.add_argument("--whole", action="store_true", help="run all tests for each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at once")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one of them")
    options = parser.parse_args(arguments)
    chosen = [mutant for mutant in read_mutants() if options.only in mutant.name]
    if not chosen:
        parser.error("no mutant has this in its name")
    limit = float("inf") if options.whole else options.limit
    os.environ.update(OMP_NUM_THREADS="1", MPLBACKEND="Agg")
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    start = time.perf_counter()
    failures, noticing, noticed = {}, set(), read_noticed()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        base = Path(scratch) / "base"
        base.mkdir()
        copy_project(ROOT, base)
        jobs = plant_all(chosen, base, noticed, whole=options.whole)
        for mutant, outcome, run in run_all(jobs, options.jobs, limit):
            verdict = VERDICTS.get(outcome, "DIDN'T RUN")
            print(f"{verdict:11}{run.seconds:6.1f} s  {mutant.name}", flush=True)
            if outcome == FAILED:
                noticed[mutant.name] = run.failed_tests()
                noticing.update(noticed[mutant.name])
                write_noticed(noticed)
            else:
                failures.setdefault(verdict, []).append(mutant.name)
            if verdict == "DIDN'T RUN":
                print(run.read_log(), flush=True)
            shutil.rmtree(run.folder, ignore_errors=True)
        broken = check_control(base, noticing, options.jobs)
    seconds = time.perf_counter() - start
    print(f"{len(chosen)} mutants in {seconds:.0f} s, failures: {failures}, control: {broken}")
    return sum(map(len, failures.values())) + len(broken)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
