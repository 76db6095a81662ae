"""What the run of an own estimator releases: what a record adds, and what is refused."""

import math
import pickle

import numpy as np
import pytest

from skdp.accountant import calibrate
from skdp.extend import Choice, DPBaseEstimator, DPBaseRegressor, Sum, Value
from tests._loops import for_each
from tests.door import null_records, own_run_module, spied_releases

N = 50


class Own(DPBaseEstimator):
    """Plans what it is given, and learns by a function that it is given."""

    def __init__(
        self,
        releases=None,
        learning=None,
        *,
        epsilon=1.0,
        delta=1e-3,
        adjacency="zero_out",
        ledger=None,
        random_state=0,
    ):
        self.releases = releases
        self.learning = learning
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    def plan_releases(self, sizes):
        return self.releases

    def learn(self, X, y, run):
        self.learnt_ = self.learning(X, run)


class Other(Own):
    """Another class that does the same."""


@pytest.fixture
def X(rng):
    # Lengths are from a thousandth to a thousand times the bound.
    rows = rng.standard_normal((N, 4))
    return rows * 10.0 ** np.linspace(-3, 3, N)[:, np.newaxis]


def values_of(estimator, X):
    """The values of a fit's releases."""
    with spied_releases() as made:
        estimator.fit(X)
    return [one.value for one in made]


def summed(part, bound=2.0, shape=(4,)):
    return Own([Sum("sum", shape, bound)], lambda X, run: run.sum("sum", part, X))


@pytest.mark.long
def test_a_part_is_cut_to_the_bound_and_a_null_record_adds_nothing(X):
    model = summed(lambda X: X)
    with spied_releases() as made:
        model.fit(X)
    mechanism, (value,) = made[0].mechanism, [one.value for one in made]
    cut = X * np.minimum(1.0, 2.0 / np.linalg.norm(X, axis=1))[:, np.newaxis]
    np.testing.assert_allclose(value, cut.sum(axis=0), atol=N * mechanism.grid)
    for record in range(N):
        with null_records([record]):
            (without,) = values_of(model, X)
        moved = np.linalg.norm(value - without)
        expected = min(2.0, np.linalg.norm(X[record]))
        assert moved == pytest.approx(expected, rel=1e-9, abs=2.0 * mechanism.grid)
        assert moved <= mechanism.sensitivity


@for_each("entry", [np.nan, np.inf, -np.inf, 1e300])
def test_a_part_without_a_length_is_nothing(entry):
    X = np.ones((N, 4))

    def part(X):
        parts = X.copy()
        parts[0, 1] = entry
        return parts

    (value,) = values_of(summed(part), X)
    np.testing.assert_allclose(value, N - 1.0, atol=1e-4)


def test_a_sum_follows_neither_from_the_order_of_records_nor_from_blocks(X, rng, monkeypatch):
    (whole,) = values_of(summed(lambda X: X), X)
    monkeypatch.setattr(own_run_module, "_NUMBERS_AT_ONCE", 4 * 7)
    (in_blocks,) = values_of(summed(lambda X: X), X)
    (shuffled,) = values_of(summed(lambda X: X), X[rng.permutation(N)])
    assert np.array_equal(whole, in_blocks)
    assert np.array_equal(whole, shuffled)


def test_without_privacy_nothing_is_cut(X):
    model = summed(lambda X: X).set_params(epsilon=math.inf).fit(X)
    np.testing.assert_allclose(model.learnt_, X.sum(axis=0))
    model.set_params(learning=lambda X, run: run.sum("sum", lambda X: run.clip_rows(X, 1e-3), X))
    np.testing.assert_allclose(model.fit(X).learnt_, X.sum(axis=0))


def test_rows_are_clipped_to_a_length(X):
    def learn(X, run):
        self_clipped.append(run.clip_rows(X, 0.5))
        return run.sum("sum", lambda X: X, X)

    self_clipped = []
    Own([Sum("sum", 4, 1.0)], learn).fit(X)
    lengths = np.linalg.norm(self_clipped[0], axis=1)
    assert lengths.max() <= 0.5 * (1.0 + 1e-12)
    np.testing.assert_allclose(lengths, np.minimum(0.5, np.linalg.norm(X, axis=1)))


@for_each("epsilon, highest", [(1.0, 2.0), (math.inf, 9.0)])
def test_numbers_are_moved_into_a_range(epsilon, highest):
    def learn(X, run):
        return run.clip(X, -1.0, 2.0), run.sum("sum", np.zeros_like, X)

    model = Own([Sum("sum", 3, 1.0)], learn, epsilon=epsilon)
    clipped, _ = model.fit(np.array([[0.5, 9.0, 0.0]] * N)).learnt_
    assert np.array_equal(clipped[0], [0.5, highest, 0.0])


def test_null_records_arent_there_and_count(X):
    with null_records([3, 8]):
        model = Own(
            [Sum("sum", (), 1.0)],
            lambda X, run: (len(X), run.n_records, run.sum("sum", lambda X: X[:, 0], X)),
        ).fit(X)
    assert model.learnt_[:2] == (N - 2, N)


@for_each("given, expected", [(np.full(3, 1e9), N), (np.array([-9e99, np.nan, 2.0]), None)])
def test_values_are_cut_to_what_records_can_make(given, expected):
    model = Own([Value("value", 3, 1.0)], lambda X, run: run.release("value", given))
    (value,) = values_of(model, np.zeros((N, 1)))
    assert np.array_equal(value, np.full(3, N) if expected else [-N, 0.0, 2.0])


def test_shares_and_steps_come_to_the_budget():
    releases = [Sum("a", 2, 1.0, share=3), Value("b", (), 5.0, n_steps=4), Choice("c", n_steps=2)]

    def learn(X, run):
        run.sum("a", lambda X: np.ones((len(X), 2)), X)
        for _ in range(4):
            run.release("b", 1.0)
        return [run.choose("c", np.arange(3)) for _ in range(2)]

    model = Own(releases, learn).fit(np.zeros((N, 1)))
    report = model.privacy_report_
    assert report.names == ("a", "b", "c")
    spent = [event.n_steps / event.noise_multiplier**2 for event in report.events]
    np.testing.assert_allclose(np.divide(spent, sum(spent)), [0.6, 0.2, 0.2], rtol=1e-6)
    assert sum(spent) <= report.mu**2 * (1.0 + 1e-9)
    assert 0.999 <= report.epsilon_at(1e-3) <= 1.0
    assert model.set_params(adjacency="replace_one").fit(np.zeros((N, 1))).delta_ * 1e3 >= 1.0


def test_noise_is_what_was_said_of_it(X):
    def learn(X, run):
        return run.noise_std("sum"), run.sum("sum", lambda X: np.zeros((len(X), 5000)), X)

    said, noisy = Own([Sum("sum", 5000, 2.0)], learn).fit(X).learnt_
    # A deviation of 5,000 numbers is off by 5 % in fewer than one run of 10^6.
    assert np.std(noisy) == pytest.approx(said, rel=0.05)
    assert said == pytest.approx(2.0 * calibrate(1.0, 1e-3), rel=1e-3)


def test_classes_and_seeds_have_noise_of_their_own(X):
    kinds = Own, Own, Other
    noisy = [kind([Sum("sum", 4, 1.0)], summed(np.abs).learning).fit(X).learnt_ for kind in kinds]
    assert np.array_equal(noisy[0], noisy[1])
    assert not np.isin(noisy[0], noisy[2]).any()


def test_a_pair_bound_is_for_replaced_records_and_never_doubled():
    def std(**bounds):
        model = Own([Value("v", (), **bounds)], lambda X, run: run.noise_std("v"))
        model.set_params(adjacency="replace_one", epsilon=1.0)
        model.learning = lambda X, run: (run.noise_std("v"), run.release("v", 0.0))[0]
        return model.fit(np.zeros((N, 1))).learnt_

    assert std(bound=1.0, pair_bound=2.0) == pytest.approx(std(bound=1.0), rel=1e-5)
    assert std(bound=1.0, pair_bound=1.5) == pytest.approx(0.75 * std(bound=1.0), rel=1e-5)


ONE = [Sum("sum", 4, 1.0)]
REFUSED = {
    "isn't planned": (ONE, lambda X, run: run.sum("other", np.abs, X)),
    "'sum' was planned, and not released": (ONE, lambda X, run: None),
    "all of 'sum' were already": (ONE, lambda X, run: [run.sum("sum", np.abs, X) for _ in "12"]),
    "of 'v' not as many": ([Value("v", 1, 1.0, n_steps=2)], lambda X, run: run.release("v", [1])),
    "planned as a Sum: ask for it by run.sum": (ONE, lambda X, run: run.release("sum", X[0])),
    "planned as a Value: ask": ([Value("v", 1, 1.0)], lambda X, run: run.choose("v", [1])),
    "'x' isn't planned": (ONE, lambda X, run: run.noise_std("x")),
    r"must have the shape \(b, \*\(4,\)\)": (ONE, lambda X, run: run.sum("sum", np.sum, X)),
    r"must have the shape \(2,\)": ([Value("v", 2, 1.0)], lambda X, run: run.release("v", 1.0)),
    "'sum' must have one entry": (ONE, lambda X, run: run.sum("sum", np.abs, np.vstack([X, X]))),
    "one entry for each": (ONE, lambda X, run: run.sum("sum", lambda X, y: X, X, X[:9])),
    "arrays of 'sum'": (ONE, lambda X, run: run.sum("sum", np.zeros)),
    "flat list of whole": ([Choice("c")], lambda X, run: run.choose("c", [1.0, 2.0])),
    "with one at least": ([], None),
    "return a list of": (Sum("sum", 4, 1.0), None),
    "list of skdp.extend.Sum": (["sum"], None),
    "have the same name": (2 * ONE, None),
}


@for_each("message, case", REFUSED.items())
def test_what_is_refused(message, case, X):
    with pytest.raises((RuntimeError, ValueError, TypeError), match=message):
        Own(*case).fit(X)


@for_each("seed", [0, None])
def test_a_run_that_was_kept_gives_nothing_more_and_holds_no_noise(seed, X):
    def learn(X, run):
        kept.append(run)
        return run, run.sum("sum", lambda X: np.zeros((len(X), 4)), X)

    kept = []
    run, noise = pickle.loads(pickle.dumps(Own(ONE, learn, random_state=seed).fit(X).learnt_))
    assert run.noise_std("sum") > 0.0
    # The sum itself is 0. A stream keeps a block of normals, of which noise is a multiple.
    assert len(pickle.dumps(run)) < 3000
    with pytest.raises(RuntimeError, match="the fit is over"):
        run.sum("sum", np.abs, X)
    assert noise.all()
    with pytest.raises(ValueError, match="one entry for each"):
        Own(ONE, lambda X, run: (kept.append(run), run.sum("sum", np.abs, X[:3]))).fit(X)
    assert len(pickle.dumps(kept[1])) < 3000


@for_each("scores", [np.array([0, 2**64 - 1], np.uint64), np.array([-(2**63), 2**63 - 1])])
def test_far_scores_are_no_small_ones(scores):
    for _ in range(20):
        model = Own([Choice("c")], lambda X, run: run.choose("c", scores), random_state=None)
        assert model.fit(np.zeros((N, 1))).learnt_ == 1
    model.set_params(learning=lambda X, run: run.choose("c", np.zeros(3, np.uint8)))
    assert model.fit(np.zeros((N, 1))).learnt_ in range(3)


@for_each(
    "make",
    [
        lambda: Sum("", 1, 1.0),
        lambda: Sum("s", 0, 1.0),
        lambda: Sum("s", 1, 0.0),
        lambda: Sum("s", 1, math.inf),
        lambda: Sum("s", 1, 1.0, share=0.0),
        lambda: Sum("s", 1, 1.0, n_steps=0),
        lambda: Value("s", 1, 1.0, pair_bound=3.0),
        lambda: Choice("s", bound=0.5),
    ],
)
def test_releases_that_cant_be_planned(make):
    with pytest.raises(ValueError, match=r"must|needs"):
        make()


def test_a_constructor_without_the_parameters_of_a_budget_is_refused(X):
    class Lacks(Own):
        def __init__(self, *, epsilon=1.0, delta=1e-3):
            self.epsilon, self.delta = epsilon, delta

    with pytest.raises(TypeError, match=r"lacks the parameters .* adjacency, ledger, random_state"):
        Lacks().fit(X)

    class LacksAll(DPBaseRegressor):
        pass

    with pytest.raises(TypeError, match=r"lacks the parameters .* epsilon, delta, adjacency"):
        LacksAll().fit(X, X[:, 0])


def test_a_class_must_write_its_plan_and_what_it_learns(X):
    class Bare(Own):
        plan_releases, learn = DPBaseEstimator.plan_releases, DPBaseEstimator.learn

    with pytest.raises(NotImplementedError, match="Bare must have a method plan_releases"):
        Bare().fit(X)
    Bare.plan_releases = lambda self, sizes: ONE
    with pytest.raises(NotImplementedError, match="Bare must have a method learn"):
        Bare().fit(X)


def test_the_report_says_whose_bounds_they_are(X):
    report = summed(np.abs).fit(X).privacy_report_
    assert report.notes == (
        "Own isn't a class of skdp: its author answers for what it publishes besides releases.",
    )
    planned = [Value("moment", 1, 1.0), Sum("sum", 4, 1.0)]
    model = Own(planned, lambda X, run: (run.release("moment", [1.0]), run.sum("sum", np.abs, X)))
    assert model.fit(X).privacy_report_.notes[0].endswith(", and for the bound of 'moment'.")
