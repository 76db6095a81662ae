"""The ledger: one budget for all fits on the same records."""

import dataclasses
import json
import os

from skdp._checks import check_flag, check_real
from skdp._docs import shared_docs
from skdp._random import random_name
from skdp.accountant._report_formats import report_html
from skdp.exceptions import BudgetExceededError, LedgerError
from skdp.ledger import _records, _rules, _store, _text
from skdp.ledger._account import LedgerParameter

_USER_VARIABLE = "SKDP_LEDGER_USER"
_DEFAULTS = {"adjacency": "zero_out", "unit": "one row", "allow_seeds": False}


@shared_docs
class PrivacyLedger(LedgerParameter):
    """One budget in a file, which is charged for all fits on the same records.

    Every private estimator takes one as ``ledger=``, or its path. A fit is charged before its noise
    is drawn, in one transaction on disk, so no release is missing in the file, even after a crash.
    A fit that costs more than is left raises an error, draws nothing and writes nothing. Clones,
    workers, threads and other processes charge to the same file, on any day.

    **Guarantee.** All fits together are (epsilon, delta)-differentially private, also when each
    was chosen after looking at the results of those before it. The proof is in
    :doc:`/theory/ledger`. It holds for the budget; what is spent so far is for orientation.

    **What is in the file**: the budget, and for each fit its time, estimator and scalar
    parameters, report and process number; nothing else of the records than a report calls public.

    Parameters
    ----------
    path : str or os.PathLike
        An SQLite file. If it isn't there it is made, and epsilon and delta are needed.
    epsilon, delta : float, default=None
        The budget. If the file has one for the dataset, None or the same.
    adjacency : {"zero_out", "replace_one", "replace_label"}, default="zero_out"
        What all fits are counted by. In a ledger of "zero_out", fits of "replace_one" cost what
        their noise gives there, about half of their epsilon; in one of "replace_one", fits of
        "zero_out" cost as for groups of two. If a file is opened without epsilon and delta, the
        defaults of this, `unit` and `allow_seeds` stand for what it has, also if they are given.
    unit : str, default="one row"
        What all fits protect; "one group" of those with `groups`, and "the label of one row" for
        "replace_label".
    dataset : str, default="default"
        Name of the records. A file may hold budgets of several, which are never added up.
    allow_seeds : bool, default=False
        Whether fits may have a `random_state`. The budget then holds while the seeds stay secret.
        A salted hash of each is kept, and a seed that comes again is refused; a seed that can be
        guessed can be found from it.

    Raises
    ------
    LedgerError
        If the file can't be used, has another budget for the dataset, or has none and none is
        given.
    TypeError, ValueError
        If a parameter is out of range.

    Notes
    -----
    With the environment variable ``SKDP_LEDGER_USER``, its text is kept with each charge.

    References
    ----------
    .. [1] Smith and Thakurta (2022). Fully adaptive composition for Gaussian differential privacy.
       arXiv:2210.17520.
    .. [2] Koskela, Tobaben and Honkela (2023). Individual privacy accounting with Gaussian
       differential privacy. ICLR.

    Examples
    --------
    >>> import os, tempfile
    >>> from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
    >>> from skdp.ledger import PrivacyLedger
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = PrivacyLedger(os.path.join(folder.name, "study.db"), epsilon=1.0, delta=1e-5)
    >>> events = [GaussianEvent(calibrate(0.5, 1e-5))]
    >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    >>> query = PrivacyReport(epsilon=0.5, delta=1e-5, events=events, **fields)
    >>> ledger.charge(query)
    >>> f"{ledger.spent:.2f} spent, {ledger.left:.2f} left"
    '0.50 spent, 0.83 left'
    >>> ledger.can_afford(query)
    True
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path,
        *,
        epsilon=None,
        delta=None,
        adjacency="zero_out",
        unit="one row",
        dataset="default",
        allow_seeds=False,
    ):
        self._path = _store.absolute(path)
        self._dataset = _records.check_name(dataset, "dataset")
        self._part = ""
        numbers = {"epsilon": epsilon, "delta": delta}
        wanted = {name: check_real(x, name) for name, x in numbers.items() if x is not None}
        allow_seeds = check_flag(allow_seeds, "allow_seeds")
        given = {"adjacency": adjacency, "unit": unit, "allow_seeds": allow_seeds}
        if len(wanted) == 2:
            wanted |= given
            terms = dataclasses.asdict(_rules.make_terms(**wanted, salt=random_name()))
            _store.create(self._path, self._dataset, {**terms, "time": _records.now()})
        else:
            # What is left out is the file's.
            wanted |= {name: value for name, value in given.items() if value != _DEFAULTS[name]}
        terms = self._terms()
        for name, value in wanted.items():
            if value != getattr(terms, name):
                raise LedgerError(
                    f"{self._where()} has {name}={getattr(terms, name)!r}, and {name}={value!r} "
                    "was given. A budget stays what it was; leave it out to use this one."
                )

    @property
    def path(self):
        """Absolute path of the file."""
        return self._path

    @property
    def dataset(self):
        """Name of the records that the budget is for."""
        return self._dataset

    @property
    def part_name(self):
        """Name of the part that fits are charged to, or None for all records."""
        return self._part or None

    @property
    def spent(self):
        """Epsilon of all charges, at the ledger's delta: for orientation, not a guarantee."""
        terms, totals = self._state()
        return _rules.epsilon_spent(totals, terms)

    @property
    def left(self):
        """Epsilon, at the ledger's delta, of the largest Gaussian fit that could follow.

        It and `spent` add up to more than the budget: several fits cost less than the sum of
        their epsilons.
        """
        terms, totals = self._state()
        return _rules.epsilon_left(totals, terms)

    def part(self, name):
        """Return a ledger of the same file for a part of the records.

        Fits on disjoint parts cost as much as the most expensive part, and fits that are charged
        to the whole ledger count in every part. Which part a record is in must be fixed by its
        position or its person, not by anything that could be otherwise. The folds of a public
        `KFold` aren't parts: a record is in all training sets but one.

        Parameters
        ----------
        name : str
            Any name, which is written to the file.

        Returns
        -------
        ledger : PrivacyLedger
            For fits on this part alone.

        Raises
        ------
        LedgerError
            If this is a part already.
        ValueError
            If the name is none.
        """
        if self._part:
            raise LedgerError("a part has no parts; take part() of the whole ledger.")
        return _reopened(self._path, self._dataset, _records.check_name(name, "name"))

    def charge(self, report):
        """Charge a release that was made, or better: is about to be made, without skdp's fits.

        Charge first, and draw the noise after that: a crash in between loses budget only. Fits
        with ``ledger=`` do all of this themselves. A report tells that there was a seed and not
        which: it is taken only before all others with a seed, and none is taken after it.

        Parameters
        ----------
        report : skdp.accountant.PrivacyReport
            What was released, as events.

        Raises
        ------
        BudgetExceededError
            If it costs more than is left.
        LedgerError
            If the file can't be used, or the report can't be counted here: another unit or
            adjacency, or a seed.
        TypeError
            If `report` is no report.
        """
        seed = _records.UNKNOWN_SEED if _records.checked(report).reproducible else None
        self._charge(report, estimator="other", parameters={}, seed=seed)

    def can_afford(self, report):
        """Tell whether a fit would be taken now.

        Parameters
        ----------
        report : skdp.accountant.PrivacyReport
            Of the fit, or a preview of it.

        Returns
        -------
        can_afford : bool
            Whether the budget is enough. Another fit may take it before.

        Raises
        ------
        LedgerError
            If the file can't be used, or the report can't be counted here.
        TypeError
            If `report` is no report.
        """
        report = _records.checked(report)
        terms, totals = self._state()
        cost = _rules.assess(report, terms)
        try:
            _rules.admit(report, cost, totals, terms, self._where())
        except BudgetExceededError:
            return False
        return True

    def report(self):
        """Return the guarantee of all fits that this ledger takes, made and to come: its budget.

        Returns
        -------
        report : skdp.accountant.PrivacyReport
            Of the budget. What is spent of it is no guarantee: whoever looks at results may stop
            at a moment that they like.

        {Raises: LedgerError}
        """
        terms, _, charges = self._state(_records.read_charges)
        return terms.report(_text.released(charges))

    def to_frame(self, *, reports=False):
        """Give the charges as a table, in the order in which they were made.

        Parameters
        ----------
        reports : bool, default=False
            Whether there is a column "report": JSON, for
            :meth:`PrivacyReport.from_json <skdp.accountant.PrivacyReport.from_json>`.

        Returns
        -------
        frame : pandas.DataFrame
            One row a charge. Columns: "time" (UTC, by the clock of the machine), "part",
            "estimator", "parameters" (a dict), "epsilon", "delta", "adjacency" and "events" of its
            report, "mu" and "erasure" (what was charged), "share" (of the budget; shares add up),
            "process" and "user".

        Raises
        ------
        ImportError
            If pandas isn't installed.
        {LedgerError}
        """
        frame = _text.charges_frame(self.to_dict()["charges"])
        return frame if reports else frame.drop(columns="report")

    def to_dict(self):
        """Give all that the ledger shows as types that JSON knows.

        Returns
        -------
        content : dict
            The budget, what is spent and left, and under "charges" the rows of :meth:`to_frame`
            with their reports, for a part those that count in it.

        {Raises: LedgerError}
        """
        return _text.as_dict(self, *self._state(_records.read_charges))

    def _charge(self, report, *, estimator, parameters, seed, states=None):
        """Charge a fit, and keep what is public about it.

        The seed is a text that is equal for equal noise, or None; only its hash is kept. Of a call
        in a stream, `states` are the names of its states before and after: it costs nothing if a
        charge covers it.
        """
        report = _records.checked(report)
        terms = self._terms()
        # Slow for sampled batches, so that it is done, and cached, before others have to wait.
        _rules.assess(report, terms)
        hashed = _records.hash_seed(seed, terms, self._where())
        entries = {
            "dataset": self._dataset,
            "part": self._part,
            "estimator": estimator,
            "parameters": json.dumps(parameters),
            "epsilon": report.epsilon,
            "delta": report.delta,
            "report": json.dumps(report.to_dict(), allow_nan=False),
            "process": os.getpid(),
            "user": os.environ.get(_USER_VARIABLE),
        }
        with _store.transaction(self._path, write=True) as file:
            terms = _records.read_terms(file, self._dataset, self._path)
            cost = _rules.assess(report, terms)
            if hashed is not None:
                _records.keep_seed(file, self._dataset, hashed, self._where())
            if states and _records.goes_on(file, self._dataset, self._part, states, cost):
                return
            totals = _records.read_totals(file, self._dataset, self._part)
            alone = _rules.admit(report, cost, totals, terms, self._where())
            charged = {"mu": cost.mu, "erasure": cost.erasure, "alone": alone}
            number = _store.insert(file, "charge", {**entries, **charged, "time": _records.now()})
            if states:
                _store.insert(file, "stream", {"name": states[1], "charge": number})

    def _terms(self):
        with _store.transaction(self._path, write=False) as file:
            return _records.read_terms(file, self._dataset, self._path)

    def _state(self, *more):
        """Terms, totals and what other functions read, as they are at one moment."""
        with _store.transaction(self._path, write=False) as file:
            terms = _records.read_terms(file, self._dataset, self._path)
            readers = (_records.read_totals, *more)
            return terms, *(read(file, self._dataset, self._part) for read in readers)

    def __eq__(self, other):
        if not isinstance(other, PrivacyLedger):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        return _reopened, self._key()

    def __repr__(self):
        # Of parameters of estimators, too: it must not read the file.
        shown = repr(self._path)
        if self._dataset != "default":
            shown += f", dataset={self._dataset!r}"
        return f"PrivacyLedger({shown})" + (f".part({self._part!r})" if self._part else "")

    def __str__(self):
        title, entries = self._summary()
        return "\n".join([title, *(f"{name:<10}{value}" for name, value in entries)])

    def _repr_html_(self):
        return report_html(*self._summary())

    def _summary(self):
        return _text.summarise(self, *self._state(_records.read_charges))

    def _key(self):
        return self._path, self._dataset, self._part

    def _where(self):
        shown = f"the ledger {self._path!r}"
        if self._dataset != "default":
            shown += f", dataset {self._dataset!r}"
        return shown + (f", part {self._part!r}" if self._part else "")


def _reopened(path, dataset, part):
    """Return a ledger without looking at its file, which another machine or day may not have."""
    ledger = object.__new__(PrivacyLedger)
    ledger._path, ledger._dataset, ledger._part = path, dataset, part
    return ledger
