"""Which result files are older than the code that they measure.

A file is as old as the commit that wrote it last; one that differs from that commit is new. It is
stale if, since then, more than a third of the recorded fits (tests/golden) of an estimator that its
script names have come to release other numbers, or if nothing was recorded then. Where fewer have,
the change is of a setting or of tables that are rare: who makes it, measures what it is about.
Speed and memory may have changed without that, and so may fits of kinds that weren't recorded then.

    python -m tests.golden.stale
"""

import ast
import functools
import json
import re
import subprocess

from tests.golden.record import RECORDED, ROOT, TOLERANCE, differences

RESULTS = ROOT / "benchmarks" / "results"

# With a half, public_moment.csv, personal_budgets.csv and pipeline.csv weren't named, most of whose
# numbers had changed.
LARGEST_SHARE = 1 / 3
FAMILIES = {"whitened": ("DPLogisticRegression", "DPRidge")}


def stale_files():
    """Return the estimators whose fits changed since a result file was written, by file.

    Raises
    ------
    OSError
        If there is no history to ask: in a source distribution or a shallow clone.
    """
    if _git("rev-parse", "--is-shallow-repository").strip() != "false":
        raise OSError("the history isn't whole")
    unsaved = _git("diff", "--name-only", "HEAD", "--", "benchmarks/results")
    written_by = _last_commits("benchmarks/results")
    found = {}
    for path in sorted(RESULTS.glob("*.csv")):
        name = path.relative_to(ROOT).as_posix()
        commit = written_by.get(name)
        if commit and name not in unsaved.splitlines():
            changed = _changed_since(commit) & _measured_by(path)
            if changed:
                found[path.name] = sorted(changed)
    return found


def _last_commits(folder):
    """Return the last commit of each file that a folder ever had, by name.

    A merge counts for those files alone that are as in none of its parents.
    """
    found, commit = {}, None
    log = _git("log", "-c", "--format=commit %H", "--name-only", "--", folder)
    for line in log.splitlines():
        if line.startswith("commit "):
            commit = line.removeprefix("commit ")
        elif line:
            found.setdefault(line, commit)
    return found


def _git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr)
    return done.stdout


def _measured_by(path):
    """Return the names of estimators in the script of a file, of the family that it ran."""
    command = path.read_text(encoding="utf-8").split("\n", 1)[0]
    script = ROOT / re.search(r"benchmarks/\S+\.py", command)[0]
    names = _named_in(script, None, set())
    family = re.search(r"--(?:family|method) (\w+)", command)
    if family is None:
        return names
    chosen = FAMILIES.get(family[1])
    return (
        {name for name in names if name in chosen}
        if chosen
        else {name for name in names if name.lower().startswith(family[1])}
    )


def _named_in(script, name, seen):
    """Return the estimators that a script names: all, or only in what it defines by a name.

    Of what it imports from other scripts, only what is imported counts. What was `seen` is left
    out.
    """
    if (script, name) in seen:
        return set()
    seen.add((script, name))
    tree = ast.parse(script.read_text(encoding="utf-8"))
    words = _words_in(tree) if name is None else _words_behind(name, tree)
    found = words & _by_class(None).keys()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module != "_common":
            folders = (script.parent, ROOT / "benchmarks")
            paths = [folder / f"{node.module}.py" for folder in folders]
            path = next((path for path in paths if path.exists()), None)
            for alias in node.names if path else ():
                if (alias.asname or alias.name) in words:
                    found |= _named_in(path, alias.name, seen)
    return found


def _words_behind(name, tree):
    """Return the words in what a module defines by a name, and in what that uses of the module."""
    definitions = {}
    for defined, node in _definitions(tree.body):
        definitions.setdefault(defined, []).append(node)
    words, left = {name}, {name} & definitions.keys()
    while left:
        used = set().union(*map(_words_in, definitions[left.pop()]))
        left |= (used - words) & definitions.keys()
        words |= used
    return words


def _definitions(nodes):
    """Yield what statements of a module define, import and assign to by name, with the statements.

    A part of an import stands for itself.
    """
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                yield node.name, node
            case ast.Import() | ast.ImportFrom():
                yield from ((alias.asname or alias.name, alias) for alias in node.names)
            case ast.Assign():
                yield from _assigned(node, *node.targets)
            case ast.AnnAssign() | ast.AugAssign():
                yield from _assigned(node, node.target)
            case ast.For():
                yield from _assigned(node, node.target)
                yield from _definitions(ast.iter_child_nodes(node))
            case ast.If() | ast.Try() | ast.ExceptHandler() | ast.With():
                yield from _definitions(ast.iter_child_nodes(node))


def _assigned(node, *targets):
    """Yield the names in what a statement assigns to, with the statement."""
    for target in targets:
        names = [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]
        yield from ((name, node) for name in names)


def _words_in(tree):
    """Return the names, attributes and constants of a piece of code that are words."""
    keys = ("id", "attr", "name", "value")
    words = {getattr(node, key, None) for node in ast.walk(tree) for key in keys}
    return {word for word in words if isinstance(word, str)}


@functools.cache
def _by_class(commit):
    """Return recorded fits by class and name, of a commit or of today."""
    if commit is None:
        text = RECORDED.read_text(encoding="utf-8")
    else:
        name = RECORDED.relative_to(ROOT).as_posix()
        text = _git("show", f"{commit}:{name}") if _git("ls-tree", commit, name) else "{}"
    found = {}
    for subject, record in json.loads(text).items():
        for i, one in enumerate(record if isinstance(record, list) else [record]):
            if isinstance(one, dict) and "class" in one:
                found.setdefault(one["class"], {})[subject, i] = one
    return found


@functools.cache
def _changed_since(commit):
    then, changed = _by_class(commit), set()
    for name, today in _by_class(None).items():
        common = today.keys() & then.get(name, {}).keys()
        n_changed = sum(_differs(today[key], then[name][key]) for key in common)
        if not common or n_changed > LARGEST_SHARE * len(common):
            changed.add(name)
    return changed


def _differs(one, other):
    released = {name for name in one.keys() & other.keys() if name.endswith("_")}
    released -= {"privacy_report_"}
    return any(any(differences(one[name], other[name], TOLERANCE)) for name in released)


if __name__ == "__main__":
    for name, changed in stale_files().items():
        print(f"{name}: {', '.join(changed)}")
