"""Which room may do what, read from the syntax trees, and how far rows walk, seen in fits."""

import ast
import re
import sys
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier

import skdp
from skdp.linear_model import WALRClassifier
from skdp.preprocessing import DPOneHotEncoder, DPSimpleImputer
from skdp.utils.discovery import all_estimators
from tests._listed import suited
from tests._loops import for_each
from tests.door import BoundedColumns
from tests.house import DOORS, private_names, tree_of, trees_of

ROOT = Path(skdp.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# Rooms in the order of the data's way: a file imports skdp modules of earlier rooms only.
ROOMS = [
    # What the door to scikit-learn asks of rows comes before it.
    {
        "_callbacks",
        "_progress",
        "_rows.entry_types",
        "_rows.private_rows",
        "_rows.sparse",
        "_settings",
        "_version",
        "exceptions",
    },
    {"_rows.containers"},
    {"_checks", "_sklearn"},
    {
        "_families.losses",
        "_families.penalties",
        "_families.targets",
        "_families.weights",
        "accountant",
    },
    {"ledger"},
    {"_release"},
    {"_rows"},
    {"_ball"},
    {"_families"},
    {"_estimator"},
    {"linear_model", "preprocessing"},
    {"additive", "metrics"},
    {"calibration", "dask", "pipeline"},
    {"model_selection"},
    {"audit", "datasets", "extend", "inspection", "onnx", "plotting"},
    {"statistics"},
    {"utils", ""},
]
# Walls by the name of a file, in whatever room: see the tests that use these.
PLAN = re.compile(r"_plan\w*")
SHARED_BY_PLANS = {"skdp._release.plan", "skdp._release.release", "skdp._release.run"}
SOLVER = re.compile(
    r"_solver|_?\w*queries|blocks|rows_in_ball|raw_rows|\w+ed_rows|_inference|_standard_errors|_noise|batches"
)
MAX_LINES = 400
# The check of indexes wraps each fit, what can't be read is refused in a room of its own, and a
# regression of quantiles looks at errors in the end.
MOST_STAYS = 25
# A query and the place that answers it call each other.
ASKED = re.compile(
    r".*/(_rows/(\w+_queries|raw_rows|\w+ed_rows|blocks|frames)|linear_model/_memory)\.py"
)


def test_contributing_draws_the_same_rooms():
    page = (Path(__file__).parents[1] / "CONTRIBUTING.rst").read_text(encoding="utf-8")
    (chain,) = re.findall(r"checks it::\n\n((?: {4}.*\n)+)", page)
    drawn = [set(re.findall(r"[\w.]+", room)) for room in chain.split("->")]
    assert drawn == [room - {""} for room in ROOMS]


def module_of(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def room_of(module):
    """The room and its rank; the longest listed prefix decides."""
    inside = module.removeprefix("skdp").removeprefix(".")
    candidates = [
        (name, rank)
        for rank, room in enumerate(ROOMS)
        for name in room
        if name in ("", inside) or inside.startswith(name + ".")
    ]
    return max(candidates, key=lambda candidate: len(candidate[0]))


def imports(tree):
    """All modules that a file imports, at any depth, with the names taken from them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                yield node.module, alias.name


MODULES = [(module_of(path), path) for path in FILES]


@pytest.mark.long
@for_each("module, path", MODULES)
def test_imports_run_one_way(module, path):
    room, rank = room_of(module)
    for imported, name in imports(tree_of(path)):
        if imported != "skdp" and not imported.startswith("skdp."):
            continue
        target = (
            imported if name is None or not _is_module(imported, name) else f"{imported}.{name}"
        )
        other_room, other_rank = room_of(target)
        assert other_rank < rank or other_room == room, f"{module} imports {target}"


@cache
def _is_module(package, name):
    path = ROOT.parent.joinpath(*package.split("."), name)
    return path.is_dir() or path.with_suffix(".py").exists()


# What `pip install skdp` brings along. To import them takes long enough.
BROUGHT = {"joblib", "narwhals", "numpy", "scipy", "sklearn", "skdp", "threadpoolctl"}
# These need an extra, and who imports one has it.
WITH_EXTRA = {"dask", "onnx"}


def imports_at_once(node):
    """All modules that a file imports while it is imported itself, with the names taken."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield from imports(child)
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imports_at_once(child)


def imports_of_late_names(tree):
    """All modules that a package may import when a name of it is asked for."""
    late = [node for node in tree.body if getattr(node, "name", None) == "__getattr__"]
    return [imported for node in late for imported, _ in imports(node)]


def reached_at_once(modules):
    """All modules that are imported with some."""
    paths, reached, waiting = dict(MODULES), set(), list(modules)
    while waiting:
        module = waiting.pop()
        if module in reached:
            continue
        reached.add(module)
        if "." in module:
            waiting.append(module.rpartition(".")[0])
        if module in paths:
            for imported, name in imports_at_once(tree_of(paths[module])):
                waiting.append(imported)
                if f"{imported}.{name}" in paths:
                    waiting.append(f"{imported}.{name}")
                elif imported in paths:
                    waiting += imports_of_late_names(tree_of(paths[imported]))
    return reached


def test_imports_within_functions_wait():
    tree = ast.parse(
        "import one\nif one:\n    import two\nclass A:\n    import three\n"
        "    def a(self):\n        import four\nasync def b():\n    import five\n"
    )
    assert [name for name, _ in imports_at_once(tree)] == ["one", "two", "three"]


@pytest.mark.long
def test_a_package_imports_no_extra_and_no_ledger():
    """Who keeps no ledger has neither SQLite nor what charges one, whatever of skdp is imported."""
    public = [path for path in ROOT.iterdir() if not path.name.startswith("_")]
    packages = [f"skdp.{path.stem}" for path in public if path.stem not in WITH_EXTRA]
    reached = reached_at_once(["skdp", *packages])
    assert {"skdp.ledger", "skdp.linear_model", "skdp._release.run"} <= reached
    assert reached.isdisjoint({"sqlite3", "skdp.ledger._ledger"})
    assert {name.split(".")[0] for name in reached} - sys.stdlib_module_names == BROUGHT


def is_plan(path):
    return bool(PLAN.fullmatch(path.stem)) or module_of(path) in SHARED_BY_PLANS


def is_solver(path):
    return bool(SOLVER.fullmatch(path.stem)) and path.parent.name != "dask"


ROOM_NAMES = {name for room in ROOMS for name in room if name.startswith("_")}
FORBIDDEN = {
    "skdp._families.losses": ("skdp",),
    "skdp._families.penalties": ("skdp",),
    "accountant": (
        "sklearn",
        *(f"skdp.{name}" for name in ROOM_NAMES - {"_checks", "_version"}),
    ),
}


@pytest.mark.long
@for_each("module, path", MODULES)
def test_rooms_do_not_import_what_they_must_not_know(module, path):
    forbidden = FORBIDDEN.get(module, FORBIDDEN.get(room_of(module)[0], ()))
    if is_solver(path):
        forbidden += ("sklearn", "dp_accounting", "skdp.accountant", "skdp._sklearn")
    if is_plan(path):
        forbidden += ("sklearn", "dp_accounting", "skdp._sklearn")
    for imported, _ in imports(tree_of(path)):
        assert not imported.startswith(forbidden or ("\0",)), f"{module} imports {imported}"
        is_estimator = imported.endswith(("._estimators", "._base"))
        assert not (is_estimator and (is_solver(path) or is_plan(path))), module


@for_each("module, path", [(module, path) for module, path in MODULES if path.stem == "_tuned"])
def test_tuned_numbers_need_nothing_of_ours(module, path):
    """Files of tuned numbers hold numbers, and types that come with Python or NumPy."""
    for imported, _ in imports(tree_of(path)):
        assert imported.split(".")[0] in {"dataclasses", "math", "numpy", "types", "typing"}, module
    for node in tree_of(path).body:
        assert not isinstance(node, ast.FunctionDef), f"{module} computes: {node.name}"


@pytest.mark.long
@for_each("module, path", MODULES)
def test_names_of_modules_have_one_value(module, path):
    """Two authors who choose the same name would change each other's number in silence."""
    names = [
        name.id
        for node in tree_of(path).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    ]
    assert not [name for name in names if names.count(name) > 1], module


@pytest.mark.long
@for_each("module, path", MODULES)
def test_private_scikit_learn_names_come_through_one_door(module, path):
    if module == "skdp._sklearn":
        return
    for imported, name in imports(tree_of(path)):
        if imported.startswith("sklearn"):
            private = [part for part in [*imported.split("."), name or ""] if part.startswith("_")]
            assert not private, f"{module} imports {imported}.{name}"
            assert name != "validate_data", f"{module} bypasses the check of error messages"


GENERATORS = {
    "default_rng",
    "Generator",
    "PCG64",
    "Philox",
    "MT19937",
    "SeedSequence",
    "urandom",
    "check_random_state",
    "getrandbits",
    "token_bytes",
    "SystemRandom",
}
RANDOM, MECHANISMS = "skdp._release.random", "skdp._release.mechanisms"
NOISE = {"normal", "standard_normal", "laplace", "gamma", "standard_gamma", "spherical"}


@pytest.mark.long
@for_each("module, path", MODULES)
def test_generators_and_noise_have_one_room_each(module, path):
    if module in ("skdp.utils.estimator_checks", "skdp.datasets._visits"):
        # These make their own data, and noise for nobody.
        return
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute):
            assert node.attr not in GENERATORS or module == RANDOM, f"{module}: {node.attr}"
            assert node.attr not in NOISE or module in (RANDOM, MECHANISMS), (
                f"{module}: {node.attr}"
            )
            if node.attr == "random" and isinstance(node.value, ast.Name):
                assert module == RANDOM, f"{module}: {node.value.id}.random"
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            assert not names & GENERATORS or module == RANDOM, f"{module} imports {names}"


# Who may open a stream: plans at their start, WALR for batches of public rows, random searches for
# their candidates, and audits, which draw canaries and coins of their own.
OPENERS = {
    "skdp._release.plan",
    "skdp.model_selection._plan",
    "skdp.linear_model.walr._plan",
    "skdp.audit._audit",
}
# Rooms whose releases are their solvers'.
RELEASED_FOR = {"linear_model", "preprocessing", "metrics", "calibration", "pipeline"}
RELEASED_FOR |= {"_ball", "_families", "statistics"}
# Estimators' reports are their plans'; these are shown or looked at, not made.
REPORTERS = {"skdp._estimator"}


# Whose method `release` plans a release, and whose asks a run for one.
PLANNING, RUNNING = {"budget", "problem"}, {"run"}


@pytest.mark.long
@for_each("module, path", MODULES)
def test_runs_alone_make_releases(module, path):
    """Elsewhere the method `release` is a run's, or in a plan that of a budget."""
    if module.startswith("skdp._release.") or module == "skdp.dask._pinned":
        # Pinned partitions let futures go.
        return
    for node in ast.walk(tree_of(path)):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in ("release", "serving"):
            owner = getattr(called.value, "id", None)
            assert owner in (PLANNING | RUNNING if is_plan(path) else RUNNING), module


# What is released there is no answer to a query that states a bound, and why.
RELEASED_BY_HAND = {
    # It checks queries, and makes the releases.
    "skdp._release.run": "the run itself",
    # Batches and columns are views that memory alone offers. What a record adds to a sum over
    # either is cut where it is computed, and follows from what no query may hold: coins, the state
    # of each row, and products that are kept from step to step.
    "skdp.linear_model.dpsgd._solver": "sums over batches",
    "skdp.linear_model.dpscd._solver": "sums over batches, with a dual variable by row",
    "skdp.linear_model.dpcd._solver": "sums over one column, with residuals by row",
    "skdp.linear_model.dpcd.greedy._solver": "sums over columns, and a column that is chosen",
    # Each label has coins of its own, and no sum is released.
    "skdp.linear_model.walr._noise": "labels by randomised response",
    # Scores are of models that were fitted to the records.
    "skdp.model_selection._trials": "the place of the largest of several scores",
    # A plan of somebody else's states the bound, and the run there cuts each record's part to it.
    "skdp.extend._run": "sums of own estimators",
}


# Names of what `run.steps` gives, which is asked and never called.
STEPS_ARE_CALLED = {"release", "steps", "settling"}


def _released_by_hand(tree):
    """Calls and uses of what releases a value that no query has a bound for."""
    found = []
    of_queries = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name == "noisy"
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node not in of_queries:
            name, attribute = (getattr(node.func, kind, None) for kind in ("id", "attr"))
            is_called = name in STEPS_ARE_CALLED or attribute in ("serve", "jointly", "noisy")
            if is_called or _are_steps(node.func):
                found.append(node)
        # A method that is handed on would be called unseen.
        is_release = getattr(node, "attr", None) == "release" and node not in of_queries
        if is_release and _last_name(node.value) in RUNNING:
            found.append(node)
        is_named = isinstance(node, ast.Assign) and _last_name(node.value) in RUNNING
        if is_named and not {_last_name(target) for target in node.targets} <= RUNNING:
            found.append(node)
        if isinstance(node, ast.Assign) and any(map(_are_steps, ast.walk(node.value))):
            # Under another name, or as an attribute, they would be called unseen.
            targets = [part for target in node.targets for part in ast.walk(target)]
            names = {getattr(target, "id", None) for target in targets}
            if not names & STEPS_ARE_CALLED:
                found.append(node)
            if any(isinstance(target, ast.Attribute) for target in targets):
                found.append(node)
    return found


def _last_name(node):
    """The name of a variable, or of an attribute of whatever it is."""
    return getattr(node, "attr", getattr(node, "id", None))


def _are_steps(node):
    return isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "steps"


@pytest.mark.long
@for_each("module, path", MODULES)
def test_answers_are_released_by_a_run_that_knows_the_query(module, path):
    """Elsewhere a sum of which a record moves more than was planned would go unnoticed."""
    if is_plan(path):
        return
    found = _released_by_hand(tree_of(path))
    if module in RELEASED_BY_HAND:
        assert found, f"{module} releases nothing by hand any more"
    assert not found or module in RELEASED_BY_HAND, f"{module}: {ast.unparse(found[0])}"


@pytest.mark.long
@for_each("module, path", MODULES)
def test_noise_begins_at_the_start_of_a_plan(module, path):
    for imported, name in imports(tree_of(path)):
        if module != RANDOM and room_of(module)[0] != "utils":
            from_random = RANDOM in (imported, f"{imported}.{name}")
            # Which rows are read for a ball is public, and needs no stream.
            is_public = (module, name) == ("skdp._release.sampling", "public_uniforms")
            may_take = module in OPENERS or is_public or not from_random
            assert may_take, f"{module} takes {name} from {RANDOM}"
        assert name != "public_coins" or module == "skdp.linear_model.walr._estimators", module
        assert name != "public_choices" or module == "skdp.model_selection._search", module
        if imported == "skdp.accountant" and name == "PrivacyReport":
            assert module in REPORTERS or not module.startswith("skdp.linear"), f"{module} reports"
    if room_of(module)[0] in RELEASED_FOR and not (is_solver(path) or is_plan(path)):
        names = {
            getattr(node, "attr", getattr(node, "id", None)) for node in ast.walk(tree_of(path))
        }
        assert "release" not in names, f"{module} releases, as solvers do"


def test_accountant_and_plan_take_no_data():
    """No parameter there has a name that arrays of rows go by."""
    data_names = {"X", "y", "rows", "targets", "batch", "dual", "sample_weight"}
    for path in FILES:
        if room_of(module_of(path))[0] != "accountant" and not is_plan(path):
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef):
                arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                assert not data_names & {argument.arg for argument in arguments}, node.name


@pytest.mark.long
@for_each("module, path", MODULES)
def test_files_stay_small(module, path):
    tree = tree_of(path)
    lines = len(path.read_text().splitlines())
    docstrings = sum(
        len(ast.get_docstring(node, clean=False).splitlines())
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module) and ast.get_docstring(node)
    )
    assert lines - docstrings <= MAX_LINES, module


def test_every_public_package_lists_its_names():
    for path in ROOT.rglob("__init__.py"):
        # What is deeper is one method's, and public through the package around it.
        is_public = path.parent in (ROOT, *ROOT.iterdir()) and path.parent.name != "utils"
        if path.parent.name.startswith("_") or not is_public:
            continue
        names = {
            node.targets[0].id
            for node in tree_of(path).body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        assert "__all__" in names, path


def holds(value, X, depth=3):
    """Whether a value is X, a view of it, the copy by column of DP-CD, or an object with one.

    Who has a place that answers queries has no rows: all that can be done is to ask.
    """
    if hasattr(value, "ask"):
        return False
    if isinstance(value, np.ndarray):
        return np.may_share_memory(value, X)
    if isinstance(value, BoundedColumns):
        return True
    if isinstance(value, (tuple, list, dict)):
        parts = value.values() if isinstance(value, dict) else value
    elif type(value).__module__.startswith("skdp."):
        parts = getattr(value, "__dict__", {}).values()
    else:
        return False
    return depth > 0 and any(holds(part, X, depth - 1) for part in parts)


def walk(model, X, y):
    """The files of the functions that X enters in a fit, each function when it is first entered."""
    entered = {}

    def look(frame, event, _):
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(ROOT)) or code in entered:
            return
        # With *args and **kwargs; other locals aren't there yet.
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 2]
        values = (frame.f_locals.get(name) for name in (*arguments, *code.co_freevars))
        if not code.co_name.startswith("<") and any(holds(value, X) for value in values):
            entered[code] = code.co_filename

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        model.fit(X, y)
    finally:
        sys.setprofile(before)
    return [ASKED.sub("rows that are asked", file) for file in entered.values()]


WALKERS = [
    *(cls() for _, cls in all_estimators() if hasattr(cls, "fit") and hasattr(cls(), "epsilon")),
    WALRClassifier(solver="hybrid"),
    WALRClassifier(noise_shape="spherical", alpha=0.1),
]


@pytest.mark.long
@pytest.mark.parametrize("model", WALKERS, ids=str)
@pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")
def test_rows_walk_through_few_rooms(model, rng):
    """A stay is a run of entries in one file: a fit that sends rows to and fro has many."""
    # So many that additive models learn more than the shares of classes.
    X = rng.standard_normal((311, 5))
    y = (X[:, 0] > 0.0).astype(int) if is_classifier(model) else suited(model, X[:, 0].copy())
    files = walk(model.set_params(random_state=0, delta=1e-3), X, y)
    # Encoders and imputers have codes of entries, or places of gaps, from the first look on.
    has_codes = isinstance(model, (DPOneHotEncoder, DPSimpleImputer))
    assert f"{ROOT}/_rows/bounds.py" in files or has_codes
    assert len(list(groupby(files))) <= MOST_STAYS


@pytest.mark.long
def test_tests_reach_private_modules_through_one_door():
    """A function that moves is imported from elsewhere in the door, and in no test."""
    assert not [
        f"{path.name}: {name}"
        for path, tree in trees_of(Path(__file__).parent)
        if path.name not in DOORS
        for name in private_names(tree)
    ]
