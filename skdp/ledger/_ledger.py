"""The ledger: one budget for all fits on the same records."""

import dataclasses
import functools
import json
import os
from collections.abc import Iterator
from secrets import token_hex

from skdp._checks import check_flag, check_real
from skdp.accountant._report_formats import report_html
from skdp.exceptions import LedgerError, LedgerWarning, warn_user
from skdp.ledger import _records, _rules, _schedule, _store, _text
from skdp.ledger._account import LedgerParameter

_USER_VARIABLE = "SKDP_LEDGER_USER"
_DEFAULTS = {"adjacency": "zero_out", "unit": "one row", "allow_seeds": False}


class PrivacyLedger(LedgerParameter):
    """One budget in a file, which is charged for all fits on the same records.

    Every private estimator takes one as ``ledger=``, or its path. A fit is charged before its noise
    is drawn, in one transaction on disk, so no release is missing in the file, even after a crash.
    A fit that costs more than is left raises an error, draws nothing and writes nothing. Clones,
    workers, threads and other processes charge to the same file, on any day.

    **Guarantee.** All fits together are (epsilon, delta)-differentially private, even if each was
    chosen after looking at the results of the earlier ones. The proof is in :doc:`/theory/ledger`.
    It holds for the budget; the amount spent so far is for orientation.

    **What is in the file**: the budget, and for each fit its time, estimator and scalar parameters,
    report and process number. It contains nothing about the records but what a report calls public.

    Parameters
    ----------
    path : str or os.PathLike
        An SQLite file. If it doesn't exist it is created, which needs epsilon and delta.
    epsilon, delta : float, default=None
        The budget. None, or equal values, if the file already has one for the dataset.
    adjacency : {"zero_out", "replace_one", "replace_label"}, default="zero_out"
        Adjacency under which all fits are counted. In a ledger of "zero_out", fits of "replace_one"
        cost what their noise gives there, about half of their epsilon; in one of "replace_one",
        fits of "zero_out" cost as for groups of two. If a file is opened without epsilon and delta,
        the defaults of this parameter, `unit` and `allow_seeds` mean the values in the file, even
        if they are given.
    unit : str, default="one row"
        Unit that all fits protect: "one group" for fits with `groups`, and "the label of one row"
        for "replace_label".
    dataset : str, default="default"
        Name of the records. A file may hold budgets of several data sets, which are never added up.
    allow_seeds : bool, default=False
        Whether fits may have a `random_state`. The budget then holds while the seeds stay secret. A
        salted hash of each seed is kept, and a repeated seed is refused. A seed that can be guessed
        can be found from its hash.
    planned : list, default=None
        The charges of a study that is planned beforehand. The ledger then takes these, in any order
        that may follow results, and no others. The list is accepted once, if the smallest valid
        bound of all of it is within the budget; that is mostly far less than charges of any kind
        cost. An entry is a report (such as that of :func:`~skdp.inspection.preview`), an event or a
        list of events, for one charge; or a tuple of this and how many such charges are planned,
        and as a third the name of their :meth:`part`. A charge is taken for a planned one if its
        events are the same, or have more noise. With None any charges are taken. The list of a
        file never changes; when a file is opened it is given again or left out, like the budget.

    Raises
    ------
    LedgerError
        If the file can't be used, has another budget or other planned charges for the dataset, or
        has no budget and none is given.
    BudgetExceededError
        If the budget doesn't allow what is planned. No ledger is made.
    TypeError, ValueError
        If a parameter is out of range.

    Notes
    -----
    The text of the environment variable ``SKDP_LEDGER_USER``, if set, is kept with each charge.

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

    A ledger of planned charges:

    >>> path = os.path.join(folder.name, "planned.db")
    >>> ledger = PrivacyLedger(path, epsilon=1.0, delta=1e-5, planned=[(query, 2)])
    >>> ledger.charge(query)
    >>> [f"{one['used']} of {one['count']}" for one in ledger.planned]
    ['1 of 2']
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
        planned=None,
    ):
        self._path = _store.absolute(path)
        self._dataset = _records.check_name(dataset, "dataset")
        self._part = ""
        numbers = {"epsilon": epsilon, "delta": delta}
        wanted = {name: check_real(x, name) for name, x in numbers.items() if x is not None}
        allow_seeds = check_flag(allow_seeds, "allow_seeds")
        others = {"adjacency": adjacency, "unit": unit, "allow_seeds": allow_seeds}
        is_stated = len(wanted) == 2
        # Here it is read more than once, which an iterator can't be.
        planned = list(planned) if isinstance(planned, Iterator) else planned
        if is_stated:
            wanted |= others
            terms = _rules.make_terms(
                epsilon=wanted["epsilon"],
                delta=wanted["delta"],
                adjacency=adjacency,
                unit=unit,
                allow_seeds=allow_seeds,
                salt=token_hex(16),
            )
            self._create(terms, planned)
        else:
            # Terms that weren't given stay those of the file.
            wanted |= {name: value for name, value in others.items() if value != _DEFAULTS[name]}
        standing = self._standing()
        for name, value in wanted.items():
            if value != getattr(standing.terms, name):
                raise LedgerError(
                    f"{self._where()} has {name}={getattr(standing.terms, name)!r}, and "
                    f"{name}={value!r} was given. A budget stays what it was; leave it out to use "
                    "this one."
                )
        if is_stated or planned is not None:
            self._check_planned(standing, planned)

    def _create(self, terms, planned):
        """Write a budget, unless the file has one for the dataset."""
        plan, items = None, ()
        if planned is not None:
            items = _schedule.read_planned(planned, terms, _records.check_name)
            # Who opens a ledger need not wait for the bound of its list.
            is_there = _store.has_budget(self._path, self._dataset)
            plan = None if is_there else {"bound": float(_schedule.check_list(items, terms))}
        entries = {**dataclasses.asdict(terms), "time": _records.now()}
        rows = [_schedule.write_item(item) for item in items] if plan is not None else []
        _store.create(self._path, self._dataset, entries, plan, rows)

    def _check_planned(self, standing, planned):
        """Raise an error where the file has another list of planned charges than was given."""
        of_file = [] if standing.planned is None else list(standing.items.values())
        if planned is None:
            charges = []
        else:
            charges = _schedule.read_planned(planned, standing.terms, _records.check_name)
        if _schedule.counts_of(charges) != _schedule.counts_of(of_file):
            shown = "; ".join(str(item) for item in of_file) or "none"
            raise LedgerError(
                f"{self._where()} has other planned charges than were given: {shown}. A budget "
                "stays what it was; leave out epsilon, delta and planned to use this one."
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
    def epsilon(self):
        """Epsilon of the budget."""
        return self._standing().terms.epsilon

    @property
    def delta(self):
        """Delta of the budget."""
        return self._standing().terms.delta

    @property
    def spent(self):
        """Epsilon of all charges, at the ledger's delta: for orientation, not a guarantee.

        A float that has the attributes `epsilon` and `delta`. It is the whole budget where nothing
        more would be accepted, be it after a single fit that takes all, and only there. Shares of
        the budget spent and left add up to one, epsilons don't: see `left`. In a ledger of planned
        charges it is the epsilon of those that were made.
        """
        standing = self._standing()
        return _rules.Epsilon(standing.spent, standing.terms.delta)

    @property
    def left(self):
        """Epsilon, at the ledger's delta, of the largest Gaussian fit that is still possible.

        A float that has the attributes `epsilon` and `delta`. Together with `spent` it exceeds the
        budget, because several fits cost less than the sum of their epsilons: what adds up to the
        budget is squares of mu. It is 0 where `spent` is the whole budget. In a ledger of planned
        charges it is the epsilon of the largest one that wasn't made.
        """
        standing = self._standing()
        return _rules.Epsilon(standing.left, standing.terms.delta)

    @property
    def planned(self):
        """Planned charges, or None for a ledger without a list of them.

        A list of a dict for each: "part", "epsilon" and "delta" of one charge, its "events" in
        words, "count" and how many of them are "used". For a part, those that count in it.
        """
        return self._standing().planned

    def part(self, name):
        """Return a ledger of the same file for a part of the records.

        Fits on disjoint parts cost as much as the most expensive part, and fits that are charged to
        the whole ledger count in every part. The part of a record must be fixed by its position or
        its person, not by any value that could differ. The folds of a public `KFold` aren't parts:
        a record is in all training sets but one.

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
            If the name isn't valid.
        """
        if self._part:
            raise LedgerError("a part has no parts; take part() of the whole ledger.")
        return _reopened(self._path, self._dataset, _records.check_name(name, "name"))

    def charge(self, report):
        """Charge a release that is not a fit of skdp, preferably before it is made.

        Charge first, and draw the noise afterwards: a crash in between loses only budget. Fits with
        ``ledger=`` do all of this themselves. A report states that there was a seed, but not which.
        So a report with a seed is accepted only before all others with a seed, and none is accepted
        after it.

        Parameters
        ----------
        report : skdp.accountant.PrivacyReport
            The releases, as events.

        Raises
        ------
        BudgetExceededError
            If it costs more than is left, or isn't a planned charge that is left.
        LedgerWarning
            If it takes all that is left and warnings are errors. Nothing is charged then.
        LedgerError
            If the file can't be used, or the report can't be counted here: another unit or
            adjacency, or a seed.
        TypeError
            If `report` isn't a report.
        """
        seed = _records.UNKNOWN_SEED if _records.checked(report).reproducible else None
        self._charge(report, estimator="other", parameters={}, seed=seed)

    def can_afford(self, report):
        """Return whether the ledger would accept a fit now.

        Parameters
        ----------
        report : skdp.accountant.PrivacyReport
            Of the fit, or a preview of it.

        Returns
        -------
        can_afford : bool
            Whether the budget is enough. Another fit may spend it first.

        Raises
        ------
        LedgerError
            If the file can't be used, or the report can't be counted here.
        TypeError
            If `report` isn't a report.
        """
        report = _records.checked(report)
        return self._standing().can_take(report)

    def report(self):
        """Return the guarantee of all fits that this ledger accepts, past and future: its budget.

        Returns
        -------
        report : skdp.accountant.PrivacyReport
            Of the budget. The amount spent is not a guarantee, because an analyst who sees the
            results may choose when to stop.

        Raises
        ------
        LedgerError
            If the file can't be used.
        """
        standing, charges = self._state()
        return standing.terms.report(_text.released(charges), _text.unprotected(charges))

    def to_frame(self, *, reports=False):
        """Return the charges as a table, in the order in which they were made.

        Parameters
        ----------
        reports : bool, default=False
            Whether there is a column "report": JSON, for
            :meth:`PrivacyReport.from_json <skdp.accountant.PrivacyReport.from_json>`.

        Returns
        -------
        frame : pandas.DataFrame
            One row per charge. Columns: "time" (UTC, by the clock of the machine), "part",
            "estimator", "parameters" (a dict), "epsilon", "delta", "adjacency" and "events" of its
            report, "mu" and "erasure" (what was charged), "share" (of the budget, by the square of
            mu, or all of it; shares add up), "process" and "user". Of a planned charge, mu is that
            of a Gaussian release with its epsilon at the ledger's delta, and the share is of the
            list.

        Raises
        ------
        ImportError
            If pandas isn't installed.
        LedgerError
            If the file can't be used.
        """
        frame = _text.charges_frame(self.to_dict()["charges"])
        return frame if reports else frame.drop(columns="report")

    def to_dict(self):
        """Return the content of the ledger as types that JSON supports.

        Returns
        -------
        content : dict
            The budget, the amounts spent and left, the share spent, the planned charges (see
            :attr:`planned`), and under "charges" the rows of :meth:`to_frame` with their reports;
            for a part, those that count in it.

        Raises
        ------
        LedgerError
            If the file can't be used.
        """
        return _text.as_dict(self, *self._state())

    def _charge(self, report, *, estimator, parameters, seed, states=None):
        """Charge a fit, and keep what is public about it.

        The seed is a text that is equal for equal noise, or None; only its hash is kept. Of a call
        in a stream, `states` are the names of its states before and after: it costs nothing if a
        charge covers it.
        """
        report = _records.checked(report)
        standing = self._standing()
        # Slow for sampled batches, so that it is done, and cached, before others have to wait.
        standing.cost(report)
        hashed = _records.hash_seed(seed, standing.terms, self._where())
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
            which = file, self._dataset, self._part
            standing = _records.read_standing(*which, self._path)
            if hashed is not None:
                _records.keep_seed(file, self._dataset, hashed, self._where())
            if states and _records.goes_on(*which, states, report, standing):
                return
            stated = functools.partial(_records.read_stated, *which)
            admission = standing.admit(report, self._where(), stated)
            if admission.warning:
                # As an error it undoes all of this.
                warn_user(admission.warning, LedgerWarning)
            cost = admission.cost
            charged = {"mu": cost.mu, "erasure": cost.erasure, "alone": admission.alone}
            number = _store.insert(file, "charge", {**entries, **charged, "time": _records.now()})
            if admission.planned is not None:
                use = {"charge": number, "planned": admission.planned}
                _store.insert(file, "planned_use", use)
            if states:
                _store.insert(file, "stream", {"name": states[1], "charge": number})

    def _delta_of_counts(self, epsilon, mechanism):
        """Return the delta of noise on counts: the budget's, or 0 where that costs less here."""
        terms = self._standing().terms
        if mechanism == "gaussian":
            return terms.delta
        return _rules.delta_of_least_cost(epsilon, terms)

    def _standing(self):
        with _store.transaction(self._path, write=False) as file:
            return _records.read_standing(file, self._dataset, self._part, self._path)

    def _state(self):
        """What the budget stands at and its charges, as they are at one moment."""
        with _store.transaction(self._path, write=False) as file:
            which = file, self._dataset, self._part
            standing = _records.read_standing(*which, self._path)
            return standing, _records.read_charges(*which)

    def __eq__(self, other):
        if not isinstance(other, PrivacyLedger):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        return _reopened, self._key()

    def __repr__(self):
        # Estimators show it among their parameters, so it must not read the file.
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
        return _text.summarise(self, *self._state())

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
