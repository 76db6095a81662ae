"""Milliseconds to read a column of a million rows, by its type.

A table of one column is read as an additive model's fit does it. Of a column without a type, such
as text, the time includes its counts by class of entry and, afterwards, its entries as what they
are: words, numbers or days. Columns have 20 or as many distinct entries as rows, and 5 % gaps where
their type has them; texts have null characters in some. Milliseconds are of processor time, the
least of ``--repeats`` tries, so that other work on the machine matters less.

    python benchmarks/reading.py
"""

import datetime
import time
from decimal import Decimal

import _common as bench
import narwhals as nw
import numpy as np
import pandas as pd

from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.frames import read_frame
from skdp._rows.kinds import DATE, NUMERIC, WORD
from skdp._rows.table_queries import CountsByClass
from skdp.preprocessing import DPTableVectorizer

FEW = 20
GAPS = 0.05
NOTE = "Rows are generated, one thread of BLAS and OpenMP. Milliseconds of processor time."
# What a column without a type is read as, once its kind is decided.
OTHER_KINDS = {
    "object of floats": NUMERIC,
    "object of whole numbers": NUMERIC,
    "object of decimals": NUMERIC,
    "object of spans": NUMERIC,
    "text of numbers": NUMERIC,
    "object of dates": DATE,
    "object of times": DATE,
    "text of dates": DATE,
}


def in_pandas(entries, kind=object):
    """Return a table of one column of a type of pandas."""
    return pd.DataFrame({"x": pd.Series(entries, dtype=kind)})


def in_arrow(entries, kind):
    """Return a table of pandas of one column of a type of Arrow."""
    import pyarrow as pa

    return in_pandas(pa.array(entries, kind).to_pandas(types_mapper=pd.ArrowDtype))


def from_pandas(package):
    """Return a function that makes a table of another package of one of pandas."""

    def convert(X):
        entries = {"x": X["x"].astype(object).where(X["x"].notna(), None).tolist()}
        return nw.from_dict(entries, backend=package).to_native()

    return convert


def columns(n_rows, is_distinct, rng):
    """Yield names of types, and a function that makes a table of one such column of each."""
    n_distinct = n_rows if is_distinct else FEW
    codes = rng.integers(n_distinct, size=n_rows)
    is_gap = rng.random(n_rows) < GAPS
    numbers = np.where(is_gap, np.nan, np.round(codes * 1.37, 2))

    def gappy(entries):
        found = [entries[code] for code in codes.tolist()]
        return [None if gap else entry for gap, entry in zip(is_gap.tolist(), found, strict=True)]

    texts = gappy([f"word {code}" + "\0" * (code % 7 == 3) for code in range(n_distinct)])
    filled = ["" if text is None else text for text in texts]
    floats = [None if x != x else x for x in numbers.tolist()]
    start = datetime.datetime(2000, 1, 1)
    hours = range(n_distinct)
    yield "float", lambda: in_pandas(numbers, float)
    yield "int", lambda: in_pandas(codes, int)
    yield "nullable int", lambda: in_pandas(gappy(range(n_distinct)), "Int64")
    yield "nullable float", lambda: in_pandas(floats, "Float64")
    yield "Arrow int", lambda: in_pandas(gappy(range(n_distinct)), "int64[pyarrow]")
    yield "Arrow float", lambda: in_pandas(floats, "double[pyarrow]")
    yield "polars int", lambda: from_pandas("polars")(in_pandas(gappy(range(n_distinct))))
    yield "category", lambda: in_pandas(texts, "category")
    yield "Arrow dictionary", lambda: in_pandas(texts, dictionary())
    yield "polars categorical", lambda: as_polars(texts, "Categorical")
    yield "pandas str", lambda: in_pandas(texts, "str")
    yield "pandas string, python", lambda: in_pandas(texts, "string[python]")
    yield "pandas string, Arrow", lambda: in_pandas(texts, "string[pyarrow]")
    yield "polars string", lambda: as_polars(texts, "String")
    yield "Arrow table of strings", lambda: from_pandas("pyarrow")(in_pandas(texts))
    yield "NumPy text", lambda: np.array(filled)[:, None]
    yield "object of text", lambda: in_pandas(texts)
    yield "object of text, NaN", lambda: in_pandas([np.nan if t is None else t for t in texts])
    yield "object of floats", lambda: in_pandas(numbers.astype(object))
    yield "object of whole numbers", lambda: in_pandas(gappy(range(n_distinct)))
    yield "object of decimals", lambda: in_pandas(gappy([Decimal(c) / 100 for c in hours]))
    mixed = [floats[row] if row % 3 else texts[row] for row in range(n_rows)]
    yield "object of text and numbers", lambda: in_pandas(mixed)
    yield "text of numbers", lambda: in_pandas(gappy([str(c / 8) for c in hours]), "str")
    yield "text of dates", lambda: in_pandas(gappy(list(map(str, days(start, hours)))), "str")
    yield "object of dates", lambda: in_pandas(gappy(days(start, hours)))
    yield "object of times", lambda: in_pandas(gappy(moments(start, hours)))
    yield "object of spans", lambda: in_pandas(gappy([m - start for m in moments(start, hours)]))
    yield "times", lambda: in_pandas(gappy(moments(start, hours)), "datetime64[us]")
    yield "polars times", lambda: as_polars(gappy(moments(start, hours)), "Datetime")
    yield "polars dates", lambda: as_polars(gappy(days(start, hours)), "Date")
    if not is_distinct:
        truth = gappy([code % 2 == 0 for code in range(FEW)])
        yield "bool", lambda: in_pandas(codes % 2 == 0, bool)
        yield "nullable bool", lambda: in_pandas(truth, "boolean")
        yield "Arrow bool", lambda: in_pandas(truth, "bool[pyarrow]")
        yield "polars bool", lambda: as_polars(truth, "Boolean")
        yield "object of booleans", lambda: in_pandas(truth)
        yield "polars enum", lambda: enum(texts)


def moments(start, hours):
    return [start + datetime.timedelta(hours=hour % 150_000) for hour in hours]


def days(start, hours):
    return [moment.date() for moment in moments(start, hours)]


def dictionary():
    import pyarrow as pa

    return pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))


def as_polars(entries, kind):
    import polars as pl

    return pl.DataFrame({"x": pl.Series(entries, dtype=getattr(pl, kind))})


def enum(texts):
    import polars as pl

    words = sorted(set(texts) - {None})
    return pl.DataFrame({"x": pl.Series(texts, dtype=pl.Enum(words))})


def read(X, name):
    """Read a table of one column, and decide its kind where its type doesn't say it."""
    frame = read_frame(DPTableVectorizer(), X, reset=True)
    frame.ask(CountsByClass(frame.untyped, GaussianMechanism(1.0, 0.0, size=1, n_records=1)))
    return frame.decided(dict.fromkeys(frame.untyped, OTHER_KINDS.get(name, WORD)))


def milliseconds(X, name, repeats):
    """Return the least processor time of several readings."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        read(X, name)
        found.append(1e3 * (time.process_time() - start))
    return min(found)


def main(arguments=None):
    """Measure, and write the table."""
    options = bench.read_options(
        __file__, __doc__, arguments, rows=1_000_000, repeats=3, unnamed={"only": str}
    )
    rows = {}
    for distinct, is_distinct in ((f"ms_{FEW}_distinct", False), ("ms_all_distinct", True)):
        for name, make in columns(options.rows, is_distinct, np.random.default_rng(0)):
            if options.only is None or options.only in name:
                row = rows.setdefault(name, {"type": name})
                row[distinct] = milliseconds(make(), name, options.repeats)
    table = pd.DataFrame(rows.values())
    bench.write_table(table.round(1), "reading.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
