"""The releases of a fit of one's own: made by name, as planned, and by nothing else."""

import math

import numpy as np

from skdp._rows.bounds import clip_rows, row_norms
from skdp.extend._plan import Choice, Sum, Value

# Parts of records that are in memory at once have about this many numbers.
_NUMBERS_AT_ONCE = 2**20
_WRONG_METHOD = "{!r} is planned as a {}: ask for it by run.{}."
_ONE_ENTRY_EACH = "arrays of {!r} must have one entry for each record, as X in learn has."
_IS_OVER = "{!r} can't be released any more: the fit is over."
# Differences of scores within this are whole numbers of 64 bits.
_LARGEST_SCORE = 2**61
_METHODS = {"Sum": "sum", "Value": "release", "Choice": "choose"}


class FitRun:
    """What a fit may release, which ``learn`` of an own estimator gets.

    It is made by the fit, never by hand. Each release that was planned is made under its name, as
    often as planned. Everything else that ``learn`` publishes must follow from what these methods
    return, from parameters and from sizes.

    Parameters
    ----------
    run : object
        Makes the noise.
    plan : object
        What was planned.
    n_entries : int
        How many records X has in ``learn``. No check makes it differ from `n_records` but one that
        leaves a record out.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from skdp.extend import DPBaseEstimator, Sum
    >>> class Count(DPBaseEstimator):
    ...     def __init__(self, *, epsilon=1.0, delta="auto", adjacency="zero_out", ledger=None,
    ...                  random_state=None):
    ...         self.epsilon, self.delta, self.adjacency = epsilon, delta, adjacency
    ...         self.ledger, self.random_state = ledger, random_state
    ...     def plan_releases(self, sizes):
    ...         return [Sum("positive rows", shape=(), bound=1.0)]
    ...     def learn(self, X, y, run):
    ...         self.count_ = run.sum("positive rows", lambda X: X[:, 0] > 0, X)
    ...         self.error_ = run.noise_std("positive rows")
    >>> fitted = Count(random_state=0).fit(np.ones((1000, 1)))
    >>> abs(fitted.count_ - 1000) < 5 * fitted.error_
    True
    """

    def __init__(self, run, plan, n_entries):
        self._run, self._plan, self._n_entries = run, plan, n_entries
        self._steps = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # An estimator may keep this as an attribute. A pickle then has no stream, from which the
        # noise of what was released could be read.
        self._run = None
        self._steps.clear()

    @property
    def n_records(self):
        """Number of records, which is public.

        Take it from here and not from the length of X: a check leaves a record out of X to see what
        it does.
        """
        return self._plan.n_records

    @property
    def is_private(self):
        """Whether there is noise, as there is unless epsilon is infinite."""
        return self._plan.budget.is_private

    def noise_std(self, name):
        """Return the standard deviation of the noise on each number of a release, a public number.

        Parameters
        ----------
        name : str
            Of a release that wasn't made yet, or was.

        Returns
        -------
        noise_std : float
            0 without privacy. For a choice that of Gaussian noise which would tell as much.

        Raises
        ------
        RuntimeError
            If no release of this name was planned.
        """
        for planned in self._plan.releases:
            if planned.name == name:
                return float(planned.release.mechanism.noise_std)
        raise RuntimeError(f"{name!r} isn't planned.")

    def clip_rows(self, X, norm):
        """Return rows of a bounded length: longer ones are shortened to it.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Rows.
        norm : float
            The bound, a public number.

        Returns
        -------
        clipped : ndarray of shape (n, d)
            A new array. Without privacy rows stay as they are.

        Raises
        ------
        ValueError
            If X has an entry that isn't finite.
        """
        rows = clip_rows(X, data_norm=norm, fit_intercept=False, clip=self.is_private)
        return rows.augmented(np.arange(len(X)))

    def clip(self, numbers, low, high):
        """Return numbers moved into a range, such as columns or targets.

        Parameters
        ----------
        numbers : ndarray
            Numbers.
        low, high : float or ndarray
            Ends of the range, public numbers.

        Returns
        -------
        within : ndarray
            A new array. Without privacy numbers stay as they are.

        Raises
        ------
        ValueError
            If the ends don't fit the shape of the numbers.
        """
        return np.clip(numbers, low, high) if self.is_private else np.array(numbers)

    def sum(self, name, part, *arrays):
        """Release the sum of what records add, with noise.

        Parameters
        ----------
        name : str
            Of a :class:`Sum` that was planned.
        part : callable
            Gets some of the records as a block of each array, of b entries, and returns what each
            adds: an array of shape (b,) and the planned shape. It must treat records one by one.
            Parts that are longer than the bound are shortened to it, and one that has NaN is 0.
        *arrays : ndarray
            Arrays with an entry for each record and no others, such as X and y.

        Returns
        -------
        noisy : ndarray or float
            Of the planned shape.

        Raises
        ------
        RuntimeError
            If no such sum was planned, or all of them were made.
        ValueError
            If parts don't have the planned shape, or an array has more entries than there are
            records, or fewer: a record that had several would add several parts.
        """
        planned = self._planned(name, Sum)
        if not arrays or any(len(array) != self._n_entries for array in arrays):
            raise ValueError(_ONE_ENTRY_EACH.format(name))
        steps = self._steps_of(name)
        size, total = math.prod(planned.shape), np.zeros(planned.shape)
        n_at_once = max(1, _NUMBERS_AT_ONCE // size)
        for start in range(0, len(arrays[0]), n_at_once):
            blocks = [array[start : start + n_at_once] for array in arrays]
            parts = np.asarray(part(*blocks), dtype=np.float64)
            if parts.shape != (len(blocks[0]), *planned.shape):
                raise ValueError(
                    f"parts of {name!r} must have the shape (b, *{planned.shape}), for blocks of b "
                    "records."
                )
            if self.is_private:
                parts = _cut(parts, planned.bound)
            total += steps.mechanism.rounded(parts).sum(axis=0)
        return _plain(steps(total))

    def release(self, name, value):
        """Release numbers with noise, which a record moves by no more than was planned.

        Parameters
        ----------
        name : str
            Of a :class:`Value` that was planned.
        value : array-like
            Numbers of the planned shape. Their bound is yours to prove.

        Returns
        -------
        noisy : ndarray or float
            Of the planned shape.

        Raises
        ------
        RuntimeError
            If no such value was planned, or all of them were made.
        ValueError
            If the value doesn't have the planned shape.
        """
        planned = self._planned(name, Value)
        steps = self._steps_of(name)
        value = np.array(value, dtype=np.float64)
        if value.shape != planned.shape:
            raise ValueError(f"{name!r} must have the shape {planned.shape}.")
        if self.is_private:
            # Noise is added exactly to numbers that so many records can make.
            largest = self.n_records * planned.bound
            value = np.nan_to_num(value, posinf=largest, neginf=-largest).clip(-largest, largest)
        return _plain(steps(value))

    def choose(self, name, scores):
        """Release the place of one of the largest scores.

        Parameters
        ----------
        name : str
            Of a :class:`Choice` that was planned.
        scores : array-like of int
            Whole numbers, which a record moves by no more than was planned: that is yours to prove.
            How many there are must be public.

        Returns
        -------
        place : int
            Without privacy that of the first of the largest.

        Raises
        ------
        RuntimeError
            If no such choice was planned, or all of them were made.
        ValueError
            If scores aren't whole numbers.
        """
        self._planned(name, Choice)
        steps = self._steps_of(name)
        scores = np.asarray(scores)
        if scores.ndim != 1 or not scores.size or scores.dtype.kind not in "iu":
            raise ValueError(f"scores of {name!r} must be a flat list of whole numbers.")
        return int(steps(_cut_scores(scores)))

    def _planned(self, name, kind):
        """Return what was planned under a name, which must be of this kind."""
        planned = self._plan.own.get(name)
        if planned is None:
            names = ", ".join(map(repr, self._plan.own))
            raise RuntimeError(f"{name!r} isn't planned: plan_releases has {names}.")
        if not isinstance(planned, kind):
            planned_kind = type(planned).__name__
            raise RuntimeError(_WRONG_METHOD.format(name, planned_kind, _METHODS[planned_kind]))
        return planned

    def _steps_of(self, name):
        """Return what makes the releases of a name, one at each call."""
        if self._run is None:
            raise RuntimeError(_IS_OVER.format(name))
        if name not in self._steps:
            self._steps[name] = self._run.steps(name)
        return self._steps[name]


def _cut(parts, bound):
    """Return parts of records that are no longer than a bound; one of no finite length is 0."""
    flat = parts.reshape(len(parts), -1)
    with np.errstate(all="ignore"):
        norms = row_norms(flat)
        is_finite = np.isfinite(norms)
        factors = np.where(is_finite, bound / np.maximum(norms, bound), 0.0)
        # A factor of 0 makes no number of one that is none.
        cut = np.where(is_finite[:, np.newaxis], flat * factors[:, np.newaxis], 0.0)
    return cut.reshape(parts.shape)


def _cut_scores(scores):
    """Return whole scores cut to a range in which their gaps don't overflow."""
    if scores.dtype.kind == "u":
        scores = np.minimum(scores.astype(np.uint64), np.uint64(_LARGEST_SCORE))
    return np.clip(scores.astype(np.int64), -_LARGEST_SCORE, _LARGEST_SCORE)


def _plain(released):
    """Return a released array, or a float where it has no dimension."""
    return float(released) if released.ndim == 0 else released
