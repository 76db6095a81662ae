"""The guarantee of published results, in one immutable object."""

import dataclasses
import functools
import json
import math
import textwrap
from importlib.metadata import PackageNotFoundError, version

from skdp._checks import check_count, check_fields, check_flag, check_within, check_word
from skdp._version import __version__
from skdp.accountant import _profile, _report_card, _report_formats, _report_words
from skdp.accountant._calibration import resolve_accountant
from skdp.accountant._events import check_not_negative, common_value
from skdp.accountant._selection_event import SelectionEvent, checked_releases

_wrap = functools.partial(textwrap.wrap, width=79, break_on_hyphens=False)
_NEIGHBOURS = {
    "zero_out": "one {record} is replaced by a null {record}, which contributes nothing",
    "replace_one": "one {record} is replaced by any other {record}",
    "replace_label": "the label of one record is replaced by any other label",
}
# Each adjacency can protect these, the usual first.
_UNITS = {
    "zero_out": ("one row", "one group"),
    "replace_one": ("one row", "one group"),
    "replace_label": ("the label of one row",),
}
# Reports of groups say this.
PART_OF_GROUP = (
    'a part of a group under "zero_out", such as one of its rows or one of two people with one id: '
    "it may move a release by twice the bound of a group, and has the guarantee of "
    "epsilon_at(delta, group_size=2)"
)
_UNPROTECTED = (
    "what these parts learnt from the records, without this guarantee, so that the result as a "
    "whole can't be called differentially private: {}"
)
# Versions and machines may differ by this share in epsilon.
_TOLERANCE = 0.01
_NO_VERSION = "closed form"
_QUESTIONS = {
    "zero_out": "whether a given {record} was used",
    "replace_one": "which of two given {record}s was used",
    "replace_label": "which of two labels a given record has, the features of all being known",
}


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class PrivacyReport:
    """The differential privacy guarantee of published results.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee: on any two data sets that differ in one record, any set of outcomes has
        probabilities ``p <= exp(epsilon) p' + delta``. Epsilon may be larger than what the events
        give at delta, but is never smaller. A smaller value is raised to it by up to 1 %, because
        versions and machines may differ, and refused beyond. A report that is unpickled isn't
        checked, but `epsilon_at`, `delta_at` and `tpr_at` never return less than what its events
        give.
    adjacency : {"zero_out", "replace_one", "replace_label"}
        The meaning of "differ in one record".
    events : tuple of events
        The releases that were made: GaussianEvent, LaplaceEvent, RandomizedResponseEvent,
        ErasureEvent, NoisyMaxEvent or SelectionEvent; not of subclasses.
    clipping : float or None
        Bound on one record's contribution to a release, or for pairwise events, bound on the
        distance between the releases of neighbouring data sets; None if releases have different
        bounds.
    accountant : {"pld", "rdp", "analytic", "basic"}
        How epsilon was computed. It is stored as resolved: "pld" becomes "analytic" where there is
        a closed form and "rdp" where the loss distribution is unreliable, and all become "basic"
        where every event is pure.
    accountant_version : str, default=None
        Version of the software that computed it; detected if None.
    skdp_version : str, default=None
        Version of skdp that made the report; this one if None.
    unit : str, default=None
        What is protected, and what the adjacency and bounds refer to: "one row"; "one group" of
        rows; or for the adjacency "replace_label" "the label of one row". None means the first one
        that the adjacency allows.
    assumed_public, not_covered : tuple of str, default=()
        What the guarantee assumes to be public, and what it does not cover.
    unprotected : tuple of str, default=()
        Names of the parts of the result, such as steps of a pipeline, that learnt from the records
        without this guarantee. With any of them `differentially_private` is False, and texts say so
        under "not covered". A report that was stored by skdp 0.3.0, which had no such list, has an
        entry that says this.
    reproducible : bool, default=False
        Whether the randomness came from a seed: the guarantee then holds while the seed stays
        secret, and the report always says so.
    notes : tuple of str, default=()
        Explanations of the guarantee of this fit.
    released : str, default=""
        What was released, in words, where `events` only stand for it, as in the report of a ledger.
    names : tuple of str, default=()
        What each of `events` released, in words. They are no part of what it costs. Nothing is said
        of any event where there are none, as in reports of earlier versions, or of one whose
        name is "".

    Raises
    ------
    TypeError
        If something that should be a tuple isn't, or `events` holds anything else.
    ValueError
        If a parameter is out of range, if the accountant or adjacency doesn't match the events, if
        the unit doesn't match the adjacency, or if epsilon is too small for the events.

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
    # A factory leaves no attribute of the class, which would stand in for a missing list of names.
    unprotected: tuple = dataclasses.field(default_factory=tuple)
    reproducible: bool = False
    notes: tuple = ()
    released: str = ""
    # It has a factory for the same reason as `unprotected`.
    names: tuple = dataclasses.field(default_factory=tuple)

    def __post_init__(self):
        self._check_words()
        units = _UNITS[self.adjacency]
        if self.unit is None:
            object.__setattr__(self, "unit", units[0])
        if self.unit not in units:
            raise ValueError(f"unit must be one of {units} for adjacency={self.adjacency!r}.")
        check_fields(self, reproducible=check_flag, epsilon=check_not_negative, delta=_check_delta)
        if self.clipping is not None:
            check_fields(self, clipping=check_not_negative)
        check_fields(self, unprotected=_check_names, names=_check_names, released=_check_text)
        for name in ("events", "assumed_public", "not_covered", "notes"):
            try:
                object.__setattr__(self, name, tuple(getattr(self, name)))
            except TypeError:
                raise TypeError(f"{name} must be a tuple.") from None
        object.__setattr__(self, "events", checked_releases(self.events))
        if not self.events:
            raise ValueError("events must hold at least one event.")
        if self.names and len(self.names) != len(self.events):
            raise ValueError("names must hold one name for each event, or none at all.")
        # Only a distance between neighbours' values says how far a label moves them.
        if self.adjacency == "replace_label" and not all(event.pairwise for event in self.events):
            raise ValueError(
                "adjacency='replace_label' needs pairwise Gaussian events or randomised responses."
            )
        object.__setattr__(self, "accountant", self._resolved_accountant())
        if self.accountant_version is None:
            is_numerical = self.accountant not in ("analytic", "basic")
            source = f"dp-accounting {_version('dp-accounting')}" if is_numerical else _NO_VERSION
            object.__setattr__(self, "accountant_version", source)
        if self.skdp_version is None:
            object.__setattr__(self, "skdp_version", __version__)
        epsilon = self._certified_epsilon()
        if self.epsilon * (1 + _TOLERANCE) < epsilon:
            raise ValueError("epsilon is too small for the events at this delta and adjacency.")
        object.__setattr__(self, "epsilon", epsilon)

    def __setstate__(self, state):
        # A file is believed, but for words that nothing can be looked up by.
        vars(self).update(_report_formats.complete(state, tuple))
        self._check_words()

    def _check_words(self):
        for name, known in (
            ("adjacency", _profile.ADJACENCIES),
            ("accountant", _report_words.ACCOUNTANTS),
        ):
            check_word(vars(self).get(name), name, known)

    def _resolved_accountant(self):
        """Return what the accountant stands for with these events."""
        if all(event.is_pure for event in self.events):
            return "basic"
        if self.accountant == "basic":
            raise ValueError("accountant='basic' needs pure events.")
        rate = min(event.sampling_rate for event in self.events)
        accountant = self.accountant
        if accountant != "analytic":
            accountant = resolve_accountant(
                accountant, self.delta, rate, self.n_steps, self.adjacency
            )
        elif rate < 1:
            raise ValueError("accountant='analytic' needs full batches.")
        # A selection and more have no closed form.
        is_searched = any(type(event) is SelectionEvent for event in self.events)
        if accountant == "analytic" and is_searched and self.n_steps > 1:
            return "pld"
        return accountant

    def _certified_epsilon(self):
        """Epsilon as stated, or what the events give at the stated delta if that is more.

        What was unpickled, or set behind a frozen object's back, was never checked.
        """
        releases = self.events, self.adjacency, self.accountant, self.delta
        if math.isinf(self.epsilon) or self.epsilon >= _profile.epsilon_of(*releases):
            return self.epsilon
        return max(_profile.least_epsilon(*releases), self.epsilon)

    @property
    def event(self):
        """The releases, in words."""
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

        The measure is the standard deviation for Gaussian noise, the scale for spherical Laplace
        noise, and the standard deviation of an unbiased label for flipped labels.
        """
        common = common_value((event.is_pure, event.noise_multiplier) for event in self.events)
        return None if common is None else common[1]

    @property
    def mu(self):
        """Parameter of Gaussian differential privacy; None unless all batches were full."""
        return _profile.full_batch_mu(self.events, self.adjacency)

    @property
    def condition(self):
        """Condition of the guarantee: "while the seed stays secret", or "" without a seed."""
        is_seeded = self.reproducible and math.isfinite(self.epsilon)
        return "while the seed stays secret" if is_seeded else ""

    @property
    def guarantee(self):
        """The guarantee in two sentences, to quote: what is protected, and what that means."""
        return " ".join(_report_words.quoted_guarantee(self, self._record))

    @property
    def differentially_private(self):
        """Whether epsilon is finite, no part is `unprotected`, and nothing depends on a seed."""
        # A file is believed: what isn't a list of names isn't an empty one.
        protects_all = vars(self).get("unprotected") == ()
        return math.isfinite(self.epsilon) and protects_all and not self.condition

    def epsilon_at(self, delta, group_size=1):
        """Epsilon of the same releases at another delta, or for a group of records.

        Parameters
        ----------
        delta : float
            In [0, 1).
        group_size : int, default=1
            Number of records that may change together. The bound is exact for full batches. For
            Poisson batches it is the smaller of two bounds: the whole group takes part whenever one
            member does, or the triangle inequality over a chain of single changes.

        Returns
        -------
        epsilon : float
            An upper bound; ``inf`` if there is none.

        Raises
        ------
        ValueError
            If an argument is out of range.
        """
        delta = _check_delta(delta, "delta")
        group_size = check_count(group_size, "group_size")
        if group_size == 1:
            epsilon = _profile.epsilon_of(self.events, self.adjacency, self.accountant, delta)
            return min(epsilon, self._certified_epsilon()) if delta >= self.delta else epsilon
        events = tuple(event.scaled_to_group(group_size) for event in checked_releases(self.events))
        epsilon = _profile.epsilon_of(events, self.adjacency, self.accountant, delta)
        if self.mu is None:
            epsilon = min(epsilon, _profile.group_epsilon(self._profile(), delta, group_size))
        return epsilon

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
            If `epsilon` is negative or isn't a number.
        """
        epsilon = check_not_negative(epsilon, "epsilon")
        if math.isinf(epsilon):
            return 0.0
        delta = self._profile().delta(epsilon)
        return min(delta, self.delta) if epsilon >= self._certified_epsilon() else delta

    def tpr_at(self, fpr):
        """Largest true positive rate of a membership attack that the guarantee allows.

        Parameters
        ----------
        fpr : float
            False positive rate of the attack, in [0, 1].

        Returns
        -------
        tpr : float
            An upper bound in [fpr, 1] on the true positive rate of any attack that distinguishes a
            data set from its neighbour, in the direction that is easier for the attacker. For full
            batches it is exact: ``Phi(Phi^-1(fpr) + mu)``.

        Raises
        ------
        ValueError
            If `fpr` is out of range.
        """
        fpr = check_within(fpr, "fpr", 0.0, 1.0)
        bound = min(self._profile().tpr(fpr), 1.0)
        epsilon = self._certified_epsilon()
        if math.isfinite(epsilon):
            odds = math.exp(min(epsilon, 700.0))
            bound = min(bound, self.delta + odds * fpr, 1 - (1 - self.delta - fpr) / odds)
        return max(bound, fpr)

    def to_dict(self):
        """Return the content of the report as types that JSON supports.

        Returns
        -------
        content : dict
            Fields and quantities derived from them; infinity is the string "inf".
        """
        return _report_formats.write_entries(self)

    def to_json(self):
        """Return the content of `to_dict` as JSON.

        Returns
        -------
        text : str
            Strict JSON, indented.
        """
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    @classmethod
    def from_dict(cls, entries):
        """Return the report that `to_dict` wrote.

        Epsilon and all derived quantities are computed again from the events, which takes as long
        as the first time.

        Parameters
        ----------
        entries : dict
            Result of `to_dict`.

        Returns
        -------
        report : PrivacyReport
            Equal to the one that was written. Where versions or machines differ, its epsilon is
            raised to the epsilon that the events give here.

        Raises
        ------
        TypeError
            If `entries` isn't a dict.
        ValueError
            If an entry is missing, unknown or of a wrong type, or doesn't agree with the others.
            Epsilon may be larger than what the events give, but not smaller by more than 1 %.

        Notes
        -----
        Epsilon, all that is derived from the events, and the unit are checked. Epsilon is held to
        an upper bound: that of `accountant`, or where "rdp" was asked for that of loss
        distributions if it is smaller. Where these can't compute it, for deltas of Poisson batches
        below 1e-12 (more beyond 250 steps) or beyond 4e6 steps, only "rdp" counts. What a report
        can't prove is believed: that these were the events, and for pairwise ones that this was the
        adjacency; `clipping`; that there was no seed; that no part is missing in `unprotected`; and
        all words. Keep reports where no one else can change them, or sign them. Entries of skdp
        0.3.0 lack "unprotected": the report is then not said to be differentially private, and says
        what to do.

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
        return _report_formats.read_entries(cls, entries)

    @classmethod
    def from_json(cls, text):
        """Return the report that `to_json` wrote.

        Parameters
        ----------
        text : str
            Result of `to_json`.

        Returns
        -------
        report : PrivacyReport
            Equal to the one that was written.

        Raises
        ------
        TypeError
            If `text` isn't a string.
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
        """Return the report in plain words, for a terminal.

        Returns
        -------
        text : str
            Lines of at most 79 columns.
        """
        lines = [f"Privacy report: {self!r}", ""]
        for sentence in _report_words.quoted_guarantee(self, self._record):
            lines += _wrap(sentence)
        lines.append("")
        for title, value in self._rows():
            if title == "Released" and not isinstance(value, str):
                # Lines of a table, which keeps its spaces.
                lines += [f"{title if n == 0 else '':<16}{line}" for n, line in enumerate(value)]
            elif title != "Guarantee":
                first = f"{title:<16}"
                lines += _wrap(value, initial_indent=first, subsequent_indent=" " * 16)
        lines += ["", *_wrap(f"What it means: {self._meaning()}")]
        lists = {"Assumed to be public:": self.assumed_public, "Not covered:": self._left_open()}
        for title, items in lists.items():
            if items:
                lines += ["", title]
                for item in items:
                    lines += _wrap(item, initial_indent="  - ", subsequent_indent="    ")
        if self.condition:
            lines += ["", *_wrap(_SEED_WARNING)]
        return "\n".join(lines)

    def to_markdown(self, card=None):
        """Return the report as Markdown: a section of a data-protection file or of a model card.

        It has the content of `to_text`, and what officials also ask for (doc/out_of_python.rst):
        the guarantee by other measures, who is trusted, the source of the noise, what is covered,
        and the software versions. Texts of others are shown unchanged and make no links; to this
        end an ``@`` is followed by a character without width.

        Parameters
        ----------
        card : dict, default=None
            Facts that only you know, all of them optional. Texts, dates, numbers or lists of these:
            "name", "description", "curator", "purpose", "region", "sector", "product_type" (in the
            registry "Machine learning model" or "Summary statistics"), "publication_date",
            "collection_dates", "unit" (the person or thing that a record describes), "domain"
            (ranges and classes, and their source), "justification" (of epsilon), "sources",
            "authors". Also "model", the estimator, whose bounds and classes are then stated as they
            were set; "n_records", the number of rows, or of groups where the unit is one group;
            "score", the result of :func:`skdp.metrics.private_score`; and "audit", the result of
            :func:`skdp.audit.audit`, which isn't private. All of it is written unchanged.

        Returns
        -------
        text : str
            A table and lists in GitHub's dialect, without a heading: put it below one of yours.

        Raises
        ------
        TypeError
            If `card` or a fact in it is of a wrong type.
        ValueError
            If `card` has an unknown key, or `n_records` isn't a number of records.

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
        | Guarantee | What was published is differentially private f
        | Protects | one row: neighbouring data sets are those where
        """
        return _report_card.card_markdown(self, card)

    def to_registry_yaml(self, card=None):
        """Return the report as a draft of an entry in the registry of deployments.

        The registry is that of OpenDP and NIST; its fields are filled from the report and the card,
        and are otherwise empty. Read it before you send it: it repeats what `card` says, and the
        scheme of the registry may have changed.

        Parameters
        ----------
        card : dict, default=None
            As for `to_markdown`.

        Returns
        -------
        text : str
            YAML, with all texts in quotes. The tier is the highest one for which the card has the
            facts.

        Raises
        ------
        TypeError
            If `card` or a fact in it is of a wrong type.
        ValueError
            If `card` has an unknown key, `n_records` isn't a number of records, or epsilon is
            infinite.

        Examples
        --------
        >>> from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
        >>> event = GaussianEvent(calibrate(1.0, 1e-5))
        >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
        >>> report = PrivacyReport(epsilon=1.0, delta=1e-5, events=[event], **fields)
        >>> entry = report.to_registry_yaml({"name": "Risk score", "curator": "Hospital"})
        >>> for line in entry.splitlines()[:5]:
        ...     print(line)
        status: "Draft"
        tier: 1
        deployment:
          product:
            name: "Risk score"
        """
        return _report_card.registry_yaml(self, card)

    def __repr__(self):
        epsilon, delta = (_report_words.rounded_up(x, 6) for x in (self.epsilon, self.delta))
        text = f"({epsilon}, {delta})-DP {self.condition}".rstrip()
        parts = ", ".join(map(repr, self.unprotected))
        return f"{text}, unprotected: {parts}" if parts else text

    def _repr_html_(self):
        entries = dict(self._entries())
        if not isinstance(entries["Released"], str):
            entries["Released"] = tuple(zip(self.names, map(str, self.events), strict=True))
        return _report_formats.report_html(f"Privacy report: {self!r}", entries.items())

    @property
    def _record(self):
        """What is protected, in a sentence."""
        return "group of rows" if self.unit == "one group" else "record"

    def _profile(self):
        return _profile.build_profile(self.events, self.adjacency, self.accountant)

    def _rows(self):
        yield "Guarantee", self.guarantee
        yield (
            "Protects",
            f"{self.unit}: neighbouring data sets are those where "
            + _NEIGHBOURS[self.adjacency].format(record=self._record),
        )
        if any(self.names) and not self.released:
            yield "Released", _report_words.released_lines(self.names, self.events)
        else:
            yield "Released", self.released or self.event
        if self.clipping is not None and math.isfinite(self.clipping):
            bound = f"at most {self.clipping:g} (L2)"
            if any(event.pairwise and not event.erasure for event in self.events):
                yield "Distance", f"{bound} between neighbours' values before noise"
            else:
                yield "Contribution", f"{bound} per {self._record} and release"
        if math.isfinite(self.epsilon):
            method = _report_words.accountant_words(
                self.accountant,
                pure_beside_others=any(event.is_pure for event in self.events),
                selections=[event for event in self.events if type(event) is SelectionEvent],
            )
            if self.accountant_version != _NO_VERSION:
                method = f"{method}; {self.accountant_version}"
            yield "Accountant", method
        if self.mu is not None and math.isfinite(self.mu):
            yield (
                "Gaussian DP",
                _report_words.gaussian_words(self.mu, f"{self.mu:.4g}", self._record),
            )
        for note in self.notes:
            yield "Note", note

    def _unprotected_names(self):
        return ", ".join(repr(name) for name in self.unprotected)

    def _left_open(self):
        """Return what isn't covered, the parts without protection first."""
        if not self.unprotected:
            return self.not_covered
        return (_UNPROTECTED.format(self._unprotected_names()), *self.not_covered)

    def _entries(self):
        """Give all that is to be said, as titles and texts or lists of texts."""
        yield from self._rows()
        meaning = self._meaning()
        yield "Meaning", meaning[0].upper() + meaning[1:]
        if self.assumed_public:
            yield "Assumed public", self.assumed_public
        if left_open := self._left_open():
            yield "Not covered", left_open
        if self.condition:
            yield "Seed", _SEED_WARNING

    def _meaning(self):
        if math.isinf(self.epsilon):
            words = _report_words.unbounded_words(self, self._record)
            return words[0].lower() + words[1:]
        but_not = " but not the seed" if self.condition else ""
        question = _QUESTIONS[self.adjacency].format(record=self._record)
        return (
            "someone who sees everything that was published, and knows every other "
            f"{self._record}{but_not}, tries to tell {question}. If they accept a false alarm "
            f"in 1 % of the cases, they are right in at most {100 * self.tpr_at(0.01):.3g} % of "
            "the others. A smaller epsilon protects better."
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


def _check_delta(value, name):
    return check_within(value, name, 0.0, 1.0, "[)")


def _check_names(value, name):
    """Return names as a tuple. A string would become a tuple of its letters."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be a tuple.")
    return tuple(_check_text(item, f"each entry of {name}") for item in value)


def _check_text(value, name):
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"{name} must be a printable string.")
    return value
