"""Sums of rows by labels that coins may have changed."""

import dataclasses
import math

import numpy as np

from skdp._checks import check_real
from skdp._plans._walr import ResponsePlan
from skdp._solvers._walr_noise import mean_length
from skdp.linear_model._label_aggregate import LENIENT, SAME_SUMS, LabelAggregate, TooLittleNoise


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ResponseAggregate(LabelAggregate):
    """A `LabelAggregate` of randomised response, for whose fields see there.

    Its guarantee rests on `flip_probability` alone, which must be enough for `epsilon`. The
    covariance of the noise isn't chosen but follows from it and the rows: the square of
    `noise_multiplier`, times the sum of the rows' outer products with themselves. Whoever has the
    rows can compare them.
    """

    flip_probability: float

    mechanism = "randomized_response"
    _smallest = ("noise_multiplier", "flip_probability")

    def __post_init__(self):
        self._set("flip_probability", check_real(self.flip_probability, "flip_probability"))
        super().__post_init__()

    def _plan(self, **planned):
        return ResponsePlan(flip_probability=self.flip_probability, **planned)

    @np.errstate(all="ignore")
    def _check_noise(self):
        event = self._plan(**self._planned()).event
        if not event.epsilon("replace_label") <= self.epsilon * (1.0 + 1e-9):
            raise TooLittleNoise("flip_probability is too small for epsilon.")
        if not math.isclose(self.noise_multiplier, event.noise_multiplier, rel_tol=SAME_SUMS):
            raise ValueError("noise_multiplier must be that of flip_probability.")
        if self.sensitivity is not None:
            raise ValueError("sensitivity must be None where labels were flipped.")
        # A mean of squares is no less than the square of the mean.
        length = mean_length(self.noise_cov, self.part_sums[0] / self.n_rows)
        if not length * self.noise_multiplier * math.sqrt(self.n_rows) <= LENIENT:
            raise TooLittleNoise("noise_cov is too small for the mean of part_sums.")

    def _check_rows(self, public):
        """Refuse a covariance that isn't that of flipped labels of these rows."""
        parts = self.parts or (self,)
        stated = sum(part.noise_cov / part.noise_multiplier**2 for part in parts)
        expected = public.n_rows * public.second_moment
        # Squares of tiny columns underflow.
        sizes = np.sqrt(np.diag(expected)) + 1e-100
        if not (np.abs(stated - expected) <= SAME_SUMS * np.multiply.outer(sizes, sizes)).all():
            raise TooLittleNoise("noise_cov isn't that of flipped labels of the rows of X.")
