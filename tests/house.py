"""Print how the house stands: what a reader of the code would rather not meet, and what tests cost.

python -m tests.house            # seconds, and half a minute for each collection of tests
python -m tests.house --quick    # no collections
python -m tests.house --pylint   # and members that pylint doesn't find
"""

import argparse
import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = ROOT / "skdp", ROOT / "tests"
LINTED = ("linear_model", "additive", "pipeline", "model_selection")
# The files of tests through which all others reach private modules.
DOORS = {"door.py", "door_dask.py"}
PRIVATE = re.compile(r"skdp(\.\w+)*\._(?!_)\w+(\.\w+)*")
PATCHES = {"setattr", "delattr"}


@functools.cache
def tree_of(path):
    """Return the syntax tree of a file, which is read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def trees_of(folder):
    """Yield the path and the syntax tree of each file of a folder."""
    for path in sorted(folder.rglob("*.py")):
        yield path, tree_of(path)


def nodes_of(folder):
    """Yield the nodes of all syntax trees of a folder."""
    for _, tree in trees_of(folder):
        yield from ast.walk(tree)


def calls_with_locals():
    """Return the number of calls of `_keep(locals())`."""
    return sum(
        isinstance(node, ast.Call) and ast.unparse(node).endswith("_keep(locals())")
        for node in nodes_of(PACKAGE)
    )


def shared_docstrings():
    """Return the number of classes and functions with the decorator `shared_docs`."""
    return sum(
        "shared_docs" in ast.unparse(decorator)
        for node in nodes_of(PACKAGE)
        for decorator in getattr(node, "decorator_list", ())
    )


def fragments():
    """Return files and lines where a comment begins with a word that makes it no sentence."""
    begins = re.compile(r"(.*\S)?\s*# (Of|What|Whether|How|Which)\b")
    places = []
    for path in sorted(PACKAGE.rglob("*.py")):
        goes_on = False
        for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if begins.match(line) and not goes_on:
                places.append(f"{path.name}:{place}")
            goes_on = line.lstrip().startswith("#")
    return places


def unpacked_dictionaries():
    """Return the number of calls that unpack a dictionary of keyword arguments."""
    return sum(
        isinstance(node, ast.Call) and any(keyword.arg is None for keyword in node.keywords)
        for node in nodes_of(PACKAGE)
    )


def uses_of(attribute):
    """Return how often an attribute is called, or given another value."""
    found = 0
    for node in nodes_of(PACKAGE):
        if isinstance(node, ast.Call):
            found += getattr(node.func, "attr", None) == attribute
        elif isinstance(node, ast.Assign):
            found += any(getattr(target, "attr", None) == attribute for target in node.targets)
    return found


def private_names(tree):
    """Return the private modules of the package that a file imports or patches by their names."""
    found = []
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in PATCHES:
            names = [str(getattr(argument, "value", "")) for argument in node.args[:1]]
        found += [name for name in names if PRIVATE.fullmatch(name)]
    return found


def files_with_private_imports():
    """Return the number of files of tests that import private modules, but for the doors."""
    return sum(
        bool(private_names(tree)) for path, tree in trees_of(TESTS) if path.name not in DOORS
    )


def collected(*arguments):
    """Return what pytest says of how many tests it collects."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stdout.splitlines() if "collected" in line]
    return lines[-1].strip("= ") if lines else done.stdout[-300:] + done.stderr[-300:]


def unknown_members():
    """Return how many members pylint doesn't find in the rooms of models."""
    command = [sys.executable, "-m", "pylint", "--disable=all", "--enable=no-member", "--score=n"]
    paths = [str(PACKAGE / room) for room in LINTED]
    done = subprocess.run([*command, *paths], cwd=ROOT, capture_output=True, text=True, check=False)
    if "No module named pylint" in done.stderr:
        return "pylint isn't installed: python -m pip install pylint"
    return done.stdout.count("(no-member)")


def definitions_of_fit():
    """Return how many classes of models, in memory and in partitions, say how to fit."""
    return sum(
        isinstance(node, ast.ClassDef)
        and "fit" in [getattr(part, "name", "") for part in node.body]
        for room in ("linear_model", "additive", "dask")
        for node in nodes_of(PACKAGE / room)
    )


def classes_above(estimator):
    """Return the package's classes that an estimator inherits from, but for its own."""
    return [cls for cls in estimator.__mro__[1:] if cls.__module__.startswith("skdp.")]


def private_members(estimator):
    """Return the private members that the package's classes give an estimator."""
    own = [cls for cls in estimator.__mro__ if cls.__module__.startswith("skdp.")]
    names = set().union(*(vars(cls) for cls in own))
    return [name for name in names if name.startswith("_") and not name.startswith("__")]


def of_models(count):
    """Return the least and the largest number of what a function finds of a model's class."""
    # It takes seconds to import all estimators, which few tables need.
    from skdp.utils.discovery import all_estimators

    rooms = ("skdp.linear_model", "skdp.additive")
    models = [cls for _, cls in all_estimators() if cls.__module__.startswith(rooms)]
    sizes = [len(count(cls)) for cls in models]
    return f"{min(sizes)} to {max(sizes)}"


def counts():
    """Return what is counted in the files alone, by what it is."""
    return {
        "`_keep(locals())`": calls_with_locals(),
        "`@shared_docs`": shared_docstrings(),
        'comments that begin with "Of", "What" and the like': len(fragments()),
        "calls with `**` of a dictionary": unpacked_dictionaries(),
        "`sys._getframe`": uses_of("_getframe"),
        "`__class__ =`": uses_of("__class__"),
        "files of tests that import private modules": files_with_private_imports(),
        "definitions of `fit` of models": definitions_of_fit(),
        "our classes above a model": of_models(classes_above),
        "private members of a model": of_models(private_members),
    }


def main(arguments=None):
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="collect no tests")
    parser.add_argument("--pylint", action="store_true", help="count members it doesn't find")
    options = parser.parse_args(arguments)
    found = counts()
    if options.pylint:
        found["pylint's no-member in " + ", ".join(LINTED)] = unknown_members()
    if not options.quick:
        found["quick tests"] = collected()
        found["all tests"] = collected("--all-cases")
    width = max(map(len, found))
    for name, value in found.items():
        print(f"{name:<{width}}  {value}")


if __name__ == "__main__":
    main()
