"""Private transformers where nobody looks for NaN: a record's bound holds for any record."""

import itertools
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

from skdp._bounds import null_records
from skdp._mechanisms import GaussianMechanism
from skdp.exceptions import PrivacyWarning
from skdp.preprocessing import (
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
)
from skdp.utils.discovery import all_estimators

ENTRIES = (np.nan, np.inf, -np.inf, 1e308, -1e308, 0.5)
LISTED = [[0.5, 1.0, -1.0]] * 2
# For gaps there is another number, so that NaN is none.
TRANSFORMERS = [
    DPStandardScaler(),
    DPQuantileClipper(),
    DPQuantileClipper(scale="log"),
    DPNormClipper(),
    DPSimpleImputer(missing_values=-5.0),
    DPSimpleImputer(missing_values=-5.0, strategy="median"),
    DPSimpleImputer(missing_values=-5.0, strategy="most_frequent", categories=LISTED),
    DPOneHotEncoder(),
]


def fit(estimator, X, script=None, null=()):
    """Return a fitted clone, what went into its releases, what came out, and their bounds."""
    made = []

    def release(self, value, stream, original=GaussianMechanism.release):
        out = original(self, value, stream)
        if script is not None and script[len(made)][1].shape == out.shape:
            out = script[len(made)][1].copy()
        made.append((value.copy(), out.copy(), self))
        return out

    with pytest.MonkeyPatch.context() as patch, null_records(null), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        patch.setattr(GaussianMechanism, "release", release)
        with sklearn.config_context(assume_finite=True):
            fitted = clone(estimator).set_params(random_state=0, delta=1e-3).fit(X)
    return fitted, made


def test_all_private_transformers_are_here():
    private = dict(all_estimators("private"))
    kinds = {kind for name, kind in all_estimators("transformer") if name in private}
    assert kinds == {type(transformer) for transformer in TRANSFORMERS}


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_record_that_is_not_finite_has_no_more_influence_than_others(transformer, dtype, rng):
    X = np.vstack([np.sign(rng.standard_normal((60, 2))), np.zeros((1, 2))])
    _, none = fit(transformer, X, null=[60])
    for row in itertools.product(ENTRIES, repeat=2):
        with np.errstate(over="ignore"):
            X[60] = np.asarray(row, dtype=dtype)
        fitted, made = fit(transformer, X.astype(dtype), script=none)
        for (value, _, mechanism), (without, _, _) in zip(made, none, strict=True):
            if value.shape != without.shape:
                # A category of its own, which a threshold hides.
                value = value[value > 1.0]
            moved = np.linalg.norm(value - without)
            assert moved <= mechanism.sensitivity * (1.0 + 1e-12)
        for name in ("mean_", "scale_", "statistics_"):
            assert np.isfinite(getattr(fitted, name, 0.0)).all()
