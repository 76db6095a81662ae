"""The second fit of additive models of counts and amounts: to the curves of the first, alone."""

import numpy as np
import pytest

from skdp.additive import DPAdditiveRegressor
from skdp.inspection import preview

SIDES = "amounts and what is expected"


def table(n_rows=20_000, seed=0):
    """Return rows of which one column tells of rare events, those, and how long rows were seen."""
    rng = np.random.default_rng(seed)
    X, seen = rng.uniform(0.0, 1.0, (n_rows, 6)), rng.uniform(0.0, 2.0, n_rows)
    return X, rng.poisson(0.1 * seen * np.exp(np.sin(6.0 * X[:, 0]))).astype(float), seen


@pytest.mark.long
@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_there_are_two_fits_without_products_and_one_end(loss):
    X, y, seen = table()
    model = DPAdditiveRegressor(loss=loss, random_state=0).fit(X, y + 0.5, exposure=seen)
    names = model.privacy_report_.names
    assert {"steps", "steps of whole curves"} <= set(names)
    assert [name for name in names if name.startswith(SIDES)] == [f"{SIDES} of whole curves"]
    assert names[-1] == f"{SIDES} of whole curves"
    # Sizes of amounts are learnt once.
    assert "ranges of targets of whole curves" not in names
    assert len(model.terms_) == 6
    # What would hide rare words is charged, and isn't needed.
    assert 0.9 < model.privacy_report_.epsilon_at(1e-5) <= 1.0 + 1e-6


@pytest.mark.long
def test_few_records_and_interactions_of_none_have_one_fit():
    X, y, seen = table(1000)
    for options in ({}, {"interactions": None}):
        model = DPAdditiveRegressor(loss="poisson", random_state=0, **options)
        if options:
            X, y, seen = table()
        names = model.fit(X, y, exposure=seen).privacy_report_.names
        assert names[-1] == SIDES
        assert "steps of whole curves" not in names


def test_a_plan_tells_of_both_fits():
    model = DPAdditiveRegressor(loss="poisson")
    assert preview(model, 20_000, 6).names[-1] == "linear model of whole curves"


@pytest.mark.long
def test_curves_that_tell_nothing_are_flatter_and_the_mean_is_right():
    """Paired by the seed of the noise: noise of five curves is most of what one fit is off by."""
    X, y, seen = table()
    truth = np.sin(6.0 * X[:, 0])
    off = {}
    for interactions in ("auto", None):
        errors, quotients = [], []
        for seed in range(4):
            model = DPAdditiveRegressor(
                loss="poisson", interactions=interactions, random_state=seed
            ).fit(X, y, exposure=seen)
            errors.append(np.var(np.log(model.predict(X)) - truth))
            quotients.append(model.predict(X, exposure=seen).sum() / y.sum())
        assert np.mean(quotients) == pytest.approx(1.0, abs=0.06)
        off[interactions] = np.mean(errors)
    assert off["auto"] < 0.7 * off[None]
