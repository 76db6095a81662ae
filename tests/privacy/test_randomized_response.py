"""Labels that coins replace: probabilities exactly as stated, and nothing else of labels anywhere.

Small cases are enumerated, in fractions. Statistical tests have an error rate below 1e-9.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from skdp.accountant import PrivacyReport, RandomizedResponseEvent, calibrate_response
from skdp.linear_model import label_aggregate
from tests._loops import for_each
from tests.door import RandomizedResponse, make_stream, mechanisms_module as mechanisms
from tests.privacy._cases import N_ROWS, label_neighbours
from tests.privacy._recipes import LABEL_CASES, RESPONSE_CASES
from tests.privacy._replay import record

EPSILONS = (1e-6, 0.01, 0.5, 1.0, math.pi, 7.0, 30.0, 60.0)
CLASSES = (2, 3, 5, 100)
WORDS = 2**64


class Words:
    """A stream of given words."""

    def __init__(self, words):
        self._words = np.array(words, dtype=np.uint64)

    def words(self, size):
        assert size == self._words.size
        return self._words


def mechanism_of(epsilon, n_classes):
    flip = calibrate_response(epsilon, n_classes=n_classes)
    event = RandomizedResponseEvent(flip, n_classes)
    return RandomizedResponse(flip, n_classes, event.noise_multiplier)


def outcomes(mechanism, label, words):
    labels = np.full(len(words), label)
    return mechanism.release(labels, Words(words))


@for_each("n_classes", CLASSES)
@for_each("epsilon", EPSILONS)
def test_probabilities_are_exactly_as_stated_and_enough(epsilon, n_classes):
    """All words between two ends go the same way, so that ends tell of all of them."""
    mechanism = mechanism_of(epsilon, n_classes)
    flip = Fraction(mechanism.flip_probability)
    count = flip * WORDS
    assert count.denominator == 1
    ends = [int(count) * i for i in range(n_classes)]
    for label in (0, 1, n_classes - 1):
        kept = set(range(n_classes)) - {label}
        for first, last in pairwise(ends):
            (response,) = set(outcomes(mechanism, label, [first, last - 1]).tolist())
            kept.remove(response)
        assert not kept
        assert set(outcomes(mechanism, label, [ends[-1], WORDS - 1]).tolist()) == {label}
    with localcontext() as context:
        context.prec = 60
        ratio = (1 - (n_classes - 1) * flip) / flip
        spent = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        stated = RandomizedResponseEvent(float(flip), n_classes).epsilon("replace_label")
        assert 0 <= spent <= Decimal(stated) <= Decimal(epsilon)
        if epsilon < 20.0:
            # Of large ones no finer probability is to be had.
            assert spent >= Decimal(epsilon) * (1 - Decimal("1e-6"))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_releases_of_small_words_and_data_sets_keep_the_guarantee(n_classes, monkeypatch):
    """Every word of eight bits, and every release of three labels and of their neighbours."""
    monkeypatch.setattr(mechanisms, "_WORDS", 256.0)
    mechanism = RandomizedResponse(41.0 / 256.0, n_classes, 1.0)
    words = np.arange(256)
    chances = np.array(
        [
            np.bincount(outcomes(mechanism, label, words), minlength=n_classes)
            for label in range(n_classes)
        ]
    )
    assert (chances[~np.eye(n_classes, dtype=bool)] == 41).all()
    fields = {"adjacency": "replace_label", "clipping": None, "accountant": "pld"}
    event = RandomizedResponseEvent(41.0 / 256.0, n_classes)
    report = PrivacyReport(epsilon=math.inf, delta=0.0, events=[event], **fields)
    spent = report.epsilon_at(0.0)
    data_sets = list(product(range(n_classes), repeat=3))

    def distribution(labels):
        joint = np.multiply.outer(np.multiply.outer(*chances[list(labels[:2])]), chances[labels[2]])
        return joint.ravel() / 256.0**3

    for labels in data_sets:
        for others in data_sets:
            changed = sum(a != b for a, b in zip(labels, others, strict=True))
            if not changed:
                continue
            p, q = distribution(labels), distribution(others)
            for epsilon in (0.0, 0.5 * spent, spent, 2.0 * spent, 3.0 * spent):
                delta = np.maximum(p - math.exp(epsilon) * q, 0.0).sum()
                if changed == 1:
                    assert delta <= report.delta_at(epsilon) + 1e-12
                    if n_classes == 2:
                        assert delta == pytest.approx(report.delta_at(epsilon), abs=1e-9)
                if delta > 1e-12:
                    assert report.epsilon_at(0.99 * delta, group_size=changed) > epsilon
            assert p.max() > 0.0
            assert np.log(p / q).max() <= changed * spent + 1e-12


@pytest.mark.parametrize("random_state", [0, None])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_flips_are_as_frequent_as_stated(random_state, n_classes):
    mechanism, n = mechanism_of(1.0, n_classes), 50_000
    stream = make_stream(random_state)
    labels = np.full(n, n_classes - 1)
    counts = np.bincount(mechanism.release(labels, stream), minlength=n_classes)
    assert (labels == n_classes - 1).all()
    expected = np.full(n_classes, mechanism.flip_probability)
    expected[-1] = 1.0 - (n_classes - 1) * mechanism.flip_probability
    assert stats.chisquare(counts, n * expected).pvalue > 1e-9
    assert stats.chisquare(counts, n * mechanism_probabilities(0.9, n_classes)).pvalue < 1e-9


def mechanism_probabilities(epsilon, n_classes):
    flip = calibrate_response(epsilon, n_classes=n_classes)
    return np.array([flip] * (n_classes - 1) + [1.0 - (n_classes - 1) * flip])


@pytest.mark.parametrize("case", RESPONSE_CASES, ids=str)
def test_given_the_responses_all_labels_look_the_same(case):
    """One release, of a label a row, and of labels nothing that isn't from it."""
    X, y = case.records(N_ROWS + 3)
    base = record(case, X, y, texts=True)
    assert [type(made) for made in base.mechanisms] == [RandomizedResponse]
    assert base.values[0].shape == base.released[0].shape == (len(X),)
    (event,) = base.estimator.privacy_report_.events
    assert event.flip_probability == base.mechanisms[0].flip_probability
    assert event.n_classes == base.mechanisms[0].n_classes == len(case.classes)
    assert base.estimator.privacy_report_.delta == 0.0
    changed = list(label_neighbours(case, y))
    labels = case.records(N_ROWS + 3, seed=1)[1]
    changed += [(None, labels), (None, np.full_like(y, case.classes[0]))]
    for k, moved in changed:
        other = record(case, X, moved, script=base.released, texts=True)
        if k is not None:
            assert (np.flatnonzero(base.values[0] != other.values[0]) == [k]).all()
        assert other.log == base.log
        assert other.published == base.published


def test_the_release_is_of_flipped_labels():
    """So that what is replayed above isn't the labels themselves."""
    case = RESPONSE_CASES[0]
    X, y = case.records(2000)
    made = record(case, X, y)
    assert 0.2 < (made.values[0] != made.released[0]).mean() < 0.34


@pytest.mark.long
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sums_are_unbiased_and_have_the_covariance_that_is_stated(n_classes, rng):
    """Of 400 releases: means within 7 standard errors, variances within 7 of theirs."""
    X = rng.standard_normal((150, 3)) * [1.0, 5.0, 0.2]
    y = np.arange(150) % n_classes
    options = {"mechanism": "randomized_response", "classes": range(n_classes)}
    exact = label_aggregate(X, y, epsilon=math.inf, **options)
    found = [label_aggregate(X, y, random_state=seed, **options) for seed in range(400)]
    off = np.array([one.sums - exact.sums for one in found])
    std = found[0].noise_std
    assert (np.abs(off.mean(axis=0)) < 7.0 * std / 20.0).all()
    assert (np.abs(off.std(axis=0) / std - 1.0) < 7.0 / math.sqrt(2.0 * 400) + 0.08).all()
    if n_classes == 2:
        whitened = off[:, 0] @ np.linalg.inv(np.linalg.cholesky(found[0].noise_cov)).T
        np.testing.assert_allclose(np.cov(whitened.T), np.eye(4), atol=7.0 * math.sqrt(2.0 / 400))
    else:
        total = np.array([one.sums.sum(axis=0) for one in found])
        np.testing.assert_allclose(total, np.tile(found[0].feature_sums, (400, 1)), atol=1e-9)


def test_the_choice_reads_no_label_and_suits_epsilon_and_rows(rng):
    X = rng.standard_normal((3000, 3))
    chosen = {}
    for n_rows in (30, 3000):
        for epsilon in (0.01, 0.3, 5.0, 20.0):
            (chosen[n_rows, epsilon],) = {
                label_aggregate(X[:n_rows], labels, epsilon=epsilon, classes=[0, 1]).mechanism
                for labels in (np.arange(n_rows) % 2, X[:n_rows, 0] > 0.0, np.zeros(n_rows))
            }
    gaussian = {of for of, mechanism in chosen.items() if mechanism == "gaussian"}
    assert gaussian == {(3000, 0.01), (3000, 0.3), (3000, 5.0)}


def test_what_cannot_be_chosen():
    case = LABEL_CASES[0]
    X, y = case.records()
    pure = {"delta": 0.0, "classes": case.classes}
    assert label_aggregate(X, y, epsilon=1e-3, **pure).mechanism == "randomized_response"
    for mechanism in ("analytic", "classic"):
        with pytest.raises(ValueError, match="delta"):
            label_aggregate(X, y, mechanism=mechanism, **pure)
    with pytest.raises(ValueError, match="epsilon"):
        label_aggregate(X, y, epsilon=1e-7, **pure)
    tiny = label_aggregate(X, y, epsilon=1e-7, classes=case.classes)
    assert tiny.mechanism == "gaussian"
    wide = np.random.default_rng(0).standard_normal((30, 501))
    labels = np.arange(30) % 2
    assert label_aggregate(wide, labels, epsilon=20.0).mechanism == "gaussian"
    assert label_aggregate(wide, labels, epsilon=20.0, delta=0.0).delta == 0.0
    for epsilon in (math.inf, 1.0):
        found = label_aggregate(X, y, epsilon=epsilon, mechanism="randomized_response")
        assert (found.flip_probability == 0.0) == math.isinf(epsilon)
        assert found.report.epsilon == epsilon


@pytest.mark.parametrize("flip", [-0.1, 0.6, 2.0**-65, 0.1 * 2.0**-60])
def test_a_mechanism_has_whole_words_only(flip):
    with pytest.raises(ValueError, match="whole words"):
        RandomizedResponse(flip, 2, 1.0)
