"""Texts that several docstrings share: they are equal, and one command changes them everywhere.

``shared_texts.toml`` has the families of docstrings in which one name has a text of its own. After
a text was edited in one docstring,

    python tests/site/shared_texts.py linear_model.DPRidge ball_budget

writes it into all docstrings of the same family. Without arguments it lists what disagrees.
"""

import argparse
import ast
import re
import textwrap
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2] / "skdp"
TABLE = Path(__file__).with_suffix(".toml")
LINE_LENGTH = 100
# What these sections of numpydoc describe has a name; elsewhere paragraphs are compared.
SECTIONS = ("Parameters", "Attributes", "Returns", "Raises")
PROSE = "Paragraphs"
# A paragraph is known by its first words, so that shared ones are found wherever they stand.
N_FIRST_WORDS = 8


@dataclass(frozen=True)
class Text:
    """What one docstring says of one name, and where: the package of skdp and the object."""

    path: Path
    place: str
    section: str
    name: str
    first_line: int
    lines: tuple

    @cached_property
    def words(self):
        """The text without its line breaks, which follow the indentation."""
        return " ".join(" ".join(self.lines).split())

    @property
    def indent(self):
        """The number of spaces before the text."""
        return len(self.lines[0]) - len(self.lines[0].lstrip())


def all_texts(root=ROOT):
    """Return every text of every docstring of the package, in the order of files and lines."""
    return [text for path in sorted(root.rglob("*.py")) for text in _texts_of(path, root)]


def _texts_of(path, root):
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    package = path.relative_to(root).parts[0].removesuffix(".py")
    for names, node in _documented(ast.parse(source), ()):
        docstring = node.body[0]
        # Indices of lines: the summary stands beside the quotes, and the last line has them alone.
        first, end = docstring.lineno, docstring.end_lineno - 1
        yield from _texts_within(path, ".".join((package, *names)), lines, first, end)


def _documented(node, names):
    """Yield each class and function with a docstring, and its qualified name."""
    for inner in node.body:
        if isinstance(inner, ast.ClassDef | ast.FunctionDef):
            if ast.get_docstring(inner) is not None:
                yield (*names, inner.name), inner
            if isinstance(inner, ast.ClassDef):
                yield from _documented(inner, (*names, inner.name))


def _texts_within(path, place, lines, first, end):
    margin = min((_margin(line) for line in lines[first:end] if line.strip()), default=0)
    section, start = PROSE, first
    while start < end:
        if not lines[start].strip():
            start += 1
        elif start + 1 < end and re.fullmatch(r" *-{3,}", lines[start + 1]):
            section = lines[start].strip()
            start += 2
        elif section in SECTIONS:
            stop = _end_of_entry(lines, start, end, margin)
            name = lines[start].split(" : ")[0].strip()
            yield Text(path, place, section, name, start, tuple(lines[start:stop]))
            start = stop
        else:
            stop = start + 1
            while stop < end and lines[stop].strip():
                stop += 1
            paragraph = tuple(lines[start:stop])
            name = " ".join(" ".join(paragraph).split()[:N_FIRST_WORDS])
            if section not in ("Examples", "See Also"):
                yield Text(path, place, PROSE, name, start, paragraph)
            start = stop


def _end_of_entry(lines, start, end, margin):
    stop = start + 1
    while stop < end and (not lines[stop].strip() or _margin(lines[stop]) > margin):
        stop += 1
    while not lines[stop - 1].strip():
        stop -= 1
    return stop


def _margin(line):
    return len(line) - len(line.lstrip())


class Families:
    """The docstrings that share a text of a name, as the table groups them."""

    def __init__(self, table):
        self.table = table

    def of(self, section, name, texts):
        """Return groups of texts of one name, each of which must agree, and patterns without one.

        What no pattern matches is a group, too, unless the name means something else everywhere.
        """
        families = self.table.get(section, {}).get(name, [])
        groups, unused, rest = [], [], list(texts)
        for patterns in families:
            group = []
            for pattern in patterns:
                matched = [text for text in rest if fnmatchcase(text.place, pattern)]
                if not matched:
                    unused.append(pattern)
                group += matched
                rest = [text for text in rest if text not in matched]
            groups.append(group)
        if name in self.table["differ everywhere"].get(section, ()):
            groups += [[text] for text in rest]
        elif rest:
            groups.append(rest)
        return groups, unused


def read_table():
    """Return the families of `shared_texts.toml`."""
    return Families(tomllib.loads(TABLE.read_text(encoding="utf-8")))


def by_name(texts):
    """Return texts by section and name."""
    named = defaultdict(list)
    for text in texts:
        named[text.section, text.name].append(text)
    return named


def disagreements(texts, families):
    """Yield a sentence for each text that isn't that of its family, and for what is stale."""
    named = by_name(texts)
    for section, name in sorted(named):
        groups, unused = families.of(section, name, named[section, name])
        for pattern in unused:
            yield f"{section}, {name}: {pattern!r} in {TABLE.name} matches no docstring."
        for first, *others in filter(None, groups):
            for other in others:
                if other.words != first.words:
                    yield f"{section}, {name}: {other.place} differs from {first.place}."
        yield from _families_that_agree(section, name, groups)
    for section, names in families.table.items():
        if section == "differ everywhere":
            listed = [(part, name) for part, them in names.items() for name in them]
        else:
            listed = [(section, name) for name in names]
        for one in listed:
            if one not in named:
                yield f"{one[0]}, {one[1]}: no docstring has what {TABLE.name} lists."


def _families_that_agree(section, name, groups):
    """Yield a sentence for each two listed families of one text: these are one family."""
    first_of = {}
    for group in filter(None, groups):
        known = first_of.setdefault(group[0].words, group[0])
        if known is not group[0] and len(groups) > 1:
            yield f"{section}, {name}: {group[0].place} and {known.place} are of one family."


def copy_text(place, name, root=ROOT):
    """Write what the docstring of a place says of a name into all docstrings of its family."""
    texts, families = all_texts(root), read_table()
    here = [text for text in texts if text.place == place]
    sources = [text for text in here if text.name == name]
    sources = sources or [text for text in here if text.name.startswith(name)]
    if len(sources) != 1:
        raise SystemExit(f"{place} has {len(sources)} texts of {name}.")
    (source,) = sources
    groups, _ = families.of(
        source.section,
        source.name,
        [text for text in texts if (text.section, text.name) == (source.section, source.name)],
    )
    (family,) = (group for group in groups if source in group)
    changed = [text for text in family if text.words != source.words]
    # Later lines first, so that those before them keep their numbers.
    for text in sorted(changed, key=lambda text: text.first_line, reverse=True):
        lines = text.path.read_text(encoding="utf-8").splitlines()
        end = text.first_line + len(text.lines)
        lines[text.first_line : end] = _indented(source, text.indent)
        text.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [text.place for text in changed]


def _indented(text, indent):
    """Return the lines of a text at another indentation, broken anew where they are too long."""
    lines = textwrap.indent(textwrap.dedent("\n".join(text.lines)), " " * indent).splitlines()
    if max(map(len, lines)) <= LINE_LENGTH:
        return lines
    broken = []
    for block in _blocks(lines):
        margin = " " * _margin(block[0])
        one = " ".join(line.strip() for line in block)
        broken += textwrap.wrap(
            one,
            LINE_LENGTH,
            initial_indent=margin,
            subsequent_indent=" " * _margin(block[-1]),
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return broken


def _blocks(lines):
    """Split lines where one is empty, begins an item, or is indented otherwise than the last."""
    blocks = []
    for line in lines:
        begins_item = re.match(r" *([-*] |\.\. )", line)
        hangs = blocks and re.match(r" *([-*] |\.\. )", blocks[-1][0])
        is_like_last = blocks and (_margin(line) == _margin(blocks[-1][-1]) or hangs)
        if line.strip() and is_like_last and blocks[-1][0].strip() and not begins_item:
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("place", nargs="?", help="docstring to copy from: linear_model.DPRidge")
    parser.add_argument("name", nargs="?", help="what it describes, or first words of a paragraph")
    arguments = parser.parse_args()
    if arguments.name is not None:
        for place in copy_text(arguments.place, arguments.name):
            print("changed", place)
    for sentence in disagreements(all_texts(), read_table()):
        print(sentence)


if __name__ == "__main__":
    main()
