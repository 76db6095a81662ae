"""Releases of algorithms, as the accountant counts them."""

import math
from dataclasses import dataclass, replace
from functools import partial

from skdp._checks import check_count, check_fields, check_flag, check_within, check_word

check_probability = partial(check_within, low=0.0, high=1.0, ends="(]")
check_not_negative = partial(check_within, low=0.0, high=math.inf)

_PURE_FACTORS = {"zero_out": 1.0, "replace_one": 2.0}
# A few units in the last place.
_ROUNDING = 1e-15
# The logarithm of a number is computed to less than this.
_ROUNDING_OF_LOG = 1.0 + 2.0**-50


class Event:
    """What accountants ask of every event. By default: noise on full batches, nothing pure."""

    n_steps = n_parts = 1
    #: Whether the event has a guarantee of delta = 0.
    is_pure = False
    #: Probability that the event reveals everything, beyond what its noise does.
    erasure = 0.0
    #: Whether the event is the same whatever neighbours differ by.
    pairwise = False
    #: Probability that a record takes part in a step.
    sampling_rate = 1.0

    @property
    def sampling(self):
        """How batches are drawn: "poisson", "partition" or "full batch"."""
        if self.sampling_rate < 1:
            return "poisson"
        return "partition" if self.n_parts > 1 else "full batch"

    @property
    def n_releases(self):
        """Number of releases that were made."""
        return self.n_steps * self.n_parts

    def _repeated(self, release):
        """Say how often a release is made."""
        disjoint = f"{self.n_parts} disjoint " if self.n_parts > 1 else ""
        return f"{self.n_steps} x {disjoint}{release}"


@dataclass(frozen=True)
class GaussianEvent(Event):
    """Gaussian noise added to sums over Poisson batches, several times.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise divided by the bound on one record's contribution.
    sampling_rate : float
        Probability that a record takes part in a step; 1 means full batches.
    n_steps : int
        Number of releases that a record may take part in.
    n_parts : int, default=1
        Number of releases that a step consists of, made on disjoint sets of records that were
        chosen without looking at them. A record takes part in one of them.
    pairwise : bool, default=False
        Whether the noise multiplier is relative to the distance between the values of two
        neighbouring data sets, whatever the adjacency, and not to one record's contribution.

    Raises
    ------
    ValueError
        If a parameter is out of range, or `n_parts` or `pairwise` is used with Poisson batches.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of the Royal Statistical
       Society B. Corollary 3.3 is the parameter `mu` of full batches.

    Examples
    --------
    >>> from skdp.accountant import GaussianEvent
    >>> print(GaussianEvent(1.0, sampling_rate=0.01, n_steps=1000))
    1000 x Poisson(0.01) Gaussian(1)
    >>> GaussianEvent(2.0, n_steps=4).mu("zero_out")
    1.0
    """

    noise_multiplier: float
    sampling_rate: float = 1.0
    n_steps: int = 1
    n_parts: int = 1
    pairwise: bool = False

    def __post_init__(self):
        check_fields(self, n_steps=check_count, n_parts=check_count, pairwise=check_flag)
        check_fields(self, noise_multiplier=check_not_negative, sampling_rate=check_probability)
        if self.sampling_rate < 1 and (self.n_parts > 1 or self.pairwise):
            raise ValueError("n_parts and pairwise need sampling_rate=1.")

    def __str__(self):
        gaussian = f"Gaussian({self.noise_multiplier:.5g})"
        if self.pairwise:
            gaussian = f"pairwise {gaussian}"
        if self.sampling_rate < 1:
            gaussian = f"Poisson({self.sampling_rate:.5g}) {gaussian}"
        return self._repeated(gaussian)

    def mu(self, adjacency):
        """Parameter of Gaussian differential privacy without sampling.

        Parameters
        ----------
        adjacency : str
            Replacing a record moves a sum by up to twice its bound; a pairwise multiplier already
            includes this.

        Returns
        -------
        mu : float
            Infinite without noise.
        """
        if self.noise_multiplier == 0:
            return math.inf
        factor = 2.0 if adjacency == "replace_one" and not self.pairwise else 1.0
        return factor * math.sqrt(self.n_steps) / self.noise_multiplier

    def scaled_to_group(self, group_size):
        """Event of one record that dominates this event seen by a group of records.

        The group's sum differs from its null sum by a vector of norm at most ``k`` (in units of the
        bound) when at least one of its ``k`` coins includes a record, which has probability ``1 -
        (1 - q)^k``, and by nothing otherwise. Given the past, a release is therefore a mixture over
        the coins of pairs of the subsampled Gaussian with that probability and sensitivity at most
        ``k``; hockey-stick divergences are jointly convex, so the worst such pair dominates, and
        dominating pairs compose adaptively (Zhu, Dong and Wang 2022, theorem 10). The result is
        exact at ``q = 1``.

        Parameters
        ----------
        group_size : int
            Number of records that may change together.

        Returns
        -------
        event : GaussianEvent
            With noise and sampling rate of the group.
        """
        rate = self.sampling_rate
        if rate < 1:
            rate = -math.expm1(group_size * math.log1p(-rate))
        return replace(
            self, noise_multiplier=self.noise_multiplier / group_size, sampling_rate=rate
        )


@dataclass(frozen=True)
class LaplaceEvent(Event):
    """Laplace noise added to sums over disjoint batches, several times.

    The noise z has a density proportional to ``exp(-||z|| / scale)``, with the L2 norm: it is
    spherical. On counts it consists of integers, and every count has noise of its own, so the norm
    is L1.

    Parameters
    ----------
    noise_multiplier : float
        Scale of the noise divided by the bound on one record's contribution.
    n_steps : int, default=1
        Number of releases that a record takes part in.
    n_parts : int, default=1
        Number of releases that a step consists of, made on disjoint sets of records that were
        chosen without looking at them. A record takes part in one of them.
    largest_multiplier : float, default=None
        Where releases have different noise, the largest noise multiplier; `noise_multiplier` is the
        smallest, which determines the guarantee. None means that all are equal.
    counts : bool, default=False
        Whether integer counts are released, with the L1 norm for noise and contributions.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    .. [1] Song, Chaudhuri and Sarwate (2013). Stochastic gradient descent with differentially
       private updates. GlobalSIP. Theorem 1.

    Examples
    --------
    >>> from skdp.accountant import LaplaceEvent
    >>> event = LaplaceEvent(2.0, n_steps=3, n_parts=20)
    >>> print(event)
    3 x 20 disjoint SphericalLaplace(scale 2)
    >>> event.epsilon("zero_out")
    1.5
    """

    noise_multiplier: float
    n_steps: int = 1
    n_parts: int = 1
    largest_multiplier: float | None = None
    counts: bool = False

    is_pure = True

    def __post_init__(self):
        check_fields(self, noise_multiplier=check_not_negative, n_steps=check_count)
        check_fields(self, n_parts=check_count, counts=check_flag)
        if self.largest_multiplier is not None:
            check_largest = partial(check_within, low=self.noise_multiplier, high=math.inf)
            check_fields(self, largest_multiplier=check_largest)

    def __str__(self):
        noise = f"{self.noise_multiplier:.5g}"
        if self.largest_multiplier is not None:
            noise += f" to {self.largest_multiplier:.5g}"
        kind = "DiscreteLaplace" if self.counts else "SphericalLaplace"
        return self._repeated(f"{kind}(scale {noise})")

    def epsilon(self, adjacency):
        """Pure epsilon of all steps, by basic composition.

        Replacing a record moves a sum by up to twice its bound. Batches of a step are disjoint, so
        a record matters in only one of them, and their guarantees don't add up.

        Parameters
        ----------
        adjacency : str
            How neighbouring data sets differ.

        Returns
        -------
        epsilon : float
            Infinite without noise.

        Raises
        ------
        ValueError
            If `adjacency` is neither "zero_out" nor "replace_one".
        """
        if self.noise_multiplier == 0:
            return math.inf
        return pure_factor(adjacency) * self.n_steps / self.noise_multiplier

    def scaled_to_group(self, group_size):
        """Event of one record that dominates this event seen by a group of records.

        The group's sum moves by up to `group_size` times the bound of one.

        Parameters
        ----------
        group_size : int
            Number of records that may change together.

        Returns
        -------
        event : LaplaceEvent
            With the noise of the group.
        """
        return replace(
            self, noise_multiplier=self.noise_multiplier / group_size, largest_multiplier=None
        )


@dataclass(frozen=True)
class ErasureEvent(Event):
    """A release that reveals everything with a small probability, and otherwise nothing.

    It is an upper bound on failures of a release: no event of this probability reveals more.

    Parameters
    ----------
    probability : float
        Probability that the data set is revealed, in (0, 1].
    n_steps : int, default=1
        Number of independent repetitions.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    .. [1] Murtagh and Vadhan (2016). The complexity of computing the optimal composition of
       differential privacy. TCC. The worst case of (epsilon, delta): everything is revealed with
       probability delta.

    Examples
    --------
    >>> from skdp.accountant import ErasureEvent, GaussianEvent, PrivacyReport
    >>> events = [GaussianEvent(4.0), ErasureEvent(1e-6)]
    >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    >>> report = PrivacyReport(epsilon=1.0, delta=1e-5, events=events, **fields)
    >>> report.event
    '1 x Gaussian(4), then 1 x Erasure(1e-06)'
    >>> round(report.delta_at(50.0), 12)
    1e-06
    """

    probability: float
    n_steps: int = 1

    pairwise = True
    #: Noise of what is seen where nothing is revealed.
    noise_multiplier = math.inf

    def __post_init__(self):
        check_fields(self, probability=check_probability, n_steps=check_count)

    def __str__(self):
        return self._repeated(f"Erasure({self.probability:.5g})")

    @property
    def erasure(self):
        """Probability that one of the steps reveals everything."""
        if self.n_steps == 1 or self.probability == 1:
            return self.probability
        exact = -math.expm1(self.n_steps * math.log1p(-self.probability))
        return min(exact * (1 + _ROUNDING), 1.0)

    def scaled_to_group(self, group_size):
        """Event of one record that dominates this event seen by a group of records.

        A small probability for one record may become any larger one between two data sets that
        differ in a group, beside other releases. Only the triangle inequality of
        :meth:`PrivacyReport.epsilon_at` is known.

        Parameters
        ----------
        group_size : int
            Number of records that may change together.

        Returns
        -------
        event : ErasureEvent
            That reveals everything, unless the group is of one record.
        """
        return self if group_size == 1 else ErasureEvent(1.0)


@dataclass(frozen=True)
class RandomizedResponseEvent(Event):
    """Labels that are published after random replacement by another class.

    Parameters
    ----------
    flip_probability : float
        Probability of each of the other classes; 0 publishes the true labels.
    n_classes : int, default=2
        Number of classes.
    n_steps : int, default=1
        Number of times that a label is published, each time with independent randomness.
    n_parts : int, default=1
        Number of disjoint sets of records that were published separately. A record is in one of
        them.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the true class isn't the likeliest.

    References
    ----------
    .. [1] Warner (1965). Randomized response: a survey technique for eliminating evasive answer
       bias. Journal of the American Statistical Association.
       Kairouz, Oh and Viswanath (2016). Extremal mechanisms for local differential privacy. JMLR.

    Examples
    --------
    >>> from skdp.accountant import RandomizedResponseEvent
    >>> event = RandomizedResponseEvent(0.25)
    >>> print(event)
    1 x RandomizedResponse(0.25)
    >>> round(event.epsilon("replace_label"), 4)  # log(0.75 / 0.25)
    1.0986
    """

    flip_probability: float
    n_classes: int = 2
    n_steps: int = 1
    n_parts: int = 1

    is_pure = pairwise = True

    def __post_init__(self):
        check_fields(self, n_classes=check_count, n_steps=check_count, n_parts=check_count)
        if self.n_classes < 2:
            raise ValueError("n_classes must be at least 2.")
        check_fields(self, flip_probability=partial(check_within, low=0.0, high=1.0))
        if self._advantage < 0.0:
            raise ValueError("flip_probability must be in [0, 1 / n_classes].")

    def __str__(self):
        classes = f", {self.n_classes} classes" if self.n_classes > 2 else ""
        return self._repeated(f"RandomizedResponse({self.flip_probability:.5g}{classes})")

    @property
    def _advantage(self):
        """Probability of the true class less that of another, correctly rounded."""
        numerator, denominator = self.flip_probability.as_integer_ratio()
        return (denominator - self.n_classes * numerator) / denominator

    @property
    def noise_multiplier(self):
        """Standard deviation of an unbiased label: of entries of 0 and 1, where each may be 1.

        An entry is off by ``(response - probability of a response) / advantage``; the variance is
        the mean over classes, which for two is that of each.
        """
        q, k = self.flip_probability, self.n_classes
        if self._advantage == 0.0:
            return math.inf
        others = (k - 1) * q
        variance = (others * (1.0 - others) + (k - 1) * q * (1.0 - q)) / k
        return math.sqrt(variance) / self._advantage

    def epsilon(self, adjacency):
        """Pure epsilon of all steps, by basic composition.

        It is the logarithm of the true class's probability over another's, rounded up.

        Parameters
        ----------
        adjacency : str
            How neighbouring data sets differ.

        Returns
        -------
        epsilon : float
            Infinite without flips.

        Raises
        ------
        ValueError
            If `adjacency` isn't "replace_label": features aren't protected.
        """
        if adjacency != "replace_label":
            raise ValueError("adjacency must be 'replace_label' for randomised response.")
        if self.flip_probability < 1e-300:
            return math.inf
        numerator, denominator = self.flip_probability.as_integer_ratio()
        one = math.log1p((denominator - self.n_classes * numerator) / numerator)
        return self.n_steps * one * _ROUNDING_OF_LOG

    def scaled_to_group(self, group_size):
        """Event of one record that dominates this event seen by a group of records.

        Their labels are replaced independently, so their epsilons add up.

        Parameters
        ----------
        group_size : int
            Number of records that may change together.

        Returns
        -------
        event : RandomizedResponseEvent
            With as many more steps.
        """
        return replace(self, n_steps=self.n_steps * group_size)


EVENTS = (GaussianEvent, LaplaceEvent, RandomizedResponseEvent, ErasureEvent)


def checked_events(events, kinds, name):
    """Return events as a tuple after checking them and their fields again.

    A subclass, or an attribute set on an event, could say that it costs less than it does: the
    former raises a TypeError, the latter is dropped.
    """
    if not all(type(event) in kinds for event in events):
        *names, last = (kind.__name__ for kind in kinds)
        raise TypeError(f"{name} must be instances of {', '.join(names)} or {last} themselves.")
    return tuple(replace(event) for event in events)


def joint_erasure(probabilities):
    """Probability that one of several independent erasures happens, rounded up."""
    probabilities = [p for p in probabilities if p > 0]
    if len(probabilities) < 2 or max(probabilities) == 1:
        return max(probabilities, default=0.0)
    exact = -math.expm1(total(math.log1p(-p) for p in probabilities))
    return min(exact * (1 + _ROUNDING), 1.0)


def pure_factor(adjacency):
    """Distance between the sums of two neighbouring data sets over one record's bound."""
    return _PURE_FACTORS[check_word(adjacency, "adjacency", _PURE_FACTORS)]


def common_value(values):
    """Return the one value that all are equal to, else None."""
    values = set(values)
    return values.pop() if len(values) == 1 else None


def total(values):
    """Return a sum, correctly rounded; infinite where it overflows."""
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf
