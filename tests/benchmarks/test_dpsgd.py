"""The scripts of the DP-SGD paper's figures run, on synthetic data in the form of the real ones."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")


@pytest.fixture
def connections(rng):
    """Rows like KDDCup99's: some of its columns of numbers and words, several attacks."""
    n = 120
    label = rng.choice(["normal.", "smurf.", "neptune."], n)
    frame = pd.DataFrame({"protocol_type": np.where(label == "normal.", "tcp", "icmp")})
    frame["service"] = rng.choice(["http", "smtp", "ftp", "auth", "eco_i", "ecr_i"], n)
    return frame.assign(
        duration=rng.integers(0, 9, n), serror_rate=rng.uniform(size=n), label=label
    )


@pytest.fixture
def images(rng):
    """Images like MNIST's, half of them ones, which are brighter on the left."""
    digits = np.where(np.arange(100) % 2, 1, rng.integers(2, 10, 100)).astype(np.uint8)
    images = rng.integers(0, 100, (100, 784)).astype(np.uint8)
    images[digits == 1, ::2] += 100
    return images, digits


@pytest.fixture
def folder(connections, images, tmp_path):
    connections.to_csv(tmp_path / "kddcup99_10percent.csv.gz", index=False)
    x_train, y_train = images
    np.savez(tmp_path / "mnist.npz", x_train=x_train.reshape(-1, 28, 28), y_train=y_train)
    return tmp_path


def _read(path):
    text = path.read_text()
    assert text.startswith(f"# python benchmarks/{path.stem}.py --")
    assert str(path.parent) not in text
    assert path.with_suffix(".png").stat().st_size > 10_000
    table = pd.read_csv(path, comment="#")
    assert not table.isna().any(axis=None)
    assert (table["std"] > 0.0).all()
    # No model is better than the optimum.
    assert (table["mean"] > table["optimum"]).all()
    return table


def test_fig1_runs(load_script, folder, capsys):
    load_script("dpsgd_fig1").main(
        ["--data", str(folder), "--output", str(folder), "--points", "20", "--seeds", "1", "2"]
    )
    table = _read(folder / "dpsgd_fig1.csv")
    assert len(table) == 2 * 2 * 2 * 2
    of_mnist = table[(table["problem"] == "mnist") & table["private"]]
    assert of_mnist["batch_size"].tolist() == [1, 1, 10, 10]
    assert of_mnist["points"].tolist() == [20, 100, 20, 100]
    assert of_mnist["iterations"].tolist() == [20, 100, 2, 10]
    said = capsys.readouterr().out
    assert "not private" in said
    assert "kddcup99: b = 5 matches" in said


def test_fig2_runs(load_script, folder, capsys):
    options = ["--data", str(folder), "--output", str(folder), "--problems", "kddcup99"]
    load_script("dpsgd_fig2").main([*options, "--batch-sizes", "1", "7", "--seeds", "1", "2"])
    table = _read(folder / "dpsgd_fig2.csv")
    assert len(table) == 2 * 2 * 2
    assert (table["points"] == 120).all()
    assert set(table.loc[table["batch_size"] == 7, "iterations"]) == {18}
    # Noise costs more than the order of the rows.
    std = table.pivot(index=["rate", "batch_size"], columns="private", values="std")
    assert (std[True] > std[False]).all()
    assert "kddcup99, 10/sqrt(t): private SGD is best" in capsys.readouterr().out


def test_fig3_runs(load_script, tmp_path, monkeypatch, capsys):
    script = load_script("dpsgd_fig3")
    monkeypatch.setattr(load_script("_dpsgd"), "_SPHERE_ROWS", 200)
    script.main(["--output", str(tmp_path), "--points", "50", "200", "--seeds", "1", "2", "3"])
    table = _read(tmp_path / "dpsgd_fig3.csv")
    # A last point that was asked for is drawn once.
    assert table["points"].tolist() == [50, 50, 200, 200] * 2
    assert "far more variance" in capsys.readouterr().out


def test_problems_are_in_the_unit_ball(load_script, folder, connections, images):
    load_problem = load_script("_dpsgd").load_problem
    X, y = load_problem("mnist", folder)
    assert X.shape == (100, 15)
    np.testing.assert_array_equal(y == 1, images[1] == 1)
    assert np.linalg.norm(X, axis=1).max() <= 1.0 + 1e-12

    X, y = load_problem("kddcup99", folder)
    assert X.shape == (120, 9)
    assert (y == 1).sum() == (connections["label"] != "normal.").sum()
    assert set(y) == {-1, 1}
    assert np.linalg.norm(X, axis=1).max() <= 1.0 + 1e-12


def test_kddcup99_is_a_subsample(load_script, folder, monkeypatch):
    script = load_script("_dpsgd")
    monkeypatch.setattr(script, "_KDDCUP99_ROWS", 30)
    X, y = script.load_problem("kddcup99", folder)
    assert len(X) == len(y) == 30


def test_sphere_is_separable_with_a_margin(load_script):
    X, y = load_script("_dpsgd").load_problem("sphere")
    assert X.shape == (10_000, 5)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    assert np.abs(X.mean(axis=0)).max() < 6.0 / np.sqrt(5 * 10_000)
    normal = np.random.default_rng(0).normal(size=5)
    assert (y * (X @ normal) / np.linalg.norm(normal)).min() >= 1e-3


def test_optimum_is_that_of_the_objective(load_script, folder):
    script = load_script("_dpsgd")
    X, y = script.load_problem("kddcup99", folder)
    best = script.find_optimum(X, y)
    reached = script.objective(best, X, y)
    assert script.objective(np.zeros(9), X, y) == pytest.approx(script.AT_ZERO)
    for direction in np.eye(best.size):
        for step in (-1e-2, 1e-2):
            assert script.objective(best + step * direction, X, y) > reached


def test_fits_are_the_papers(load_script, folder, monkeypatch):
    """One record is any other, gradients have norm 1, and the noise is of scale 2 / epsilon."""
    script = load_script("_dpsgd")
    fits = []

    class Kept(script.DPSGDClassifier):
        def fit(self, X, y):
            fits.append((super().fit(X, y), len(y)))
            return self

    monkeypatch.setattr(script, "DPSGDClassifier", Kept)
    X, y = script.load_problem("kddcup99", folder)
    script.reach("1/sqrt(t)", 5, 60, True, 0, X, y)
    ((model, n_rows),) = fits
    report = model.privacy_report_
    assert (report.epsilon, report.delta, report.adjacency) == (1.0, 0.0, "replace_one")
    assert report.clipping == 1.0
    assert report.events[0].noise_multiplier == pytest.approx(2.0, rel=1e-3)
    assert (n_rows, model.batch_size_, model.n_iter_, model.average) == (60, 5, 1, False)

    # One step on all rows from zero, where each derivative is 1 / 2.
    reached = script.reach("10/sqrt(t)", len(y), len(y), False, 0, X, y)
    step = 10.0 * (0.5 * y @ X / len(y)) / (1.0 + 10.0 * script.ALPHA)
    assert reached == pytest.approx(script.objective(step, X, y))


def test_findings_are_read_from_the_last_point(load_script):
    script = load_script("_dpsgd")
    rows = []
    for batch_size, private_mean in ((1, 0.9), (5, 0.11)):
        for points, factor in ((10, 3.0), (20, 1.0)):
            for private in (True, False):
                rows.append(
                    {
                        "problem": "kddcup99",
                        "rate": "1/sqrt(t)",
                        "batch_size": batch_size,
                        "points": points,
                        "private": private,
                        "mean": factor * (private_mean if private else 0.1),
                        "std": factor * (0.2 if private else 0.1),
                    }
                )
    compared = script.compare(pd.DataFrame(rows))
    gain = np.log(2.0) - 0.1
    np.testing.assert_allclose(compared["kept"], [1 - 0.8 / gain, 1 - 0.01 / gain])
    np.testing.assert_allclose(compared["std_ratio"], 2.0)
    one, five = script.judge_batches(compared, {"kddcup99": 5})
    assert "b = 1 doesn't converge: holds" in one
    assert "b = 5 matches SGD without privacy: holds" in five
    (said,) = script.judge_sizes(compared)
    assert "best at b = 5, 0.1100" in said
    assert said.endswith("from b = 5.")

    compared["private"], compared["kept"] = 0.3, 0.7
    assert all("does NOT hold" in said for said in script.judge_batches(compared, {"kddcup99": 5}))
    assert script.judge_sizes(compared)[0].endswith("for no b.")

    rates = pd.concat([compared[:1], compared[:1].assign(rate="1/(alpha t)", std=2.1)])
    assert "variance: holds" in script.judge_rates(rates)
    assert "does NOT hold" in script.judge_rates(rates.assign(std=[0.2, 1.9]))


def _serve(monkeypatch, script, fetch, **contents):
    """Let a function of scikit-learn serve a bunch, whatever is asked for."""
    bunch = type("Bunch", (), contents)
    monkeypatch.setattr(script, fetch, lambda **kwargs: bunch)
    monkeypatch.delenv("SKDP_DATA", raising=False)


def test_kddcup99_is_the_same_from_a_file_and_from_scikit_learn(
    load_script, folder, connections, monkeypatch
):
    """scikit-learn: objects, bytes for words, another name of the target."""
    data = load_script("_data")
    from_file = data.load_kddcup99(folder)
    served = connections.rename(columns={"label": "labels"}).astype(object)
    for name in ("protocol_type", "service", "labels"):
        served[name] = served[name].str.encode("ascii").astype(object)
    _serve(monkeypatch, data, "fetch_kddcup99", frame=served)
    pd.testing.assert_frame_equal(data.load_kddcup99(), from_file, check_dtype=False)
    script = load_script("_dpsgd")
    for part, other in zip(
        script.load_problem("kddcup99"), script.load_problem("kddcup99", folder), strict=True
    ):
        np.testing.assert_array_equal(part, other)


def test_mnist_is_the_same_from_a_file_and_from_openml(load_script, folder, images, monkeypatch):
    """OpenML: numbers as words, the test images after those of training."""
    data = load_script("_data")
    from_file = data.load_mnist(folder)
    for part, expected in zip(from_file, images, strict=True):
        np.testing.assert_array_equal(part, expected)
    pixels = np.vstack([images[0], np.zeros((5, 784))]).astype(float)
    digits = np.append(images[1], [0] * 5).astype(str).astype(object)
    monkeypatch.setattr(data, "_MNIST_TRAIN_ROWS", 100)
    _serve(monkeypatch, data, "fetch_openml", data=pixels, target=digits)
    for part, expected in zip(data.load_mnist(), from_file, strict=True):
        np.testing.assert_array_equal(part, expected)
        assert part.dtype == expected.dtype
