"""The guarantee of what was published, in one immutable object."""

import dataclasses
import functools
import json
import math
import textwrap
from importlib.metadata import PackageNotFoundError, version

from skdp._checks import check_count, check_flag, check_real
from skdp._version import __version__
from skdp.accountant._calibration import resolve_accountant
from skdp.accountant._profile import (
    ADJACENCIES,
    build_profile,
    epsilon_of,
    full_batch_mu,
    group_epsilon,
    least_epsilon,
)
from skdp.accountant._report_formats import (
    explain_numbers,
    read_entries,
    report_html,
    report_markdown,
    write_entries,
)
from skdp.accountant._selection_event import SelectionEvent, checked_releases

_WIDTH = 79
_NEIGHBOURS = {
    "zero_out": "one {record} is replaced by a null {record}, which contributes nothing",
    "replace_one": "one {record} is replaced by any other {record}",
    "replace_label": "the label of one record is replaced by any other label",
}
# What each adjacency can protect, the usual first.
_UNITS = {
    "zero_out": ("one row", "one group"),
    "replace_one": ("one row", "one group"),
    "replace_label": ("the label of one row",),
}
# What reports of groups say.
PART_OF_GROUP = (
    'a part of a group under "zero_out", such as one of its rows or one of two people with one id: '
    "it may move a release by twice the bound of a group, and has the guarantee of "
    "epsilon_at(delta, group_size=2)"
)
# By how much versions and machines may differ in epsilon.
_TOLERANCE = 0.01
_NO_VERSION = "closed form"
_QUESTIONS = {
    "zero_out": "whether a given {record} was used",
    "replace_one": "which of two given {record}s was used",
    "replace_label": "which of two labels a given record has, the features of all being known",
}
_ACCOUNTANTS = {
    "analytic": "closed form of the Gaussian mechanism (exact)",
    "pld": "privacy loss distributions (numerical, errs on the private side)",
    "rdp": "Renyi divergences (an upper bound)",
    "basic": "sum of pure epsilons (an upper bound; exact for one step)",
}


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class PrivacyReport:
    """The differential privacy of what was published.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee: on any two data sets that differ in one record, any set of outcomes has
        probabilities ``p <= exp(epsilon) p' + delta``. Epsilon may be larger than what the events
        give at delta, and never is smaller: it is raised to that by up to 1 %, by which versions
        and machines may differ, and refused beyond. Nothing checks a report that is unpickled, but
        `epsilon_at`, `delta_at` and `tpr_at` answer no less than what its events give.
    adjacency : {"zero_out", "replace_one", "replace_label"}
        What "differ in one record" means.
    events : tuple of events
        The releases that were made: GaussianEvent, LaplaceEvent, RandomizedResponseEvent,
        ErasureEvent, NoisyMaxEvent or SelectionEvent; not of subclasses.
    clipping : float or None
        Bound on one record's contribution to a release, or for pairwise events on the distance
        between the releases of neighbouring data sets; None if releases have different bounds.
    accountant : {"pld", "rdp", "analytic", "basic"}
        How epsilon was computed. Stored as resolved: "pld" becomes "analytic" where there is a
        closed form and "rdp" where the loss distribution is unreliable, and all become "basic"
        where every event is pure.
    accountant_version : str, default=None
        What computed it; found out if None.
    skdp_version : str, default=None
        Version of skdp that made the report; this one if None.
    unit : str, default=None
        What is protected, which the adjacency and bounds then speak of: "one row"; "one group" of
        rows; or for the adjacency "replace_label" "the label of one row". None means the first that
        goes with the adjacency.
    assumed_public, not_covered : tuple of str, default=()
        What the guarantee takes as known to everybody, and what it says nothing about.
    reproducible : bool, default=False
        Whether the randomness came from a seed: the guarantee then holds while the seed stays
        secret, and wherever the report is shown it says so.
    notes : tuple of str, default=()
        How the guarantee of this fit is to be read.

    Raises
    ------
    TypeError
        If something that should be a tuple isn't, or `events` holds anything else.
    ValueError
        If a parameter is out of range, the accountant or adjacency can't go with the events, the
        unit can't go with the adjacency, or epsilon is too small for the events.

    Examples
    --------
    >>> from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
    >>> event = GaussianEvent(calibrate(1.0, 1e-5))
    >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    >>> report = PrivacyReport(epsilon=1.0, delta=1e-5, events=[event], **fields)
    >>> report
    (1, 1e-05)-DP
    >>> round(report.tpr_at(0.01), 3), round(report.epsilon_at(1e-5, group_size=3), 1)
    (0.02, 3.4)
    """

    epsilon: float
    delta: float
    adjacency: str
    events: tuple
    clipping: float | None
    accountant: str
    accountant_version: str | None = None
    skdp_version: str | None = None
    unit: str | None = None
    assumed_public: tuple = ()
    not_covered: tuple = ()
    reproducible: bool = False
    notes: tuple = ()

    def __post_init__(self):
        self._check_words()
        units = _UNITS[self.adjacency]
        if self.unit is None:
            object.__setattr__(self, "unit", units[0])
        if self.unit not in units:
            raise ValueError(f"unit must be one of {units} for adjacency={self.adjacency!r}.")
        object.__setattr__(self, "reproducible", check_flag(self.reproducible, "reproducible"))
        for name in ("epsilon", "delta", "clipping"):
            if getattr(self, name) is not None or name != "clipping":
                object.__setattr__(self, name, check_real(getattr(self, name), name))
        if self.clipping is not None and self.clipping < 0:
            raise ValueError("clipping must not be negative.")
        if not (self.epsilon >= 0 and 0 <= self.delta < 1):
            raise ValueError("epsilon must not be negative, and delta must be in [0, 1).")
        for name in ("events", "assumed_public", "not_covered", "notes"):
            try:
                object.__setattr__(self, name, tuple(getattr(self, name)))
            except TypeError:
                raise TypeError(f"{name} must be a tuple.") from None
        object.__setattr__(self, "events", checked_releases(self.events))
        if not self.events:
            raise ValueError("events must hold at least one event.")
        # Only a distance between neighbours' values says how far a label moves them.
        if self.adjacency == "replace_label" and not all(event.pairwise for event in self.events):
            raise ValueError(
                "adjacency='replace_label' needs pairwise Gaussian events or randomised responses."
            )
        if all(event.is_pure for event in self.events):
            object.__setattr__(self, "accountant", "basic")
        elif self.accountant == "basic":
            raise ValueError("accountant='basic' needs pure events.")
        elif self.accountant != "analytic":
            rate = min(event.sampling_rate for event in self.events)
            resolved = resolve_accountant(
                self.accountant, self.delta, rate, self.n_steps, self.adjacency
            )
            object.__setattr__(self, "accountant", resolved)
        elif any(event.sampling_rate < 1 for event in self.events):
            raise ValueError("accountant='analytic' needs full batches.")
        if self.accountant == "analytic" and self._is_composed_selection:
            object.__setattr__(self, "accountant", "pld")
        if self.accountant_version is None:
            source = _NO_VERSION
            if self.accountant not in ("analytic", "basic"):
                source = f"dp-accounting {_version('dp-accounting')}"
            object.__setattr__(self, "accountant_version", source)
        if self.skdp_version is None:
            object.__setattr__(self, "skdp_version", __version__)
        epsilon = self._certified_epsilon()
        if self.epsilon * (1 + _TOLERANCE) < epsilon:
            raise ValueError("epsilon is too small for the events at this delta and adjacency.")
        object.__setattr__(self, "epsilon", epsilon)

    def __setstate__(self, state):
        # A file is believed, but for words that nothing can be looked up by.
        vars(self).update(state)
        self._check_words()

    def _check_words(self):
        for name, known in (("adjacency", ADJACENCIES), ("accountant", tuple(_ACCOUNTANTS))):
            word = vars(self).get(name)
            if not isinstance(word, str) or word not in known:
                raise ValueError(f"{name} must be one of {known}.")

    def _certified_epsilon(self):
        """Epsilon as stated, or what the events give at the stated delta if that is more.

        What was unpickled, or set behind a frozen object's back, was never checked.
        """
        releases = self.events, self.adjacency, self.accountant, self.delta
        if math.isinf(self.epsilon) or self.epsilon >= epsilon_of(*releases):
            return self.epsilon
        return max(least_epsilon(*releases), self.epsilon)

    @property
    def _is_composed_selection(self):
        """Whether there is a selection and more, which has no closed form."""
        return self.n_steps > 1 and any(type(event) is SelectionEvent for event in self.events)

    @property
    def event(self):
        """What was released, in words."""
        return ", then ".join(str(event) for event in self.events)

    @property
    def n_releases(self):
        """Total number of releases made; a record takes part in at most `n_steps` of them."""
        return sum(event.n_releases for event in self.events)

    @property
    def n_steps(self):
        """Total number of releases that a record may take part in."""
        return sum(event.n_steps for event in self.events)

    @property
    def sampling(self):
        """How batches were drawn: "full batch", "poisson", "partition" or "mixed"."""
        return common_value(event.sampling for event in self.events) or "mixed"

    @property
    def sampling_rate(self):
        """Probability that a record takes part in a step; None if it differs between events."""
        return common_value(event.sampling_rate for event in self.events)

    @property
    def noise_multiplier(self):
        """Noise over `clipping`, None if it differs between events.

        Gaussian noise is measured by its standard deviation, spherical Laplace noise by its scale,
        and flipped labels by the standard deviation of an unbiased label.
        """
        found = common_value((event.is_pure, event.noise_multiplier) for event in self.events)
        return None if found is None else found[1]

    @property
    def mu(self):
        """Parameter of Gaussian differential privacy; None unless all batches were full."""
        return full_batch_mu(self.events, self.adjacency)

    @property
    def condition(self):
        """What the guarantee hangs on: "while the seed stays secret", or "" without a seed."""
        is_seeded = self.reproducible and math.isfinite(self.epsilon)
        return "while the seed stays secret" if is_seeded else ""

    def epsilon_at(self, delta, group_size=1):
        """Epsilon of the same releases at another delta, or for a group of records.

        Parameters
        ----------
        delta : float
            In [0, 1).
        group_size : int, default=1
            Number of records that may change together. The bound is exact for full batches. For
            Poisson batches it is the smaller of two: the whole group takes part whenever one of
            it does, or the triangle inequality over a chain of single changes.

        Returns
        -------
        epsilon : float
            An upper bound; ``inf`` if there is none.

        Raises
        ------
        ValueError
            If an argument is out of range.
        """
        delta = _in_range(delta, "delta", 0, 1, open_end=True)
        group_size = check_count(group_size, "group_size")
        if group_size == 1:
            found = epsilon_of(self.events, self.adjacency, self.accountant, delta)
            return min(found, self._certified_epsilon()) if delta >= self.delta else found
        events = tuple(event.scaled_to_group(group_size) for event in checked_releases(self.events))
        found = epsilon_of(events, self.adjacency, self.accountant, delta)
        if self.mu is None:
            found = min(found, group_epsilon(self._profile(), delta, group_size))
        return found

    def delta_at(self, epsilon):
        """Delta of the same releases at another epsilon.

        Parameters
        ----------
        epsilon : float
            Not negative.

        Returns
        -------
        delta : float
            An upper bound, in [0, 1].

        Raises
        ------
        ValueError
            If `epsilon` is negative or no number.
        """
        epsilon = _in_range(epsilon, "epsilon", 0, math.inf)
        if math.isinf(epsilon):
            return 0.0
        found = self._profile().delta(epsilon)
        return min(found, self.delta) if epsilon >= self._certified_epsilon() else found

    def tpr_at(self, fpr):
        """Largest true positive rate of a membership attack that the guarantee allows.

        Parameters
        ----------
        fpr : float
            False positive rate of the attack, in [0, 1].

        Returns
        -------
        tpr : float
            An upper bound in [fpr, 1] on the true positive rate of any attack that tells a data
            set from its neighbour, in the direction that is easier for the attacker. For full
            batches it is exact: ``Phi(Phi^-1(fpr) + mu)``.

        Raises
        ------
        ValueError
            If `fpr` is out of range.
        """
        fpr = _in_range(fpr, "fpr", 0, 1)
        bound = min(self._profile().tpr(fpr), 1.0)
        epsilon = self._certified_epsilon()
        if math.isfinite(epsilon):
            odds = math.exp(min(epsilon, 700.0))
            bound = min(bound, self.delta + odds * fpr, 1 - (1 - self.delta - fpr) / odds)
        return max(bound, fpr)

    def to_dict(self):
        """Give everything in the report as types that JSON knows.

        Returns
        -------
        content : dict
            Fields and what is derived from them; infinity is the string "inf".
        """
        return write_entries(self)

    def to_json(self):
        """Give the content of `to_dict` as JSON.

        Returns
        -------
        text : str
            Strict JSON, indented.
        """
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    @classmethod
    def from_dict(cls, entries):
        """Return the report that `to_dict` gave.

        Epsilon and all that is derived are computed again from the events, which takes as long as
        it took at first.

        Parameters
        ----------
        entries : dict
            What `to_dict` returned.

        Returns
        -------
        report : PrivacyReport
            Equal to the one that was written. Where versions or machines differ, its epsilon is
            raised to what the events give here.

        Raises
        ------
        TypeError
            If `entries` is no dict.
        ValueError
            If an entry is missing, unknown or of a wrong type, or doesn't agree with the others;
            epsilon may be larger than what the events give, and not smaller by more than 1 %.

        Notes
        -----
        Epsilon, all that is derived from the events, and the unit are checked. Epsilon is held to
        an upper bound: that of `accountant`, or where "rdp" was asked for that of loss
        distributions if it is smaller. Where these can't compute it, for deltas of Poisson batches
        below 1e-12 (more beyond 250 steps) or beyond 4e6 steps, only "rdp" counts. What nothing in
        a report proves is believed: that these were the events, and for pairwise ones that this
        was the adjacency; `clipping`; that there was no seed; and all words. Keep reports where
        nobody else can change them, or sign them.

        Examples
        --------
        >>> from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
        >>> event = GaussianEvent(calibrate(1.0, 1e-5))
        >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
        >>> report = PrivacyReport(epsilon=1.0, delta=1e-5, events=[event], **fields)
        >>> PrivacyReport.from_dict(report.to_dict()) == report
        True
        >>> PrivacyReport.from_dict(report.to_dict() | {"epsilon": 0.5})
        Traceback (most recent call last):
            ...
        ValueError: epsilon is too small for the events at this delta and adjacency.
        """
        if not isinstance(entries, dict):
            raise TypeError("entries must be a dict.")
        return read_entries(cls, entries)

    @classmethod
    def from_json(cls, text):
        """Return the report that `to_json` gave.

        Parameters
        ----------
        text : str
            What `to_json` returned.

        Returns
        -------
        report : PrivacyReport
            Equal to the one that was written.

        Raises
        ------
        TypeError
            If `text` is no string.
        ValueError
            If it isn't JSON of a report, see :meth:`from_dict`.

        Examples
        --------
        >>> from skdp.accountant import LaplaceEvent, PrivacyReport, compose
        >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
        >>> report = PrivacyReport(epsilon=0.5, delta=0.0, events=[LaplaceEvent(2.0)], **fields)
        >>> kept = [report.to_json(), report.to_json()]
        >>> compose([PrivacyReport.from_json(text) for text in kept])
        (1, 0)-DP
        """
        if not isinstance(text, str):
            raise TypeError("text must be a string.")
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError):
            entries = None
        # The decoder's own words would quote the text.
        if not isinstance(entries, dict):
            raise ValueError("text is not the JSON of a PrivacyReport.")
        return cls.from_dict(entries)

    def to_text(self):
        """Give the report in plain words, for a terminal.

        Returns
        -------
        text : str
            Lines of at most 79 columns.
        """
        lines = [f"Privacy report: {self!r}", ""]
        for title, value in self._rows():
            lines += _wrap(value, _WIDTH, initial_indent=f"{title:<16}", subsequent_indent=" " * 16)
        lines += ["", *_wrap(f"What it means: {self._meaning()}", _WIDTH)]
        for title, items in (
            ("Assumed to be public:", self.assumed_public),
            ("Not covered:", self.not_covered),
        ):
            if items:
                lines += ["", title]
                for item in items:
                    lines += _wrap(item, _WIDTH, initial_indent="  - ", subsequent_indent="    ")
        if self.condition:
            lines += ["", *_wrap(_SEED_WARNING, _WIDTH)]
        return "\n".join(lines)

    def to_markdown(self):
        """Give the report as Markdown: a section of a data-protection file or of a model card.

        It says what `to_text` does, and names the adjacency, what the numbers of the releases
        are, and the versions that made it. Words of others are shown as they are and make no
        links; for that an ``@`` is followed by a character without width.

        Returns
        -------
        text : str
            A table and lists in GitHub's dialect, without a heading: it goes below one of yours.

        Examples
        --------
        >>> from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
        >>> event = GaussianEvent(calibrate(1.0, 1e-5))
        >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
        >>> report = PrivacyReport(epsilon=1.0, delta=1e-5, events=[event], **fields)
        >>> for line in report.to_markdown().splitlines()[:4]:
        ...     print(line[:60])
        | Privacy report | (1, 1e-05)-DP |
        | --- | --- |
        | Protects | one row: neighbouring data sets are those where
        | Guarantee | epsilon = 1, delta = 1e-05 |
        """
        recorded = [
            ("Adjacency", self.adjacency),
            ("Made by", f"skdp {self.skdp_version}"),
        ]
        if math.isfinite(self.epsilon):
            recorded.insert(1, ("Noise", explain_numbers(self.event)))
        return report_markdown(("Privacy report", repr(self)), [*self._entries(), *recorded])

    def __repr__(self):
        return f"({self.epsilon:g}, {self.delta:g})-DP {self.condition}".rstrip()

    def _repr_html_(self):
        return report_html(f"Privacy report: {self!r}", self._entries())

    @property
    def _record(self):
        """What is protected, in a sentence."""
        return "group of rows" if self.unit == "one group" else "record"

    def _profile(self):
        return build_profile(self.events, self.adjacency, self.accountant)

    def _rows(self):
        yield (
            "Protects",
            f"{self.unit}: neighbouring data sets are those where "
            + _NEIGHBOURS[self.adjacency].format(record=self._record),
        )
        if math.isinf(self.epsilon):
            yield "Guarantee", "no privacy: epsilon is infinite"
        else:
            guarantee = f"epsilon = {self.epsilon:g}, delta = {self.delta:g} {self.condition}"
            yield "Guarantee", guarantee.rstrip()
        yield "Released", self.event
        if self.clipping is not None and math.isfinite(self.clipping):
            if any(event.pairwise and not event.erasure for event in self.events):
                yield (
                    "Distance",
                    f"at most {self.clipping:g} (L2) between neighbours' values before noise",
                )
            else:
                yield (
                    "Contribution",
                    f"at most {self.clipping:g} (L2) per {self._record} and release",
                )
        if math.isfinite(self.epsilon):
            method = _ACCOUNTANTS[self.accountant]
            if self.accountant != "basic" and any(event.is_pure for event in self.events):
                method = f"an upper bound: pure releases beside others, of which {method}"
            selections = [event for event in self.events if type(event) is SelectionEvent]
            if selections:
                if all(event.is_pure for one in selections for event in one.inside):
                    method = "sums of epsilons"
                method = f"an upper bound: private selection, of whose trials {method}"
            if self.accountant_version != _NO_VERSION:
                method = f"{method}; {self.accountant_version}"
            yield "Accountant", method
        if self.mu is not None and math.isfinite(self.mu):
            yield "Gaussian DP", f"mu = {self.mu:.4g}"
        for note in self.notes:
            yield "Note", note

    def _entries(self):
        """Give all that is to be said, as titles and texts or lists of texts."""
        yield from self._rows()
        meaning = self._meaning()
        yield "Meaning", meaning[0].upper() + meaning[1:]
        for title, items in (
            ("Assumed public", self.assumed_public),
            ("Not covered", self.not_covered),
        ):
            if items:
                yield title, items
        if self.condition:
            yield "Seed", _SEED_WARNING

    def _meaning(self):
        if math.isinf(self.epsilon):
            return f"no noise was added, and the published numbers may reveal any {self._record}."
        but_not = " but not the seed" if self.condition else ""
        question = _QUESTIONS[self.adjacency].format(record=self._record)
        meaning = (
            "someone who sees everything that was published, and knows every other "
            f"{self._record}{but_not}, tries to tell {question}. If they accept a false alarm "
            f"in 1 % of the cases, they are right in at most {100 * self.tpr_at(0.01):.3g} % of "
            "the others. A smaller epsilon protects better"
        )
        if self.delta == 0:
            return f"{meaning}."
        return (
            f"{meaning}. Whatever can happen is at most exp(epsilon) times as likely as it would "
            "be otherwise, plus delta."
        )


_SEED_WARNING = (
    "The noise came from a seed (random_state): anyone who learns the seed can remove it, and two "
    "fits with an equal seed share their noise, so that together they may reveal what each hides. "
    "Use random_state=None for a model that is published."
)


@functools.cache
def _version(package):
    """Read a package's version once: it takes longer than a small fit."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "0+unknown"


def _wrap(text, width, **indents):
    return textwrap.wrap(text, width, break_on_hyphens=False, **indents)


def common_value(values):
    """The one value that all are equal to, else None."""
    values = set(values)
    return values.pop() if len(values) == 1 else None


def _in_range(value, name, low, high, *, open_end=False):
    value = check_real(value, name)
    if not low <= value <= high or (open_end and value == high):
        raise ValueError(f"{name} is out of range, got {value!r}.")
    return value
