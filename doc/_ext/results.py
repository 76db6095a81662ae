"""A directive that shows rows of a table of ``benchmarks/results``, so that no number is typed.

.. code-block:: rst

    .. results:: defaults.csv
       :where: problem=phishing
       :columns: epsilon, default, best
       :titles: epsilon, by default, best of the grid
"""

import csv
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive, directives

FOLDER = Path(__file__).parents[2] / "benchmarks" / "results"


def read_results(name):
    """Return the command that wrote a table of results, and its rows as dictionaries."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    comments = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    return comments[0], rows


def select(rows, where, columns):
    """Return the cells of `columns` in the rows that have one of the wanted values.

    `where` maps columns to lists of values, which are compared as text.
    """
    for column in [*where, *columns]:
        if column not in rows[0]:
            raise ValueError(f"there is no column {column!r}")
    chosen = [row for row in rows if all(row[key] in values for key, values in where.items())]
    if not chosen:
        raise ValueError("no row is left")
    return [[row[column] for column in columns] for row in chosen]


def _names(text):
    return [part.strip() for part in text.split(",")]


def _conditions(text):
    pairs = (part.split("=", 1) for part in text.split(";"))
    return {key.strip(): [value.strip() for value in values.split("|")] for key, values in pairs}


class Results(Directive):
    """Rows of a table of results, and the command that wrote them."""

    required_arguments = 1
    option_spec = {  # noqa: RUF012
        "columns": directives.unchanged_required,
        "titles": directives.unchanged_required,
        "where": directives.unchanged_required,
    }

    def run(self):
        """Make the table."""
        name = self.arguments[0]
        columns = _names(self.options["columns"])
        titles = _names(self.options.get("titles", self.options["columns"]))
        where = _conditions(self.options["where"]) if "where" in self.options else {}
        try:
            command, rows = read_results(name)
            cells = select(rows, where, columns)
            if len(titles) != len(columns):
                raise ValueError("titles and columns differ in number")
        except (OSError, ValueError) as error:
            raise self.error(f"{name}: {error}") from None
        settings = self.state.document.settings
        settings.record_dependencies.add(str(FOLDER / name))
        source = nodes.paragraph(classes=["results-source"])
        script = " ".join(command.split()[:2])
        source += nodes.Text("Measured by ")
        source += nodes.literal(text=script)
        source += nodes.Text(f"; all of it is in benchmarks/results/{name}.")
        return [_table(titles, cells), source]


def _table(titles, cells):
    group = nodes.tgroup(cols=len(titles))
    group += [nodes.colspec(colwidth=1) for _ in titles]
    group += nodes.thead("", _row(titles))
    group += nodes.tbody("", *(_row(row) for row in cells))
    table = nodes.table(classes=["results"])
    table += group
    return table


def _row(texts):
    return nodes.row("", *(nodes.entry("", nodes.paragraph(text=text)) for text in texts))


def setup(app):
    """Register the directive."""
    app.add_directive("results", Results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
