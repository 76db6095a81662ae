"""A directive that shows rows of a table of ``benchmarks/results``, so that no number is typed.

.. code-block:: rst

    .. results:: defaults.csv
       :where: problem=phishing
       :columns: epsilon, default, best
       :titles: epsilon, by default, best of the grid

With ``:across:`` values of one column become columns, in the order that is given, of the numbers in
``:value:``, each with its standard error in ``:error:``, if that is named:

.. code-block:: rst

    .. results:: utility.csv
       :where: task=binary; method=whitened
       :columns: set, n
       :across: epsilon=0.1|1.0
       :value: log_loss
       :error: log_loss_se
       :digits: 3
       :titles: set, rows, at epsilon 0.1, at 1

``:digits:`` rounds to so many digits after the point, but for whole numbers, and what isn't 0
doesn't become 0. A value in ``:where:`` or ``:across:`` that no row has is an error.
"""

import csv
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive, directives

FOLDER = Path(__file__).parents[2] / "benchmarks" / "results"
# Between a number and its standard error; not to be broken.
BESIDE = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"


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
    if not rows:
        raise ValueError("the table has no rows")
    for column in [*where, *columns]:
        if column not in rows[0]:
            raise ValueError(f"there is no column {column!r}")
    for column, values in where.items():
        for value in values:
            if value not in (row[column] for row in rows):
                raise ValueError(f"no row is of {column} {value!r}")
    chosen = [row for row in rows if all(row[key] in values for key, values in where.items())]
    if not chosen:
        raise ValueError("no row is left")
    return [[row[column] for column in columns] for row in chosen]


def spread(rows, where, columns, across, value, error=None):
    """Return the cells of `columns`, and of `value` in further columns, a row for each key.

    `across` is a pair, a column and the values of it that get a column each. A key is what the
    cells of `columns` say. What wasn't measured is a dash; `error` is a column of standard errors.
    """
    column, wanted = across
    measured = [value] if error is None else [value, error]
    table = {}
    for *key, found, number, error_of in select(
        rows, where | {column: wanted}, [*columns, column, value, measured[-1]]
    ):
        cells = table.setdefault(tuple(key), {})
        if found in cells:
            raise ValueError(f"two rows are of {column} {found}")
        has_error = error is not None and number and error_of
        cells[found] = number + BESIDE + error_of if has_error else number
    return [[*key, *(cells.get(found) or "–" for found in wanted)] for key, cells in table.items()]


def rounded(text, digits):
    """Return a cell with its numbers rounded, but for whole ones.

    Large ones have powers of 10, and small ones the one digit that they begin with.
    """

    def written(part):
        if part.removeprefix("-").isdigit():
            return part
        # Not -0.
        number = float(part) + 0.0
        if number and not round(number, digits):
            return f"{number:.1g}"
        return f"{number:.{digits}f}" if abs(number) < 10_000 else f"{number:.1e}"

    try:
        return BESIDE.join(map(written, text.split(BESIDE)))
    except ValueError:
        return text


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
        "across": directives.unchanged_required,
        "value": directives.unchanged_required,
        "error": directives.unchanged_required,
        "digits": directives.nonnegative_int,
    }

    def run(self):
        """Make the table."""
        name = self.arguments[0]
        columns = _names(self.options["columns"])
        titles = _names(self.options.get("titles", self.options["columns"]))
        where = _conditions(self.options["where"]) if "where" in self.options else {}
        try:
            command, rows = read_results(name)
            if "across" in self.options:
                ((column, wanted),) = _conditions(self.options["across"]).items()
                measured = self.options["value"], self.options.get("error")
                cells = spread(rows, where, columns, (column, wanted), *measured)
            else:
                cells = select(rows, where, columns)
            if "digits" in self.options:
                # An epsilon was chosen, not measured.
                chosen = [title.endswith("epsilon") for title in titles]
                cells = [
                    [
                        cell if is_chosen else rounded(cell, self.options["digits"])
                        for cell, is_chosen in zip(row, chosen, strict=False)
                    ]
                    for row in cells
                ]
            if len(titles) != len(cells[0]):
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
