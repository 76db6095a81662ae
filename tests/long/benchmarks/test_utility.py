"""The comparison of methods runs on small data, and its rivals are what they say."""

import json
import math
import sys
from types import ModuleType
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit, ndtr
from sklearn.metrics import log_loss, r2_score

EPSILON, DELTA = 0.7, 1e-5


def delta_of(mu, epsilon):
    """Return the exact delta of a Gaussian mechanism."""
    return ndtr(-epsilon / mu + mu / 2.0) - math.exp(epsilon) * ndtr(-epsilon / mu - mu / 2.0)


@pytest.fixture
def utility(load_script, data):
    return load_script("utility")


@pytest.fixture
def tables(load_script, data):
    return load_script("_utility_sets")


@pytest.fixture
def adassp(load_script):
    return load_script("peers/adassp")


@pytest.fixture
def perturbation(load_script):
    return load_script("peers/objective_perturbation")


@pytest.fixture
def descent(load_script):
    return load_script("peers/gradient_descent")


@pytest.fixture
def recorded(utility, monkeypatch):
    """The script with few methods, and a list of the tasks that they were given."""
    calls = []

    def record(name):
        method = utility.METHODS[name]

        def fits(table, epsilon, tasks):
            calls.extend((name, epsilon, *task) for task in tasks)
            return method.fits(table, epsilon, tasks)

        return method._replace(fits=fits)

    names = (
        "no privacy",
        utility.WEAK,
        "base rate",
        "whitened",
        "DPSGD",
        "AdaSSP",
        "objective perturbation",
    )
    monkeypatch.setattr(utility, "METHODS", {name: record(name) for name in names})
    return calls


def test_it_runs_and_goes_on_after_a_break(utility, recorded, run, tmp_path, capsys, monkeypatch):
    cache = f"--epsilons 0.5 1 --seeds 1 2 --cache {tmp_path / 'cache'}"
    table = run("utility", f"--sets diabetes breast_cancer {cache}", "utility")
    first = capsys.readouterr().out
    assert len(table) == 2 * 3 + 2 * 4 + 2 * 3
    assert set(table["seeds"]) == {1, 2}
    of_regression = table["task"] == "regression"
    for name in ("accuracy", "auc", "log_loss", "risk"):
        assert table[name].isna().equals(of_regression)
    assert table["r2"].notna().equals(of_regression)
    chosen = table["chosen"].notna()
    assert set(table.loc[chosen, "method"]) == {
        utility.WEAK,
        "AdaSSP",
        "objective perturbation",
    }
    for column, name in utility.REFERENCES.items():
        of_method = table[table["method"] == name].set_index("set")
        expected = of_method["log_loss"].fillna(of_method["r2"])
        assert (table.groupby("set")[column].nunique() == 1).all()
        assert table.groupby("set")[column].first().to_dict() == expected.to_dict()
    # Settings are chosen at a seed that nothing is reported of.
    for _, _, setting, seed in recorded:
        assert seed in ((0, 1, 2) if len(dict(setting).keys() - {"alpha"}) else (1, 2))
    of_choice = [call for call in recorded if call[3] == 0]
    assert len(of_choice) == 2 * (4 + 6 * 3 + 6)

    n_calls = len(recorded)
    again = run("utility", f"--sets diabetes breast_cancer {cache}", "utility")
    assert len(recorded) == n_calls
    pd.testing.assert_frame_equal(again, table)
    run("utility", "--verdict", "utility")
    assert capsys.readouterr().out.endswith(first)
    assert len(recorded) == n_calls
    assert not list(tmp_path.rglob("*_accuracy.png"))
    monkeypatch.setattr(utility, "PICTURED", "breast_cancer")
    run("utility", "--verdict", "utility")
    for measure in ("accuracy", "log_loss"):
        (picture,) = tmp_path.rglob(f"utility_breast_cancer_{measure}.png")
        assert picture.stat().st_size > 10_000


def test_an_unfinished_run_has_a_table(utility, recorded, run, tmp_path):
    options = f"--epsilons 1 --cache {tmp_path / 'cache'}"
    run("utility", f"--sets diabetes {options} --seeds 2", "utility")
    n_calls = len(recorded)
    table = run("utility", f"--sets diabetes digits {options} --seeds 1 2 3 --kept", "utility")
    assert len(recorded) == n_calls
    private = table["epsilon"] < math.inf
    assert set(table["set"]) == {"diabetes"}
    assert set(table.loc[private, "method"]) == {
        "whitened",
        "DPSGD",
        "AdaSSP",
        "objective perturbation",
    }
    assert set(table["seeds"]) == {1}


def test_the_choosing_seed_is_refused(utility, capsys):
    with pytest.raises(SystemExit):
        utility.main(["--seeds", "0", "1"])
    assert "choose settings" in capsys.readouterr().err


def test_tables_are_bounded_and_parted(tables, folder):
    rows = {"rare": 400, "credit": 500, "credit_wide": 500}
    for name, source in tables.TABLES.items():
        sizes = {"n_train": rows[name], "n_test": 50} if name in rows else {}
        file = folder / f"{source.options.get('name', '')}.csv.gz"
        if name in ("bank_marketing", "bank_wide", "millionsong_cs190"):
            assert not file.exists()
            continue
        table = source.load(**source.options, **sizes)
        for X in (table.X_train, table.X_test):
            assert np.linalg.norm(X, axis=1).max() <= table.data_norm * (1.0 + 1e-12)
        assert len(table.X_train) == len(table.y_train)
        assert len(table.X_test) == len(table.y_test) > 0
        if table.task == "regression":
            assert np.abs(table.y_train).max() <= 1.0
        elif table.task == "binary":
            assert set(table.y_train) == {-1.0, 1.0}
            assert 0.0 < table.rate < 1.0
        else:
            assert table.n_classes == 10
    adult = tables.TABLES["adult"].load(**tables.TABLES["adult"].options)
    assert adult.data_norm == pytest.approx(math.sqrt(0.2 * 4 + 4))
    assert adult.X_train.shape[0] == 200


def test_widened_bounds(tables):
    low, high = tables.widen([0.0, 0.0, 0.0, -1.0], [1.0, 1.0, 1.0, 1.0], 5.0)
    np.testing.assert_allclose(low, [-2.0, 0.0, 0.0, -5.0])
    np.testing.assert_allclose(high, [3.0, 1.0, 1.0, 5.0])


def test_labels_have_the_rate(tables, rng):
    logits = rng.normal(0.0, 2.0, 10**5)
    y, risk = tables._draw_labels(rng, logits, 0.01)
    assert risk.mean() == pytest.approx(0.01)
    # 6 standard errors.
    assert np.mean(y == 1.0) == pytest.approx(0.01, abs=0.002)


def test_measures(utility, tables, rng):
    def found(task, y, prediction):
        table = tables.Table(None, y, None, y, 1.0, task, 0.5)
        return dict(zip(utility.MEASURES, utility.measure(table, prediction), strict=True))

    decision = rng.normal(size=200)
    y = np.where(rng.uniform(size=200) < expit(decision), 1.0, -1.0)
    binary = found("binary", y, decision)
    assert binary["log_loss"] == pytest.approx(log_loss(y, expit(decision)))
    assert binary["accuracy"] == np.mean(np.sign(decision) == y)
    assert binary["risk"] == pytest.approx(expit(decision).mean() / 0.5)
    assert math.isnan(binary["r2"])
    probabilities = rng.dirichlet(np.ones(3), 200)
    labels = np.arange(200) % 3
    several = found("multiclass", labels, probabilities)
    assert several["log_loss"] == pytest.approx(log_loss(labels, probabilities))
    assert 0.3 < several["auc"] < 0.7
    squares = found("regression", decision, decision + 0.1 * y)
    assert squares["r2"] == pytest.approx(r2_score(decision, decision + 0.1 * y))
    assert np.isfinite(found("binary", y, np.full(200, np.nan))["log_loss"])


class _Ones:
    """A generator of which each number is 1."""

    def normal(self, size=None):
        return 1.0 if size is None else np.ones(size)


def test_adassp_releases_what_its_guarantee_says(adassp, rng, monkeypatch):
    multipliers = adassp.noise_multipliers(EPSILON, DELTA)
    mu = math.sqrt(np.sum(multipliers**-2.0))
    assert DELTA * (1 - 1e-3) <= delta_of(mu, EPSILON) <= DELTA * (1 + 1e-9)
    # The noise of the matrix is spherical where off-diagonal entries count twice.
    draws = np.array([adassp.symmetric_noise(3, rng) for _ in range(20_000)])
    assert (draws == draws.transpose(0, 2, 1)).all()
    # Means of 20,000 squares are off by 7 % with probability below 1e-11.
    expected = np.where(np.eye(3), 1.0, 0.5)
    np.testing.assert_allclose((draws**2).mean(axis=0), expected, rtol=0.07)

    monkeypatch.setattr(adassp.np.random, "default_rng", lambda seed: _Ones())
    X, y, norm = rng.normal(size=(50, 3)), rng.uniform(-1.0, 1.0, 50), 5.0
    found = adassp.fit_adassp(X, y, EPSILON, DELTA, row_norm=norm)
    s = math.sqrt(3.0) / mu
    least = np.linalg.eigvalsh(X.T @ X)[0] + s * norm**2 * (1 - math.sqrt(math.log(6 / DELTA)))
    penalty = s * norm**2 * math.sqrt(3 * math.log(2 * 9 / 0.05)) - max(least, 0.0)
    moment = X.T @ X + s * norm**2 * np.ones((3, 3)) + penalty * np.eye(3)
    np.testing.assert_allclose(found, np.linalg.solve(moment, X.T @ y + s * norm), rtol=1e-9)


def test_adassp_without_noise_is_least_squares(adassp, rng):
    X = rng.normal(size=(500, 3))
    y = X @ [0.1, -0.2, 0.3]
    found = adassp.fit_adassp(X, y, math.inf, DELTA, row_norm=5.0, seed=0)
    np.testing.assert_allclose(found, [0.1, -0.2, 0.3], atol=1e-3)


@pytest.mark.parametrize(("mu", "lost"), [(0.2, 0.1), (0.9, 0.0), (1.5, 0.6)])
def test_the_profile_of_objective_perturbation(perturbation, mu, lost):
    """The expectation over |Z| that its closed form stands for."""

    def integrand(z):
        loss = lost + mu**2 / 2.0 + mu * z
        return 2.0 * math.exp(-(z**2) / 2.0) / math.sqrt(2 * math.pi) * -math.expm1(EPSILON - loss)

    first = max((EPSILON - lost - mu**2 / 2.0) / mu, 0.0)
    expected = quad(integrand, first, first + 12.0, epsabs=1e-14)[0]
    assert perturbation.profile(EPSILON, mu, lost) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("share", [0.03, 0.9])
def test_objective_perturbation_keeps_its_guarantee_in_one_dimension(perturbation, share):
    """Both hockey-stick divergences of the exact densities of w, with and without a record."""
    delta, row_norm = 0.01, 2.0
    penalty = 0.25 * row_norm**2 / math.expm1(share * EPSILON)
    lost = math.log1p(0.25 * row_norm**2 / penalty)
    mu = perturbation.calibrate_objective(EPSILON, delta, lost)
    assert perturbation.profile(EPSILON, mu, lost) == pytest.approx(delta, rel=1e-6)
    sigma = row_norm / mu
    # The record that comes and goes is the one negative row among many positive ones: its slope is
    # near the bound.
    most = (12.0 * sigma + 300 * row_norm) / penalty
    w = np.linspace(-most, most, 1_000_001)
    wrong, right = expit(row_norm * w), expit(-row_norm * w)

    def density(n_negative):
        slopes = row_norm * (n_negative * wrong - 300 * right)
        curvature = row_norm**2 * wrong * right * (300 + n_negative)
        scale = sigma * math.sqrt(2.0 * math.pi)
        return np.exp(-0.5 * ((penalty * w + slopes) / sigma) ** 2) / scale * (penalty + curvature)

    densities, step = (density(0), density(1)), w[1] - w[0]
    assert [p.sum() * step for p in densities] == pytest.approx([1.0, 1.0], abs=1e-6)
    found = [
        np.maximum(p - math.exp(EPSILON) * q, 0.0).sum() * step
        for p, q in (densities, densities[::-1])
    ]
    assert max(found) <= delta
    if share < 0.1:
        # The bound counts both signs, of which there is one, and little is lost to curvature.
        assert min(found) > 0.2 * delta


def test_objective_perturbation_adds_that_noise(perturbation, rng):
    """The minimiser tells b: its gradient without b, which is that of the seed."""
    X, y = rng.uniform(-1.0, 1.0, (300, 4)), np.sign(rng.normal(size=300))
    settings = {"slope": 1.0, "smoothness": 0.25, "row_norm": 2.0, "share": 0.4}
    loss = perturbation.logistic
    w = perturbation.fit_objective(X, y, EPSILON, DELTA, loss=loss, seed=5, **settings)
    penalty = 0.25 * 4.0 / math.expm1(0.4 * EPSILON)
    b = -penalty * w + X.T @ (y * expit(-y * (X @ w)))
    sigma = b / np.random.default_rng(5).normal(size=4)
    # sigma is that whose profile is delta, by the integral above.
    assert sigma == pytest.approx(np.full(4, sigma[0]), rel=1e-5)
    lost = math.log1p(0.25 * 4.0 / penalty)
    assert lost == pytest.approx(0.4 * EPSILON)
    assert perturbation.profile(EPSILON, 2.0 / sigma[0], lost) == pytest.approx(DELTA, rel=1e-3)
    with pytest.raises(ValueError, match="too weak"):
        perturbation.calibrate_objective(EPSILON, DELTA, EPSILON)


def test_losses_have_their_derivatives_and_bounds(perturbation, rng):
    decision, y = rng.normal(0.0, 3.0, 100), np.sign(rng.normal(size=100))
    for loss, slope in ((perturbation.logistic, 1.0), (perturbation.huber(0.3), 0.3)):
        values, derivatives = loss(decision, y)
        above, below = (loss(decision + step, y)[0] for step in (1e-6, -1e-6))
        np.testing.assert_allclose((above - below) / 2e-6, derivatives, atol=1e-5)
        assert np.abs(derivatives).max() <= slope
        assert (values >= 0.0).all()


def test_descent_spends_the_budget_and_clips(descent, rng):
    for steps in (1, 10, 250):
        mu = math.sqrt(steps) / descent.noise_multiplier(EPSILON, DELTA, steps)
        assert DELTA * (1 - 1e-3) <= delta_of(mu, EPSILON) <= DELTA * (1 + 1e-9)
    settings = {"loss": "regression", "row_norm": 2.0, "steps": 1, "clip": 0.1, "size": 1.5}
    # Rows of zeros leave the noise alone, in units of the bound on a row.
    X, y = np.zeros((40, 3)), np.ones((40, 1))
    w = descent.fit_descent(X, y, EPSILON, DELTA, seed=3, **settings)
    noise = np.random.default_rng(3).normal(size=(3, 1)) * 0.1 * 2.0
    s = descent.noise_multiplier(EPSILON, DELTA, 1)
    np.testing.assert_allclose(w, -1.5 / 4.0 * s * noise / 40, rtol=1e-9)
    # One row more moves a step by the bound at most.
    X[0] = [100.0, 0.0, 0.0]
    moved = descent.fit_descent(X, y, EPSILON, DELTA, seed=3, **settings) - w
    assert np.linalg.norm(moved) == pytest.approx(1.5 / 4.0 * 0.1 * 2.0 / 40)


@pytest.mark.parametrize("loss", ["binary", "multiclass", "regression"])
def test_descent_without_noise_descends(descent, rng, loss):
    """The gradient at the result is a small part of that at the start."""
    X, labels = rng.uniform(-1.0, 1.0, (300, 3)), rng.integers(0, 3, 300)
    y = np.eye(3)[labels] if loss == "multiclass" else np.where(labels > 0, 1.0, -1.0)[:, None]
    settings = {"row_norm": 1.8, "steps": 400, "clip": 10.0, "size": 1.5}
    w = descent.fit_descent(X, y, math.inf, DELTA, loss=loss, seed=0, **settings)
    slopes, _ = descent.LOSSES[loss]
    before, after = (np.linalg.norm(X.T @ slopes(X @ v, y)) for v in (0.0 * w, w))
    assert after < 0.02 * before


STAND_IN = """
import numpy as np


class LinearRegression:
    def __init__(self, *, epsilon, random_state, **settings):
        self.settings = epsilon, random_state, settings

    def fit(self, X, y):
        epsilon, seed, settings = self.settings
        self.coef_ = np.full(X.shape[1], epsilon * seed)
        self.intercept_ = settings["bounds_y"][1]


class LogisticRegression(LinearRegression):
    def fit(self, X, y):
        epsilon, seed, settings = self.settings
        assert set(y) == {-1.0, 1.0}
        self.coef_ = np.full((1, X.shape[1]), settings["C"] * seed)
        self.intercept_ = np.array([settings["data_norm"]])
"""


def test_diffprivlib_is_fitted_by_its_own_interpreter(utility, tables, tmp_path, monkeypatch):
    """A stand-in for the package takes its place."""
    package = tmp_path / "site" / "diffprivlib"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "models.py").write_text(STAND_IN, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    method = utility.METHODS["diffprivlib"]
    monkeypatch.delenv("DIFFPRIVLIB_PYTHON", raising=False)
    assert not utility.applies("diffprivlib", "diabetes", "regression")
    monkeypatch.setenv("DIFFPRIVLIB_PYTHON", sys.executable)
    assert utility.applies("diffprivlib", "diabetes", "regression")
    assert not utility.applies("diffprivlib", "digits", "multiclass")

    X = np.eye(2)
    squares = tables.Table(X, np.array([0.5, 0.1]), X, None, 1.4, "regression", np.nan)
    found = method.fits(squares, 2.0, (((), 3), ((), 4)))
    np.testing.assert_allclose(found, [[7.0, 7.0], [9.0, 9.0]])
    labels = tables.Table(X, np.array([-1.0, 1.0]), X, None, 1.4, "binary", 0.5)
    found = method.fits(labels, 2.0, (((("C", 10.0),), 3),))
    np.testing.assert_allclose(found, [[31.4, 31.4]])


def test_opacus_is_calibrated_for_epsilon_and_delta(load_script, monkeypatch):
    """Stand-ins for both packages say what they were told."""
    torch, opacus = MagicMock(), MagicMock()
    torch.utils.data.Dataset = object
    for name in ("torch", "torch.utils", "torch.utils.data"):
        monkeypatch.setitem(sys.modules, name, torch if name == "torch" else torch.utils.data)
    for name in ("opacus", "opacus.accountants", "opacus.accountants.utils"):
        monkeypatch.setitem(sys.modules, name, opacus)
    model, make = MagicMock(), opacus.PrivacyEngine().make_private
    weights = [np.array([[1.0, 2.0]]), np.array([3.0])]
    model.parameters.return_value = [MagicMock() for _ in weights]
    for parameter, value in zip(model.parameters(), weights, strict=True):
        parameter.detach().numpy.return_value = value
    make.return_value = model, MagicMock(), [("x", "y")] * 3
    torch.utils.data.DataLoader.return_value.__len__.return_value = 4
    peer = load_script("peers/opacus_utility")
    settings = {"batch_size": 256.0, "passes": 7, "clip": 0.5, "size": 4.0}
    y = np.array([-1.0, 1.0])
    coef, intercept = peer.fit(np.eye(2), y, 0.7, 1e-5, 2.0, seed=3, **settings)
    told = opacus.get_noise_multiplier.call_args.kwargs
    assert (told["target_epsilon"], told["target_delta"], told["epochs"]) == (0.7, 1e-5, 7)
    assert told["sample_rate"] == 1 / 4
    assert torch.utils.data.DataLoader.call_args.kwargs["batch_size"] == 256
    told = make.call_args.kwargs
    assert told["noise_multiplier"] is opacus.get_noise_multiplier.return_value
    assert told["max_grad_norm"] == 0.5 * 2.0
    assert make.return_value[1].step.call_count == 7 * 3
    torch.manual_seed.assert_called_once_with(3)
    assert torch.optim.SGD.call_args.kwargs["lr"] == 1.0
    np.testing.assert_array_equal(coef, [[1.0], [2.0]])
    np.testing.assert_array_equal(intercept, [3.0])
    rows = peer.Rows(np.arange(6).reshape(3, 2), np.arange(3))
    for found, part in zip(rows.__getitems__([2, 0]), ([[4, 5], [0, 1]], [2, 0]), strict=True):
        np.testing.assert_array_equal(found, part)


def test_the_page_beside_others_states_the_size_of_opacus_grid(utility):
    page = utility.bench.ROOT / "doc" / "user_guide" / "beside_others.rst"
    n_settings = len(utility.METHODS["Opacus"].grids["binary"])
    assert f"best of a grid of {n_settings}" in " ".join(page.read_text(encoding="utf-8").split())


def test_a_peers_script_runs_all_tasks(load_script, tmp_path, monkeypatch):
    weights = load_script("peers/_weights")
    files = [tmp_path / name for name in ("problem.npz", "tasks.json", "weights.npz")]
    np.savez(files[0], X=np.eye(2), y=[1.0, -1.0], epsilon=0.5, delta=1e-5, row_norm=2.0)
    files[1].write_text(json.dumps([{"seed": 1, "C": 2.0}, {"seed": 2, "C": 3.0}]))
    monkeypatch.setattr(sys, "argv", ["peer", *map(str, files)])

    def fit(X, y, epsilon, delta, row_norm, seed, C):
        return np.full((2, 1), seed * C), np.array([epsilon + delta + row_norm])

    weights.run(fit)
    with np.load(files[2]) as found:
        assert found["coef"].shape == (2, 2, 1)
        np.testing.assert_array_equal(found["coef"][:, 0, 0], [2.0, 6.0])
        np.testing.assert_allclose(found["intercept"][:, 0], 2.50001)


def _judged(changes):
    """Return a table of two sets and three methods."""
    rows = [
        {"set": data, "task": task, "n": 20_000, "method": method, "epsilon": 1.0}
        for data, task in (("adult", "binary"), ("california_housing", "regression"))
        for method in ("whitened", "DPSCD", "DPSGD")
    ]
    table = pd.DataFrame(rows)
    is_binary = table["task"] == "binary"
    for name in ("accuracy", "auc", "log_loss", "risk", "r2"):
        table[name] = np.where(is_binary == (name != "r2"), 0.5, np.nan)
        table[f"{name}_se"] = 0.001
    table["no_privacy"] = np.where(is_binary, 0.497, 0.6)
    table["weak_penalty"] = table["no_privacy"]
    for (data, method, name), value in changes.items():
        table.loc[(table["set"] == data) & (table["method"] == method), name] = value
    return table


def test_verdicts(utility):
    table = _judged({})
    claims, exceptions = utility.judge(table)
    assert exceptions.empty
    assert claims["holds"].all()
    assert claims["value"][0] == pytest.approx(0.003)
    np.testing.assert_allclose(utility.lost(table), [0.003] * 3 + [0.1] * 3)
    # The best of the others counts, beyond two errors of both: 0.0028.
    changes = {("adult", "DPSGD", "auc"): 0.5027, ("adult", "DPSCD", "log_loss"): 0.497}
    changes |= {("california_housing", "DPSGD", "r2"): 0.6}
    claims, exceptions = utility.judge(_judged(changes))
    assert exceptions["measure"].tolist() == ["log_loss", "r2"]
    assert exceptions["best"].tolist() == ["DPSCD", "DPSGD"]
    np.testing.assert_allclose(exceptions["ours_worse_by"], [0.003, 0.1])
    assert not claims.set_index("claim")["holds"].iloc[-1]
    claims, _ = utility.judge(_judged({("adult", "whitened", "log_loss"): 0.502}))
    assert not claims["holds"][0]


def test_the_best_setting_is_that_of_the_measure(utility):
    found = np.full((3, 5), np.nan)
    found[:, utility.MEASURES.index("log_loss")] = [0.5, 0.4, 0.6]
    found[:, utility.MEASURES.index("r2")] = [0.5, 0.4, 0.6]
    assert utility.choose(found, "binary") == utility.choose(found, "multiclass") == 1
    assert utility.choose(found, "regression") == 2


def test_opacus_and_diffprivlib_modules_are_not_needed(utility):
    """The script is imported without them."""
    assert isinstance(utility, ModuleType)
    assert "opacus" not in sys.modules
