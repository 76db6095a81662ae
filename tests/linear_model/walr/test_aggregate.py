"""The noise that an aggregate states must be enough for what it promises."""

import dataclasses
import json
import math

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from skdp.linear_model import LabelAggregate, WALRClassifier, label_aggregate, walr_path
from tests._loops import for_each
from tests.door import GaussianMechanism, prepared_rows

INF = float("inf")
N_ROWS = 240


def near_duplicates(rng, gap):
    """Columns that nearly cancel: around where an adapted release takes them for rounding."""
    x = rng.standard_normal((N_ROWS, 3))
    return np.hstack([x, x[:, :2] + gap * rng.standard_normal((N_ROWS, 2))])


def one_typing_error(rng, gap):
    x = rng.standard_normal((N_ROWS, 4))
    twice = np.hstack([x, x])
    twice[7, 5] += gap
    return twice


def one_hot(rng):
    codes = rng.integers(0, 4, N_ROWS)
    return np.hstack([np.eye(4)[codes], rng.standard_normal((N_ROWS, 1))])


ROWS = {
    "normal": lambda rng: rng.standard_normal((N_ROWS, 5)),
    "scaled": lambda rng: StandardScaler().fit_transform(rng.uniform(size=(N_ROWS, 5))),
    "units": lambda rng: rng.standard_normal((N_ROWS, 5)) * [1.0, 1e6, 1e-4, 1e-9, 30.0],
    "long tails": lambda rng: rng.standard_t(1.5, (N_ROWS, 5)),
    "whole numbers": lambda rng: rng.poisson(0.3, (N_ROWS, 6)).astype(float),
    "one hot": one_hot,
    "float32": lambda rng: rng.standard_normal((N_ROWS, 5)).astype(np.float32),
    "rounded twins": lambda rng: np.hstack(
        [x := rng.standard_t(2, (N_ROWS, 3)), x.astype(np.float32)]
    ),
    "twins 1e-6": lambda rng: near_duplicates(rng, 1e-6),
    "twins 1e-7": lambda rng: near_duplicates(rng, 3e-7),
    "one error 1e-4": lambda rng: one_typing_error(rng, 1e-4),
    "one error 1e-5": lambda rng: one_typing_error(rng, 5e-6),
    "an outlier": lambda rng: np.vstack([1e5 * np.ones((1, 4)), rng.uniform(size=(N_ROWS, 4))]),
    "more columns": lambda rng: rng.standard_normal((30, 60)),
    "one row": lambda rng: rng.standard_normal((1, 3)),
    "zeros": lambda rng: np.zeros((N_ROWS, 3)),
    "ones": lambda rng: np.ones((N_ROWS, 3)),
    "a tiny column": lambda rng: rng.standard_normal((N_ROWS, 3)) * [1.0, 1e-200, 1e-120],
}
OPTIONS = [
    {},
    {"noise_shape": "spherical"},
    {"data_norm": 0.3},
    {"fit_intercept": False},
    {"fit_intercept": False, "noise_shape": "spherical", "data_norm": 1e-3},
    {"classes": [0, 1, 2]},
    {"classes": [0, 1, 2], "fit_intercept": False, "data_norm": 1.0},
    {"epsilon": 0.05, "mechanism": "classic", "classes": range(5)},
    {"epsilon": 30.0},
    {"epsilon": INF},
]
FLIPPED = [
    {"mechanism": "randomized_response"},
    {"mechanism": "randomized_response", "delta": 0.0, "classes": range(5), "epsilon": 0.05},
    {"mechanism": "randomized_response", "data_norm": 0.3, "epsilon": 30.0},
    {"mechanism": "randomized_response", "classes": [0, 1, 2], "fit_intercept": False},
    {"mechanism": "randomized_response", "epsilon": INF},
]


def made(X, rng, **options):
    options = {"classes": [0, 1], "delta": 1e-3 / len(X), "mechanism": "analytic", **options}
    return label_aggregate(X, rng.choice(list(options["classes"]), len(X)), **options)


@pytest.mark.long
@pytest.mark.parametrize("options", OPTIONS + FLIPPED, ids=str)
@for_each("kind", ROWS)
def test_honest_aggregates_pass(kind, options, rng):
    X = ROWS[kind](rng)
    found = LabelAggregate.from_json(made(X, rng, **options).to_json())
    prepared_rows(X, found, None)
    prepared_rows(X[rng.permutation(len(X))], found, None)


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        *OPTIONS[:2],
        *FLIPPED[:1],
        *(pytest.param(one, marks=pytest.mark.long) for one in OPTIONS[2:] + FLIPPED[1:]),
    ],
    ids=str,
)
@for_each("kind", [kind for kind in ROWS if kind not in ("one row", "zeros", "ones")])
def test_honest_sums_pass(kind, options, rng):
    """Also those of parts with noise of many shapes and sizes."""
    X = ROWS[kind](rng)
    options = {"data_norm": 2.0 * np.linalg.norm(X, axis=1).max()} | options
    changes = ({}, {"noise_shape": "spherical"}, {})
    if math.isfinite(options.get("epsilon", 1.0)):
        changes = ({}, {"noise_shape": "spherical"}, {"epsilon": 0.9})
    parts = [
        made(part, rng, **(options | change))
        for part, change in zip(np.array_split(X, 3), changes, strict=True)
    ]
    total = sum(parts)
    again = LabelAggregate.from_json(total.to_json())
    assert again == total == parts[0] + (parts[1] + parts[2])
    for name, value in vars(total).items():
        if name != "parts":
            np.testing.assert_array_equal(getattr(again, name), value)
    prepared_rows(X[::-1], again, None)


def test_what_a_release_leaves_out_as_rounding_needs_no_noise(rng):
    """Twins that differ in one row of many, by less than adapted coordinates have a direction for.

    Looked at together with the noise's own rounding, that row would be 1.3 times as long as it may.
    """
    X = np.repeat(rng.choice([-1.0, 1.0], (200_000, 1)), 2, axis=1)
    X[7, 1] += 1.8e-4
    found = made(X, rng, fit_intercept=False)
    assert np.linalg.cond(found.noise_cov) > 1e13
    prepared_rows(X, found, None)


def forge(found, **changes):
    """What the JSON says with other numbers."""
    content = json.loads(found.to_json())
    content |= {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in changes.items()
    }
    return json.dumps(content)


PRIVATE = [options for options in OPTIONS if options.get("epsilon") != INF]


@pytest.mark.long
@pytest.mark.parametrize("options", PRIVATE, ids=str)
@for_each("kind", ROWS)
def test_no_noise_is_seen_without_rows(kind, options, rng):
    found = made(ROWS[kind](rng), rng, **options)
    for share in (0.0, 1e-9):
        for sensitivity in (found.sensitivity, 0.0, None):
            text = forge(found, noise_cov=share * found.noise_cov, sensitivity=sensitivity)
            with pytest.raises(ValueError, match=r"noise_cov is too small|sensitivity must"):
                LabelAggregate.from_json(text)


@pytest.mark.parametrize("options", PRIVATE, ids=str)
@for_each("kind", ["normal", "scaled", "one hot", "long tails", "more columns"])
def test_two_percent_less_variance_is_seen_with_rows(kind, options, rng):
    X = ROWS[kind](rng)
    found = made(X, rng, **options)
    forged = LabelAggregate.from_json(
        forge(found, noise_cov=0.98 * found.noise_cov, sensitivity=0.98 * found.sensitivity)
    )
    model = WALRClassifier(fit_intercept=forged.bias > 0.0)
    for train in (model.fit_aggregate, walr_path):
        with pytest.raises(ValueError, match="noise_cov is too small for rows of X"):
            train(X, forged)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("options", PRIVATE, ids=str)
def test_one_direction_without_noise_is_seen(options, rng):
    X = ROWS["normal"](rng)
    found = made(X, rng, **options)
    values, vectors = np.linalg.eigh(found.noise_cov)
    for missing in range(values.size):
        left = values * (np.arange(values.size) != missing)
        text = forge(found, noise_cov=(vectors * left) @ vectors.T, sensitivity=1e-9)
        with pytest.raises(ValueError, match="noise_cov is too small"):
            prepared_rows(X, LabelAggregate.from_json(text), None)


@pytest.mark.parametrize("noise_shape", ["adapted", "spherical"])
def test_a_release_with_half_the_noise_is_not_handed_out(noise_shape, rng, monkeypatch):
    honest = GaussianMechanism.noise_std.fget
    monkeypatch.setattr(GaussianMechanism, "noise_std", property(lambda self: 0.5 * honest(self)))
    with pytest.raises(ValueError, match="noise_cov is too small"):
        made(ROWS["normal"](rng), rng, noise_shape=noise_shape)


@pytest.mark.parametrize("noise_shape", ["adapted", "spherical"])
def test_longer_rows_than_the_noise_is_for_are_seen(noise_shape, rng):
    """A larger data_norm lets rows be longer, whose sums are adjusted as well."""
    X = ROWS["normal"](rng)
    found = made(X, rng, data_norm=0.5, noise_shape=noise_shape)
    other = made(X, rng, data_norm=0.51, noise_shape=noise_shape)
    with pytest.raises(ValueError, match="other rows"):
        prepared_rows(X, LabelAggregate.from_json(forge(found, data_norm=0.51)), None)
    text = forge(found, data_norm=0.51, bias=other.bias, part_sums=other.part_sums)
    with pytest.raises(ValueError, match="noise_cov is too small"):
        prepared_rows(X, LabelAggregate.from_json(text), None)


FEWER_FLIPS = [
    ({"flip_probability": 0.2}, "flip_probability is too small"),
    ({"flip_probability": 0.0}, "flip_probability is too small"),
    ({"epsilon": 0.99}, "flip_probability is too small"),
    ({"noise_multiplier": 0.9}, "noise_multiplier"),
    ({"sensitivity": 1.0}, "sensitivity"),
]


@pytest.mark.parametrize(("changes", "problem"), FEWER_FLIPS, ids=str)
def test_fewer_flips_than_promised_are_seen_without_rows(changes, problem, rng):
    found = made(ROWS["normal"](rng), rng, **FLIPPED[0])
    with pytest.raises(ValueError, match=problem):
        dataclasses.replace(found, **changes)
    with pytest.raises(ValueError, match="not the JSON"):
        LabelAggregate.from_json(forge(found, **changes))


@pytest.mark.parametrize("options", FLIPPED[:-1], ids=str)
@for_each("kind", ["normal", "scaled", "one hot", "long tails", "more columns"])
def test_another_covariance_than_that_of_flips_is_seen_with_rows(kind, options, rng):
    X = ROWS[kind](rng)
    found = made(X, rng, **options)
    for share in (0.0, 1e-9):
        if not (kind == "scaled" and found.bias == 0.0):  # centred: of their mean nothing is left
            with pytest.raises(ValueError, match="noise_cov is too small"):
                LabelAggregate.from_json(forge(found, noise_cov=share * found.noise_cov))
    for share in (0.999, 1.001):
        forged = LabelAggregate.from_json(forge(found, noise_cov=share * found.noise_cov))
        with pytest.raises(ValueError, match="noise_cov isn't that of flipped labels"):
            prepared_rows(X, forged, None)


def test_a_text_that_names_no_mechanism_is_of_gaussian_noise(rng):
    found = made(ROWS["normal"](rng), rng)
    content = json.loads(found.to_json())
    assert content.pop("mechanism") == "gaussian"
    assert LabelAggregate.from_json(json.dumps(content)) == found
    for other in ("randomized_response", "none", None):
        with pytest.raises(ValueError, match="not the JSON"):
            LabelAggregate.from_json(json.dumps(content | {"mechanism": other}))


def test_a_part_without_enough_noise_spoils_a_sum(rng):
    """The noise of the other parts doesn't make up for it."""
    X = ROWS["normal"](rng)
    halves = X[:120], X[120:]
    options = {"data_norm": 3.0, "noise_shape": "spherical", "fit_intercept": False}
    first, second = (made(half, rng, **options) for half in halves)
    texts = [forge(first, noise_cov=0.25 * first.noise_cov), second.to_json()]
    with pytest.raises(ValueError, match="noise_cov is too small"):
        LabelAggregate.from_json(f'{{"parts": [{", ".join(texts)}]}}')
    # Stated as they are, parts may be for shorter rows than those of X; added up they'd be enough.
    total = sum(stated_less(part, 0.6) for part in (first, second))
    assert total.noise_multiplier == first.noise_multiplier
    assert (total.noise_std > first.noise_std).all()
    with pytest.raises(ValueError, match="rows of X"):
        prepared_rows(X, total, None)


def stated_less(found, share):
    size = math.sqrt(share) * found.sensitivity
    text = forge(found, noise_cov=share * found.noise_cov, sensitivity=size)
    return LabelAggregate.from_json(text)


def test_three_classes_need_twice_the_variance(rng):
    X = ROWS["normal"](rng)
    options = {"noise_shape": "spherical", "random_state": 0}
    two, three = made(X, rng, **options), made(X, rng, classes=[0, 1, 2], **options)
    np.testing.assert_allclose(three.noise_cov, 2.0 * two.noise_cov, rtol=1e-4)
    text = forge(three, noise_cov=two.noise_cov, sensitivity=two.sensitivity)
    with pytest.raises(ValueError, match="rows of X"):
        prepared_rows(X, LabelAggregate.from_json(text), None)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_rows": 10 * N_ROWS},
        {"bias": 0.1},
        {"sensitivity": None},
        {"sensitivity": 0.0},
        {"sensitivity": 100.0},
        {"noise_multiplier": 100.0},
        {"noise_cov": np.array([[1.0, 2.0], [2.0, 1.0]])},
        {"names": ["a", "b"], "part_sums": np.zeros((2, 2))},
    ],
    ids=str,
)
def test_numbers_that_do_not_go_together_are_refused(changes, rng):
    found = made(rng.standard_normal((N_ROWS, 1)), rng)
    (name, *_) = changes
    with pytest.raises(ValueError, match=f"{name}|part_sums"):
        LabelAggregate(**(vars(found) | changes))
    with pytest.raises(ValueError, match="not the JSON"):
        LabelAggregate.from_json(forge(found, **changes))


@pytest.mark.parametrize(
    "text", ['{"parts": []}', '{"parts": 1}', '["parts"]', '"parts"', '{"parts": ["a"]}']
)
def test_sums_of_nothing_are_refused(text):
    with pytest.raises(ValueError, match="LabelAggregate"):
        LabelAggregate.from_json(text)


def test_the_same_records_are_noticed_where_columns_are_centred(rng):
    """Their sums are rounding errors, which have no digit in common."""
    X = rng.standard_normal((300, 4))
    X = (X - X.mean(axis=0)) / 10.0
    y, order = rng.integers(0, 2, 300), rng.permutation(300)
    options = {"classes": [0, 1], "data_norm": 2.0, "mechanism": "analytic"}
    once = label_aggregate(X, y, **options)
    with pytest.raises(ValueError, match="in common"):
        once + label_aggregate(X[order], y[order], **options)
