"""Small faults planted in the source, each of which some test must notice.

    python tests/privacy/mutants.py                 # every mutant, against the tests named for it
    python tests/privacy/mutants.py --resume        # those that an earlier run left undecided
    python tests/privacy/mutants.py --only clip     # those whose name contains a word
    python tests/privacy/mutants.py --property bound    # those that break a property
    python tests/privacy/mutants.py --symbol clip_rows --list   # those of a function, not run
    python tests/privacy/mutants.py --whole         # against all tests, for hours
    python tests/privacy/mutants.py --jobs 4        # so many at once; by default one per core

`mutants.toml` lists them, and begins with the properties that they break. A mutant names a symbol
of the package (`clip_rows`, `CertifiedRows.shorten`, or a name that is assigned) and a fragment of
its source. Fragments are compared token by token, so that neither moves between files nor line
breaks, indentation and comments matter. Where several modules define the symbol with the fragment,
`beside` names another symbol of the module that is meant.

Each mutant is planted in a copy of its own of package and tests. Tests are run there until the
first failure, in a fork of a process that has imported other packages, but nothing of ours. A test
that noticed a mutant the last time comes first. Tests that noticed one must then pass in a copy
without it. The script ends with status 1 if one of them doesn't, if a mutant survives, or if its
tests don't run or take longer than the limit: a test that hangs may be the machine's fault, and is
no notice. `tests/privacy/test_mutants.py` keeps the list in step with the source.

A run may be stopped by Ctrl-C, and then by status 130. Verdicts are written down as they are
reached. `--resume` leaves out each mutant that was noticed while its text, the file that it changes
and the files of its tests were as they are now. Whether a change elsewhere made a difference only a
run without `--resume` can say: it begins by forgetting the verdicts of the mutants that it runs.
"""

import argparse
import ast
import contextlib
import functools
import hashlib
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
VERDICTS_FILE = ROOT / ".pytest_cache" / "mutant_verdicts.json"
INTERRUPTED = 130
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
    """A fault: in a symbol, one fragment in place of another that occurs there once; the tests.

    `property` is what the fault breaks, a word of `read_properties`.
    """

    name: str
    symbol: str
    old: str
    new: str
    tests: list
    beside: str = ""
    property: str = ""


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
def _read_list():
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def read_mutants():
    """Return the list."""
    return tuple(Mutant(**entry) for entry in _read_list()["mutant"])


def read_properties():
    """Return what mutants may break: by a word, the sentence that says what it means."""
    return _read_list()["properties"]


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
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
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
            "--all-cases",
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
        self._kill_group()
        if pid == 0:
            os.waitpid(self.pid, 0)
            return TOO_LONG
        # A fault may corrupt memory, and crash Python after the test that noticed it.
        return FAILED if self.failed_tests() else os.waitstatus_to_exitcode(status)

    def stop(self):
        """End the tests, whose result is of no interest any more."""
        self._kill_group()
        # The fork may not have reached the line that gives it a group of its own.
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def _kill_group(self):
        # The tests' own processes are in the group, and end with it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

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
    try:
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
    finally:
        for _, run in running:
            run.stop()


def plant_all(mutants, base, verdicts, *, whole):
    """Plant each mutant in a copy of its own, and yield (mutant, folder, tests, first)."""
    for mutant in mutants:
        folder = Path(tempfile.mkdtemp(dir=base.parent))
        copy_project(base, folder)
        write_fault(plant(mutant, ROOT), folder)
        tests = ["tests", "tests/long"] if whole else mutant.tests
        yield mutant, folder, tests, verdicts.noticing_tests(mutant)


def digest_of(mutant, folder, *, whole=False):
    """Return a digest of the file with the fault, and of the tests that should notice it."""
    planted = plant(mutant, folder)
    digest = hashlib.sha256(planted.text.encode())
    named = (folder / path for path in mutant.tests)
    for path in sorted((folder / "tests").rglob("*.py")) if whole else named:
        digest.update(f"\n{path.relative_to(folder).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Verdicts:
    """The mutants that were noticed: by which tests, and of which source. Kept in a file."""

    def __init__(self, path):
        self.path = path
        self._digests, self._tests = {}, {}
        if path.is_file():
            kept = json.loads(path.read_text(encoding="utf-8"))
            self._digests, self._tests = kept["digests"], kept["tests"]

    def noticing_tests(self, mutant):
        """Return the tests that noticed a mutant the last time."""
        return self._tests.get(mutant.name, [])

    def is_noticed(self, mutant, digest):
        """Return whether a mutant was noticed when source and tests had this digest."""
        return self._digests.get(mutant.name) == digest

    def add(self, mutant, digest, tests):
        """Write down that tests noticed a mutant."""
        self._digests[mutant.name] = digest
        self._tests[mutant.name] = tests
        self._write()

    def forget(self, mutants):
        """Make mutants undecided. The tests that noticed them will still come first."""
        for mutant in mutants:
            self._digests.pop(mutant.name, None)
        self._write()

    def _write(self):
        self.path.parent.mkdir(exist_ok=True)
        # A run that is killed while it writes leaves the file of before.
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"digests": self._digests, "tests": self._tests}), "utf-8")
        part.replace(self.path)


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


def run_mutants(mutants, digests, verdicts, options):
    """Run mutants and the controls, and return failures by verdict, and files that fail."""
    limit = float("inf") if options.whole else options.limit
    failures, count = {}, 0
    with contextlib.ExitStack() as stack:
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        base = Path(stack.enter_context(scratch)) / "base"
        base.mkdir()
        copy_project(ROOT, base)
        undecided = [
            mutant for mutant in mutants if not verdicts.is_noticed(mutant, digests[mutant.name])
        ]
        jobs = plant_all(undecided, base, verdicts, whole=options.whole)
        runs = stack.enter_context(contextlib.closing(run_all(jobs, options.jobs, limit)))
        for mutant, outcome, run in runs:
            count += 1
            verdict = VERDICTS.get(outcome, "DIDN'T RUN")
            place = f"{count}/{len(undecided)}"
            if outcome == FAILED:
                verdicts.add(mutant, digests[mutant.name], run.failed_tests())
            else:
                failures.setdefault(verdict, []).append(mutant.name)
            print(f"{place:>9}  {verdict:11}{run.seconds:6.1f} s  {mutant.name}", flush=True)
            if verdict == "DIDN'T RUN":
                print(run.read_log(), flush=True)
            shutil.rmtree(run.folder, ignore_errors=True)
        missed = {name for names in failures.values() for name in names}
        noticing = {
            test
            for mutant in mutants
            if mutant.name not in missed
            for test in verdicts.noticing_tests(mutant)
        }
        return failures, check_control(base, noticing, options.jobs)


def main(arguments=None):
    """Run the mutants and return the status of the script."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="a word in the names of mutants")
    parser.add_argument("--property", choices=list(read_properties()), help="what mutants break")
    parser.add_argument("--symbol", help="the function, class or name that mutants change")
    parser.add_argument("--list", action="store_true", help="print mutants with their tests only")
    parser.add_argument("--resume", action="store_true", help="leave out what is decided")
    parser.add_argument("--whole", action="store_true", help="run all tests for each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at once")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one of them")
    options = parser.parse_args(arguments)
    chosen = [
        mutant
        for mutant in read_mutants()
        if options.only in mutant.name
        and options.property in (None, mutant.property)
        and options.symbol in (None, mutant.symbol)
    ]
    if options.symbol and not any(options.symbol in one.symbols for one in read_package(ROOT)):
        parser.error(f"nothing is called {options.symbol}: a method is CLASS.NAME")
    if not chosen:
        parser.error("there is no mutant of this name and property, and of this symbol")
    if options.list:
        for mutant in chosen:
            print(f"{mutant.property:12}{mutant.name}: {', '.join(mutant.tests)}")
        return 0
    digests = {mutant.name: digest_of(mutant, ROOT, whole=options.whole) for mutant in chosen}
    verdicts = Verdicts(VERDICTS_FILE)
    if not options.resume:
        verdicts.forget(chosen)
    os.environ.update(OMP_NUM_THREADS="1", MPLBACKEND="Agg")
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # What stops a job on a server is to end as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.perf_counter()
    try:
        failures, broken = run_mutants(chosen, digests, verdicts, options)
    except KeyboardInterrupt:
        n_noticed = sum(verdicts.is_noticed(mutant, digests[mutant.name]) for mutant in chosen)
        print(f"Stopped: {n_noticed} of {len(chosen)} are noticed. --resume runs the others.")
        return INTERRUPTED
    seconds = time.perf_counter() - start
    print(f"{len(chosen)} mutants in {seconds:.0f} s, failures: {failures}, control: {broken}")
    return 1 if failures or broken else 0


if __name__ == "__main__":
    sys.exit(main())
