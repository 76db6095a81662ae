"""Intervals and sets of a stated coverage: what they cover, and what a record moves."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp.accountant import GaussianEvent, LaplaceEvent, SelectionEvent
from skdp.additive import DPAdditiveRegressor
from skdp.calibration import (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
)
from skdp.exceptions import BudgetExceededError
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPLogisticRegression,
    DPPoissonRegressor,
    DPRidge,
    DPSCDClassifier,
    WALRClassifier,
)
from skdp.metrics import private_score
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPStandardScaler
from tests._loops import for_each
from tests.door import (
    Budget,
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    SeededStream,
    calibration_solver_module as _solver,
    choose_design,
    conformal_module as _conformal,
    critical_value,
    crossing,
    ends_of_bins,
    find_quantile,
    n_needed,
    null_records,
    numbers_of_bins,
    plan_conformal,
)

# Tables are small here.
pytestmark = pytest.mark.filterwarnings("ignore:target_bounds=None learns a range")
INF = float("inf")
TWO = {"classes": [0, 1]}
ADJACENCIES = ("zero_out", "replace_one")


def records(n, seed=0):
    """Rows, targets, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(0.0, 0.3, n)
    return X, y, (y > 0.0).astype(int)


def stream(seed=0):
    return SeededStream(np.random.SeedSequence(seed))


def planned(level, n, epsilon, delta=1e-5, adjacency="zero_out"):
    budget = Budget(epsilon, delta, adjacency, "pld")
    size = {"calibration_size": 1.0, "n_records": n}
    return plan_conformal(budget, level=level, **size)


def quantile_of(scores, plan, seed=0):
    run = plan.start(seed)
    return find_quantile(scores, plan, run, run.coins()).value


# The band, and the rank.

MECHANISMS = [
    DiscreteLaplaceMechanism(1.0 / 0.75),
    DiscreteLaplaceMechanism(8.0),
    GaussianMechanism(1.0, 4.0, 29, 1000),
]


@for_each("mechanism", MECHANISMS)
@pytest.mark.parametrize("n_bins", [7, 29])
def test_noise_leaves_its_band_as_rarely_as_was_planned(mechanism, n_bins):
    """A band of single bins would be left in far more of 4,000 paths, in some bin or other.

    By the law of both, a rate beyond the ends has a probability below 1e-6.
    """
    design = choose_design(0.9, 1000, 1.0)._replace(n_bins=n_bins, failure=0.02)
    n_paths = 4000
    critical = critical_value(mechanism, design, stream(1))
    counts = np.zeros((n_paths, n_bins), dtype=np.int64)
    noise = mechanism.release(counts, stream(2)).astype(np.float64)
    sums = noise.cumsum(axis=1)
    place = np.arange(1, n_bins + 1)
    sums -= place / n_bins * sums[:, -1:]
    band = critical * mechanism.noise_std * _solver._spread(n_bins)
    left = (sums[:, :-1] > band[:-1] + 1e-6).any(axis=1).sum()
    # The simulated paths, of which 20 are beyond it, vary, too.
    n_beyond, n_simulated = 20, 999
    chance = stats.betabinom(n_paths, n_beyond, n_simulated + 1 - n_beyond)
    assert chance.ppf(5e-7) <= left <= chance.isf(5e-7)
    if n_bins == 29:
        spread = np.sqrt(place * (n_bins - place) / n_bins)
        of_single_bins = stats.norm.isf(0.02) * mechanism.noise_std * spread
        assert (sums > of_single_bins + 1e-6).any(axis=1).sum() > 3 * left


def test_simulated_noise_has_the_law_of_released_noise():
    for mechanism in MECHANISMS:
        zeros = np.zeros((20_000,), dtype=np.int64)
        drawn = mechanism.release(zeros, stream(1)), mechanism.simulate((20_000,), stream(2))
        assert stats.ks_2samp(*drawn).pvalue > 1e-6
        # Both lie on the same grid.
        grid = getattr(mechanism, "grid", 1.0)
        assert all((values % grid == 0.0).all() for values in drawn)


@pytest.mark.parametrize("n", [1, 20, 333])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_without_noise_the_first_bin_beyond_the_rank_is_found(level, n, rng):
    plan = planned(level, n, INF)
    scores = rng.exponential(size=n)
    found = quantile_of(scores, plan)
    rank = math.ceil(level * (n + 1) - 1e-9)
    if rank > n:
        assert math.isinf(found)
        return
    exact = np.sort(scores)[rank - 1]
    assert exact <= found <= exact * 2.0 ** (1.01 / 64)


def test_a_crossing_needs_as_many_records_as_the_rank():
    counts = np.array([3, 0, 4, 2, 1])
    for rank, place in ((1, 0), (3, 0), (4, 2), (7, 2), (8, 3), (10, 4), (11, 4)):
        assert crossing(counts, 10, rank, 0.0) == place
    # All noise together is known, and shared out: here 5 bins have 20 too many.
    assert crossing(counts + 4, 10, 7, 0.0) == 2
    # The last bin is reached in any case, and at no other does a band of this width end.
    assert crossing(counts, 10, 8, 100.0) == 4


def test_what_no_counts_can_show_is_not_claimed_by_lucky_noise():
    plan = planned(0.95, 10, 0.1)
    assert plan.design.rank > 10
    scores = np.ones(10)
    assert {quantile_of(scores, plan, seed) for seed in range(30)} == {INF}


@pytest.mark.long
def test_a_wrong_octave_makes_intervals_wide_and_never_short():
    n, level = 2000, 0.9
    plan = planned(level, n, 1.0)
    scores = np.random.default_rng(0).exponential(size=n)
    exact = np.sort(scores)[plan.design.rank - 1]
    for octave in (-60, -17, 1, 2, 3, 5, 60):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_solver, "_octave_of_rank", lambda *_, wrong=octave: wrong)
            found = quantile_of(scores, plan)
        assert found >= exact
        assert math.isinf(found) == (octave in (-60, -17))


def test_bins_hold_what_scores_can_be():
    for n_bins, _ in numbers_of_bins():
        ends = ends_of_bins(n_bins, 3)
        assert ends.size == n_bins - 1
        assert (np.diff(ends) > 0.0).all()
        assert (ends[0], ends[-1]) == (4.0, 2.0**20)


@for_each("scores", [[0.0] * 9, [INF] * 9, [np.nan] * 9, [5e-324, 1e308, *([0.1] * 7)]])
def test_any_score_is_in_a_bin(scores):
    plan = planned(0.5, 9, INF)
    found = quantile_of(np.array(scores), plan)
    finite = np.nan_to_num(np.sort(scores), nan=INF, posinf=INF)
    assert found >= finite[plan.design.rank - 1]


def test_the_design_is_of_public_numbers_and_pays_for_small_noise():
    few, many = (choose_design(0.9, n, 2.0) for n in (300, 30_000))
    assert few.n_bins < many.n_bins
    assert few.excess > many.excess
    for design in (few, many):
        assert 0.0 < design.failure < 0.1
    assert few.rank == math.ceil((0.9 + few.failure) * 301)
    silent = choose_design(0.9, 300, 0.0)
    assert (silent.failure, silent.rank) == (0.0, 271)
    needed = n_needed(0.9, 2.0)
    assert 50 < needed < 500
    assert n_needed(0.9, 8.0) > 3 * needed
    assert n_needed(0.9, 0.0) == 9


# Estimators.


@pytest.mark.long
def test_intervals_cover_and_sets_do():
    X, y, labels = records(6000)
    train, new = slice(4000), slice(4000, None)
    model = DPConformalRegressor(DPRidge(), random_state=0).fit(X[train], y[train])
    intervals = model.predict_interval(X[new])
    assert intervals.shape == (2000, 2)
    np.testing.assert_allclose(intervals.mean(axis=1), model.predict(X[new]))
    np.testing.assert_allclose(np.ptp(intervals, axis=1), 2.0 * model.quantile_)
    covered = (intervals[:, 0] <= y[new]) & (y[new] <= intervals[:, 1])
    assert 0.88 < covered.mean() < 0.96
    logistic = DPConformalClassifier(DPLogisticRegression(**TWO), random_state=0)
    sets = logistic.fit(X[train], labels[train]).predict_set(X[new])
    assert sets.shape == (2000, 2)
    assert sets.dtype == bool
    assert 0.88 < sets[np.arange(2000), labels[new]].mean() < 0.96
    least = 1.0 / (1.0 + logistic.quantile_)
    assert (sets == (logistic.predict_proba(X[new]) >= least)).mean() > 0.999
    assert logistic.score(X[new], labels[new]) > 0.8
    assert model.score(X[new], y[new]) > 0.8


@pytest.mark.long
def test_any_fitted_model_can_be_calibrated():
    X, y, _ = records(4000)
    plain = FrozenEstimator(make_pipeline(StandardScaler(), LinearRegression()).fit(X, y))
    model = DPConformalRegressor(plain, random_state=0).fit(X, y)
    assert (model.n_calibration_, model.n_features_in_) == (4000, 3)
    assert model.estimator_ is plain
    assert 0.49 < model.quantile_ < 0.55
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    private = FrozenEstimator(DPRidge(random_state=0).fit(X, y))
    assert np.isfinite(DPConformalRegressor(private).fit(X, y).quantile_)
    three = np.digitize(y, [-0.5, 0.5])
    frozen = FrozenEstimator(LogisticRegression().fit(X, three))
    sets = DPConformalClassifier(frozen, random_state=0).fit(X, three).predict_set(X)
    assert sets.shape == (4000, 3)
    assert 0.88 < sets[np.arange(4000), three].mean() < 0.96
    assert sets.sum(axis=1).mean() < 2.0
    # The counts are all that is charged, and they are pure.
    report = model.privacy_report_
    assert all(isinstance(event, LaplaceEvent) for event in report.events)
    assert report.epsilon_at(0.0) == pytest.approx(1.0)
    assert any("trained on other records" in text for text in report.assumed_public)
    with pytest.warns(UserWarning, match="^5 calibration records may"):
        DPConformalRegressor(plain, random_state=0).fit(X[:9], y[:9], groups=np.arange(9) // 2)


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_record_costs_what_its_part_costs(adjacency):
    X, y, _ = records(600)
    model = DPConformalRegressor(DPRidge(), epsilon=0.7, adjacency=adjacency, random_state=0)
    report = model.fit(X, y).privacy_report_
    (event,) = report.events
    assert isinstance(event, SelectionEvent)
    fitted, counts = event.alternatives
    own = model.estimator_.privacy_report_
    # Steps of which releases tell the number spend what was planned for them.
    assert math.hypot(*(event.mu(adjacency) for event in fitted)) == pytest.approx(own.mu)
    assert (report.epsilon, report.delta, report.adjacency) == (0.7, 1e-5, adjacency)
    assert own.epsilon == 0.7
    assert sum(event.epsilon(adjacency) for event in counts) == pytest.approx(0.7)
    assert report.epsilon_at(1e-5) == pytest.approx(0.7)
    quarter, rest = (event.epsilon(adjacency) for event in counts)
    assert rest == pytest.approx(3.0 * quarter)
    assert report.clipping is None


@pytest.mark.long
def test_a_ledger_is_charged_once_before_the_fit(tmp_path):
    X, y, _ = records(600)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=1.2, delta=2e-5)
    model = DPConformalRegressor(DPRidge(), ledger=ledger).fit(X, y)
    (charge,) = ledger.to_dict()["charges"]
    assert charge["estimator"] == "DPConformalRegressor"
    # Gaussian counts cost a ledger less.
    counts = model.privacy_report_.events[0].alternatives[1]
    assert all(isinstance(event, GaussianEvent) for event in counts)
    assert model.privacy_report_.epsilon == 1.0
    assert model.estimator_.ledger is ledger
    with pytest.raises(BudgetExceededError):
        model.fit(X, y)
    with pytest.raises(BudgetExceededError):
        model.estimator_.fit(X, y)
    assert len(ledger.to_dict()["charges"]) == 1
    # What isn't read is refused before a charge.
    for bad in (X[:, :0], np.full_like(X, np.nan)):
        with pytest.raises(ValueError, match=r"X|feature"):
            DPConformalRegressor(DPRidge(), epsilon=0.1, ledger=ledger).fit(bad, y)
    frozen = FrozenEstimator(LinearRegression().fit(X, y))
    small = DPConformalRegressor(frozen, epsilon=0.1, ledger=ledger)
    with pytest.raises(ValueError, match="one dimension"):
        small.fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match=r"withheld|features"):
        small.fit(X[:, :2], y)
    assert len(ledger.to_dict()["charges"]) == 1
    small.fit(X, y).set_params(ledger=None)
    assert len(ledger.to_dict()["charges"]) == 2


class Script:
    """Releases that are recorded, or repeated."""

    def __init__(self, patch, script=None):
        self.values, self.released, self.mechanisms = [], [], []
        for kind in (DiscreteLaplaceMechanism, GaussianMechanism):
            self._watch(patch, kind, script)

    def _watch(self, patch, kind, script):
        original = kind.release

        def release(mechanism, value, stream):
            self.values.append(np.array(value))
            self.mechanisms.append(mechanism)
            out = original(mechanism, value, stream)
            self.released.append(out if script is None else script[len(self.released)])
            return self.released[-1]

        patch.setattr(kind, "release", release)


def run(model, X, y, script=None, null=(), **rows):
    with pytest.MonkeyPatch.context() as patch, null_records(null), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = Script(patch, script)
        seen.model = clone(model).fit(X, y, **rows)
    return seen


def parts_of(model, X, y, **rows):
    """The places of records that are fitted, and of those that are counted."""
    kept = []

    def watched(*arguments):
        kept.append(parted(*arguments))
        return kept[-1]

    parted = _conformal._parted
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(_conformal, "_parted", watched)
        clone(model).fit(X, y, **rows)
    return kept[0]


MODELS = {
    "intervals": DPConformalRegressor(DPRidge(target_bounds=(-3, 3)), random_state=0),
    "sets": DPConformalClassifier(DPLogisticRegression(**TWO), random_state=0),
}


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", MODELS)
def test_given_the_releases_a_record_moves_one_bin_of_each_count_or_the_fit_alone(name, adjacency):
    X, y, labels = records(240)
    model = clone(MODELS[name]).set_params(adjacency=adjacency)
    y = labels if name == "sets" else y
    base = run(model, X, y)
    rest, held = parts_of(model, X, y)
    assert len(rest) + len(held) == 240
    for row, is_held in ((rest[3], False), (held[3], True)):
        for x in ([0.5, -0.5, 0.0], [9e9, -9e9, 9e9], [0.0, 0.0, 0.0]):
            other_X, other_y = X.copy(), y.copy()
            other_X[row], other_y[row] = x, 1 - labels[row]
            other = run(model, other_X, other_y, script=base.released)
            gone = run(model, other_X, other_y, script=base.released, null=[row])
            for i, (before, value) in enumerate(zip(gone.values, other.values, strict=True)):
                moved = np.asarray(value, dtype=float) - before
                if i >= len(base.values) - 2:
                    assert sorted(moved[moved != 0.0]) == ([1.0] if is_held else [])
                else:
                    # The fit has bounds of its own, which its own tests hold it to.
                    assert np.linalg.norm(moved) <= other.mechanisms[i].sensitivity * (1 + 1e-9)
                    assert not (is_held and moved.any())
            if not is_held:
                assert any((a != b).any() for a, b in zip(gone.values, other.values, strict=True))
            for attribute in ("quantile_", "n_calibration_", "privacy_report_"):
                assert getattr(other.model, attribute) == getattr(base.model, attribute)


def test_the_noise_is_over_what_a_record_moves():
    X, y, _ = records(240)
    for adjacency in ADJACENCIES:
        seen = run(clone(MODELS["intervals"]).set_params(adjacency=adjacency), X, y)
        counts = seen.model.privacy_report_.events[0].alternatives[1]
        for mechanism, event in zip(seen.mechanisms[-2:], counts, strict=True):
            assert mechanism.noise_multiplier == event.noise_multiplier
            assert mechanism.contribution_bound == 1.0


def test_the_fit_inside_has_noise_of_its_own_and_keeps_no_seed():
    """A plain fit with the same seed on the same records would have the same noise."""
    X, y, _ = records(240)
    rest, _ = parts_of(MODELS["intervals"], X, y)
    fitted = run(MODELS["intervals"], X, y).model.estimator_
    assert fitted.random_state is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = DPRidge(target_bounds=(-3, 3), random_state=0).fit(X[rest], y[rest])
    assert (plain.coef_ != fitted.coef_).all()


def test_chance_alone_parts_records():
    """Neither rows nor targets change who is in which part, nor does an order of labels."""
    model = MODELS["intervals"]
    X, y, _ = records(240)
    others = (X, y), (X[::-1], 1e3 * y), (0.0 * X, np.ones(240))
    seen = [parts_of(model, rows, targets) for rows, targets in others]
    for rest, held in seen[1:]:
        np.testing.assert_array_equal(rest, seen[0][0])
        np.testing.assert_array_equal(held, seen[0][1])
    assert not np.array_equal(seen[0][1], np.arange(len(held)))


def test_people_are_in_one_part_and_count_once():
    groups = np.arange(240) // 3
    X, y, _ = records(240)
    rest, held = parts_of(MODELS["intervals"], X, y, groups=groups)
    assert not set(groups[rest]) & set(groups[held])
    assert len(set(groups[held])) == len(held)
    assert len(set(groups[rest])) + len(held) == 80
    model = run(MODELS["intervals"], X, y, groups=groups).model
    assert model.n_calibration_ == len(held)
    assert model.privacy_report_.unit == "one group"
    assert any("a row of it" in note for note in model.privacy_report_.notes)
    frozen = DPConformalRegressor(FrozenEstimator(LinearRegression().fit(X, y)), random_state=0)
    seen = run(frozen, X, y, groups=groups)
    assert [value.sum() for value in seen.values] == [80, 80]
    assert seen.model.privacy_report_.unit == "one group"
    # A person's other rows change nothing of what is counted of others.
    X[groups == 7], y[groups == 7] = 0.0, 1e6
    other = run(frozen, X, y, groups=groups, script=seen.released)
    for before, after in zip(seen.values, other.values, strict=True):
        assert np.abs(before - after).sum() in (0, 2)


@pytest.mark.long
def test_too_few_records_make_intervals_infinite_and_say_how_many_it_takes():
    X, y, labels = records(80)
    with pytest.warns(UserWarning, match=r"^40 .* too few.*: intervals are infinite\. It takes"):
        model = DPConformalRegressor(DPRidge(), random_state=0).fit(X, y)
    assert model.quantile_ == INF
    assert (model.predict_interval(X) == [-INF, INF]).all()
    model = DPConformalClassifier(DPLogisticRegression(**TWO), random_state=0, epsilon=0.1)
    with pytest.warns(UserWarning, match="too few .*: sets have all classes"):
        model.fit(X, labels)
    assert model.quantile_ == INF
    assert model.predict_set(X).all()


def test_scores_that_lie_far_apart_take_more_records():
    X, y, _ = records(900)
    line = FrozenEstimator(LinearRegression().fit(X, y))
    errors = np.exp2(np.random.default_rng(3).uniform(-40.0, 40.0, len(y)))
    model = DPConformalRegressor(line, epsilon=0.5, random_state=0)
    match = "900 calibration records may be too few .*: intervals .* more the further apart"
    with pytest.warns(UserWarning, match=match):
        model.fit(X, line.predict(X) + errors)
    with warnings.catch_warnings(action="error"):
        model.fit(X, line.predict(X) + 1.0 + errors.clip(max=1.0))


def test_parts_that_are_unknown_or_charged_elsewhere_are_refused():
    X, y, labels = records(60)
    for estimator, match in (
        (LinearRegression(), "must be skdp's private regressor.*FrozenEstimator"),
        (DPLogisticRegression(), "must be a regressor"),
        (DPStandardScaler(), "must be a regressor|predict"),
        (FrozenEstimator(LogisticRegression().fit(X, labels)), "must be a regressor"),
        (FrozenEstimator(LinearRegression()), "not fitted yet"),
        (DPGridSearch(DPRidge(), {"alpha": [0.1]}), "must be skdp's private regressor"),
        (DPConformalRegressor(DPRidge()), "must be skdp's private regressor"),
        (DPRidge(epsilon=3.0), "epsilon of estimator is set"),
    ):
        with pytest.raises(ValueError, match=match):
            DPConformalRegressor(estimator).fit(X, y)
    for estimator, match in (
        (LogisticRegression(), "must be skdp's private classifier"),
        (WALRClassifier(**TWO), "must be skdp's private classifier"),
        (DPRidge(), "must be a classifier"),
        (DPSCDClassifier(loss="hinge", **TWO), "DPCalibratedClassifier"),
    ):
        with pytest.raises(ValueError, match=match):
            DPConformalClassifier(estimator).fit(X, labels)
    frozen = DPConformalRegressor(FrozenEstimator(LinearRegression().fit(X, y)))
    with pytest.raises(ValueError, match="calibration_size is for"):
        frozen.set_params(calibration_size=0.3).fit(X, y)
    with pytest.raises(ValueError, match="at least 2 records"):
        DPConformalRegressor(DPRidge()).fit(X[:1], y[:1])
    with pytest.raises(TypeError, match=r"calibrate the search.*FrozenEstimator\(search\)"):
        DPGridSearch(DPConformalRegressor(DPRidge()), {}).fit(X, y)
    with pytest.raises(ValueError, match=r"put it around: DPConformalRegressor\(DPPipeline"):
        make_private_pipeline(DPStandardScaler(), DPConformalRegressor(DPRidge())).fit(X, y)


def test_what_intervals_do_not_take_is_refused_with_what_to_do_instead(tmp_path):
    """Before anything is charged."""
    X, y, labels = records(60)
    both, ones = np.c_[y, y], np.ones(60)
    ledger = PrivacyLedger(tmp_path / "s.db", epsilon=1.0, delta=1e-3)
    one = DPConformalRegressor(DPRidge(), ledger=ledger)
    several = LinearRegression().fit(X, both)
    for target in (both, pd.DataFrame(both), both.tolist()):
        with pytest.raises(ValueError, match=r"for each target, with a share|1d array"):
            one.fit(X, target)
    frozen = DPConformalRegressor(FrozenEstimator(several), ledger=ledger)
    with pytest.raises(ValueError, match="for each target, with a share of epsilon"):
        frozen.fit(X, both)
    with pytest.raises(ValueError, match="must give one number for each row"):
        frozen.fit(X, y)
    sets = DPConformalClassifier(DPLogisticRegression(**TWO), ledger=ledger)
    for name in ("sample_weight", "public_weight", "exposure"):
        for model, target in ((one, y), (sets, labels)):
            with pytest.raises(TypeError, match=rf"{name}.*other records, and given as.*Frozen"):
                model.fit(X, target, **{name: ones})
    assert not ledger.to_dict()["charges"]


def test_rates_are_calibrated_by_a_model_that_is_frozen():
    """As the error says: the model takes exposures, and targets are rates."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (3000, 2))
    exposure = np.random.default_rng(1).uniform(0.5, 2.0, 3000)
    amounts = np.random.default_rng(2).poisson(3.0 * exposure).astype(float)
    model = DPPoissonRegressor(epsilon=20.0, random_state=0)
    model.fit(X[:1000], amounts[:1000], exposure=exposure[:1000])
    rates = amounts / exposure
    found = DPConformalRegressor(FrozenEstimator(model), random_state=0)
    low, high = found.fit(X[1000:2000], rates[1000:2000]).predict_interval(X[2000:]).T
    assert 0.85 < np.mean((low <= rates[2000:]) & (rates[2000:] <= high)) < 0.98


@pytest.mark.long
def test_what_goes_inside():
    X, y, labels = records(900)
    inside = make_private_pipeline(DPStandardScaler(feature_bounds=(-1, 1)), DPRidge())
    calibrated = DPCalibratedClassifier(DPSCDClassifier(loss="hinge", **TWO))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for estimator in (inside, DPAdditiveRegressor()):
            model = DPConformalRegressor(estimator, epsilon=4.0, random_state=0).fit(X, y)
            assert model.predict_interval(X).shape == (900, 2)
            assert model.privacy_report_.epsilon == 4.0
        model = DPConformalClassifier(calibrated, epsilon=4.0, random_state=0).fit(X, labels)
    assert model.predict_set(X).shape == (900, 2)
    assert model.estimator_.privacy_report_.epsilon == pytest.approx(4.0)
    # Probabilities that are calibrated here are the model's own.
    np.testing.assert_array_equal(model.predict_proba(X), model.estimator_.predict_proba(X))


@pytest.mark.long
def test_classes_of_all_records_are_those_of_the_part():
    """A class may have all of its records in the other part."""
    X, _, labels = records(120)
    labels[:] = np.arange(120) % 2
    labels[5] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(4):
            model = DPConformalClassifier(DPLogisticRegression(), random_state=seed)
            assert model.fit(X, labels).predict_set(X).shape == (120, 3)
            assert list(model.classes_) == list(model.estimator_.classes_) == [0, 1, 2]
    assert any("set of classes" in text for text in model.privacy_report_.assumed_public)


def test_a_score_of_intervals_is_private_by_other_records():
    """The fitted one is an estimator like others."""
    X, y, _ = records(2000)
    model = DPConformalRegressor(DPRidge(), random_state=0).fit(X[:1000], y[:1000])
    score = private_score(
        model, X[1000:], y[1000:], scoring="r2", epsilon=1.0, target_bounds=(-4, 4), random_state=0
    )
    assert score.value > 0.7


@pytest.mark.long
def test_a_quantile_far_from_all_records_is_warned_of():
    """Few records, and a level that leaves hardly any beyond the rank."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1.0, 1.0, (300, 2)), rng.normal(size=300)
    frozen = FrozenEstimator(LinearRegression().fit(X, y))
    wide, warned = [], []
    for seed in range(12):
        model = DPConformalRegressor(frozen, confidence_level=0.95, random_state=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        wide.append(model.quantile_ > 4.0)
        warned.append(bool(caught))
        assert all("too wide" in str(one.message) for one in caught)
    assert warned == wide
    assert 0 < sum(wide) < 12


@pytest.mark.parametrize("level", [1e-17, 1.0 - 1e-12])
def test_levels_too_near_to_the_ends_are_refused(level):
    model = DPConformalRegressor(DPRidge(), confidence_level=level)
    with pytest.raises(ValueError, match="confidence_level"):
        model.fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_the_report_of_the_model_inside_says_that_classes_were_read(classes):
    X, _, labels = records(2000)
    model = DPConformalClassifier(DPLogisticRegression(classes=classes), random_state=0)
    model.fit(X, labels)
    for report in (model.privacy_report_, model.estimator_.privacy_report_):
        said = [words for words in report.assumed_public if words.startswith("the set of classes")]
        assert len(said) == (classes is None)
