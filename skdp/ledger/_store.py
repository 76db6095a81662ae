"""The file of a ledger: its tables, its transactions, and SQLite's errors in words.

A connection lives as long as one transaction, so that nothing is shared between threads, crosses a
fork or outlives a deleted file. The file is never opened by other means: closing any descriptor of
it would drop this process's locks.
"""

import contextlib
import itertools
import os
import stat
import time
from pathlib import Path

from skdp.exceptions import LedgerError

# "skdp", by which `file` and SQLite tools know what it is.
APPLICATION_ID = 0x736B6470
_WAIT_SECONDS = 30.0
_RETRY_SECONDS = 0.01
_FIRST_SCHEMA = (
    """CREATE TABLE budget (
        dataset TEXT PRIMARY KEY, adjacency TEXT NOT NULL, unit TEXT NOT NULL,
        salt TEXT NOT NULL, time TEXT NOT NULL,
        epsilon REAL NOT NULL CHECK (typeof(epsilon) = 'real' AND epsilon >= 0),
        delta REAL NOT NULL CHECK (typeof(delta) = 'real' AND delta > 0 AND delta < 1),
        erasure REAL NOT NULL CHECK (typeof(erasure) = 'real' AND erasure >= 0),
        allow_seeds INTEGER NOT NULL CHECK (allow_seeds IN (0, 1))
    )""",
    # Rows are in the order in which they were charged, whatever the clock said.
    """CREATE TABLE charge (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        dataset TEXT NOT NULL REFERENCES budget (dataset),
        part TEXT NOT NULL,
        mu REAL NOT NULL CHECK (typeof(mu) = 'real' AND mu >= 0),
        erasure REAL NOT NULL CHECK (typeof(erasure) = 'real' AND erasure >= 0),
        alone REAL, time TEXT NOT NULL, estimator TEXT NOT NULL, parameters TEXT NOT NULL,
        epsilon REAL NOT NULL, delta REAL NOT NULL, report TEXT NOT NULL,
        process INTEGER NOT NULL, user TEXT
    )""",
    "CREATE INDEX charge_of_part ON charge (dataset, part, mu, erasure, alone)",
    "CREATE TABLE seed (dataset TEXT, hash TEXT, PRIMARY KEY (dataset, hash))",
    """CREATE TRIGGER charges_stay BEFORE DELETE ON charge
        BEGIN SELECT RAISE(ABORT, 'charges are never deleted'); END""",
    """CREATE TRIGGER charges_stay_equal BEFORE UPDATE ON charge
        BEGIN SELECT RAISE(ABORT, 'charges are never changed'); END""",
    f"PRAGMA application_id = {APPLICATION_ID}",
)
# Each version added one of these, from the first on, so that a file of an older one gets the rest.
_SCHEMAS = (
    _FIRST_SCHEMA,
    (
        # A charge for a stream is found by the state that the last call which it covers has left.
        """CREATE TABLE stream (
            name TEXT PRIMARY KEY, charge INTEGER NOT NULL REFERENCES charge (id)
        )""",
    ),
    (
        # A budget with a row here takes the charges of a list and no others: the bound of the list
        # is what it was accepted at.
        """CREATE TABLE plan (
            dataset TEXT PRIMARY KEY REFERENCES budget (dataset),
            bound REAL NOT NULL CHECK (typeof(bound) = 'real' AND bound >= 0)
        )""",
        """CREATE TABLE planned (
            id INTEGER PRIMARY KEY, dataset TEXT NOT NULL REFERENCES plan (dataset),
            part TEXT NOT NULL, events TEXT NOT NULL,
            epsilon REAL NOT NULL CHECK (typeof(epsilon) = 'real' AND epsilon >= 0),
            delta REAL NOT NULL CHECK (typeof(delta) = 'real' AND delta >= 0 AND delta < 1),
            count INTEGER NOT NULL CHECK (typeof(count) = 'integer' AND count > 0)
        )""",
        # This tells which planned charge a charge is.
        """CREATE TABLE planned_use (
            charge INTEGER PRIMARY KEY REFERENCES charge (id),
            planned INTEGER NOT NULL REFERENCES planned (id)
        )""",
        *(
            f"""CREATE TRIGGER {table}_stays_by_{action.lower()} BEFORE {action} ON {table}
                BEGIN SELECT RAISE(ABORT, 'a list of planned charges is never changed'); END"""
            for table in ("plan", "planned", "planned_use")
            for action in ("DELETE", "UPDATE")
        ),
    ),
)
SCHEMA_VERSION = len(_SCHEMAS)
_LOCKED = f"is locked by another process, for more than {_WAIT_SECONDS:g} seconds"
_WORDS = {
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_READONLY": "is read-only, or lies in a folder that is",
    "SQLITE_FULL": "can't grow: the disk is full",
    "SQLITE_CORRUPT": "is damaged; take the last backup, and add what was charged since",
    "SQLITE_NOTADB": "is no ledger, or is damaged",
    "SQLITE_CANTOPEN": "can't be opened",
    "SQLITE_IOERR": "can't be read or written: the disk is full or failing",
}


def absolute(path):
    """Return the absolute path that a path stands for now, as a string."""
    try:
        path = os.fspath(path)
    except TypeError:
        raise TypeError(f"path must be a string or a path, got {type(path).__name__}.") from None
    if not isinstance(path, str) or not path:
        raise ValueError("path must be a string that isn't empty.")
    return os.path.abspath(path)


@contextlib.contextmanager
def transaction(path, *, write):
    """Give the connection of one transaction, which ends when the block does.

    Where it writes, nobody else may write from the beginning on. A LedgerError says that the file
    can't be used, or isn't in its place at the end; what was written is then undone or of no use,
    and in both cases the caller must not go on.
    """
    before = _identity(path)
    if before is None:
        raise LedgerError(f"{_quoted(path)} doesn't exist: {HOW_TO_CREATE}.")
    with _connection(path, "rw") as connection:
        _give_up_log(connection, path, write)
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        version = _read_version(connection, path)
        if not version:
            raise LedgerError(f"{_quoted(path)} is empty and no ledger: {HOW_TO_CREATE}.")
        if write:
            _complete(connection, version)
        yield connection
        connection.execute("COMMIT")
    if _identity(path) != before:
        raise LedgerError(f"{_quoted(path)} was deleted or replaced while it was used.")


HOW_TO_CREATE = (
    "make a ledger by PrivacyLedger(path, epsilon=..., delta=...) or `python -m skdp.ledger create`"
)


def create(path, dataset, entries, plan=None, planned=()):
    """Write a budget, in a new file if there is none, unless the file has one for the dataset.

    `plan` and `planned` are the entries of its list of planned charges, if it has one.
    """
    with _connection(path, "rwc") as connection:
        _give_up_log(connection, path, write=True)
        connection.execute("BEGIN IMMEDIATE")
        _complete(connection, _read_version(connection, path))
        if find_budget(connection, dataset) is None:
            insert(connection, "budget", {"dataset": dataset, **entries})
            if plan is not None:
                insert(connection, "plan", {"dataset": dataset, **plan})
            for item in planned:
                insert(connection, "planned", {"dataset": dataset, **item})
        connection.execute("COMMIT")


def has_budget(path, dataset):
    """Return whether there is a file that has a budget for a dataset."""
    if _identity(path) is None:
        return False
    with _connection(path, "rw") as connection:
        return bool(_read_version(connection, path)) and (
            find_budget(connection, dataset) is not None
        )


def insert(connection, table, entries):
    """Add a row and return its number."""
    names, marks = ", ".join(entries), ", ".join("?" for _ in entries)
    query = f"INSERT INTO {table} ({names}) VALUES ({marks})"
    return connection.execute(query, tuple(entries.values())).lastrowid


def find_budget(connection, dataset):
    """Return the row of a dataset's budget as a dict, or None."""
    return next(select(connection, "SELECT * FROM budget WHERE dataset = ?", dataset), None)


def has_table(connection, name):
    """Return whether a file has a table, which older versions don't make."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return any(select(connection, query, name))


def select(connection, query, *values):
    """Give the rows of a query as dicts."""
    cursor = connection.execute(query, values)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


@contextlib.contextmanager
def _connection(path, mode):
    import sqlite3

    try:
        connection = sqlite3.connect(
            f"{Path(path).as_uri()}?mode={mode}",
            uri=True,
            timeout=_WAIT_SECONDS,
            isolation_level=None,
        )
        # An open transaction is undone.
        with contextlib.closing(connection):
            # The folder is synchronised, too, without which a power cut may bring a journal back
            # that undoes the charge.
            connection.execute("PRAGMA synchronous = EXTRA")
            yield connection
    except sqlite3.Error as error:
        raise LedgerError(f"{_quoted(path)} {_explain(error, path)}.") from error


def _explain(error, path):
    if _kind(error) == "SQLITE_CANTOPEN" and os.path.isdir(path):
        return "is a folder"
    if _kind(error) == "SQLITE_CANTOPEN" and not os.path.isdir(os.path.dirname(path)):
        return "lies in a folder that doesn't exist"
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return _WORDS.get(_kind(error), f"can't be used ({name}: {error})")


def _kind(error):
    """Return SQLite's name of an error without the details, "" if it gave none."""
    return "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])


def _give_up_log(connection, path, write):
    """Take a ledger out of the write-ahead mode that older versions left it in.

    A copy of the file alone lacks what is in that log while anybody has the file open. Where
    somebody has, a reader leaves it, and a writer waits.
    """
    if not _read_version(connection, path):
        return
    end = time.monotonic() + _WAIT_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
        try:
            # SQLite's own waiting isn't for this.
            connection.execute("PRAGMA journal_mode = DELETE")
        except connection.OperationalError as error:
            if not write:
                return
            if _kind(error) != "SQLITE_BUSY" or time.monotonic() > end:
                raise
            time.sleep(_RETRY_SECONDS)


def _complete(connection, version):
    """Add what a ledger of this version lacks: all that there is to an empty file, which has 0."""
    if version == SCHEMA_VERSION:
        return
    for statement in itertools.chain(*_SCHEMAS[version:]):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _read_version(connection, path):
    """Return the schema's version of a ledger, 0 of an empty file; else raise a LedgerError."""
    (kind,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if kind == APPLICATION_ID:
        if version > SCHEMA_VERSION:
            raise LedgerError(
                f"{_quoted(path)} was made by a newer skdp (its schema is {version}, this one "
                f"knows {SCHEMA_VERSION}): install a newer one."
            )
        return version
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if kind or version or n_tables:
        raise LedgerError(f"{_quoted(path)} is a database of something else, and no ledger.")
    return 0


def _identity(path):
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LedgerError(f"{_quoted(path)} can't be reached: {error.strerror}.") from error
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        raise LedgerError(
            f"{_quoted(path)} has several names (hard links): who opens it by different ones isn't "
            "kept apart. Delete all but one."
        )
    return status.st_dev, status.st_ino


def _quoted(path):
    return f"the ledger {path!r}"
