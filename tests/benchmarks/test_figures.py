"""The scripts of the DP-SCD paper's figures run, on synthetic data in the form of the real ones."""

import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")


@pytest.fixture
def folder(rng, tmp_path):
    """A folder with a regression and a classification problem that can be learnt."""
    X = rng.uniform(size=(160, 3))
    housing = pd.DataFrame(X, columns=list("abc")).assign(MedHouseVal=5.0 * X[:, 0])
    housing.to_csv(tmp_path / "california_housing.csv.gz", index=False)
    words = pd.DataFrame(rng.choice([-1, 0, 1], (160, 3)), columns=list("abc"))
    words.assign(Result=np.where(words["a"] > 0, 1, -1)).to_csv(
        tmp_path / "phishing.csv.gz", index=False
    )
    return tmp_path


def _read(path, script):
    text = path.read_text()
    assert text.startswith(f"# python benchmarks/{script}.py --")
    assert str(path.parent) not in text
    return pd.read_csv(path, comment="#")


@pytest.fixture
def fig1(load_script, monkeypatch):
    script = load_script("dpscd_fig1")
    for name, values in {
        "BATCHES": (1 / 4, 1),
        "CLIPPINGS": (0.01, 0.1),
        "SELECTION_SEEDS": (0, 1, 2),
        "N_FINALISTS": 2,
        "SEQUENTIAL_BATCHES": (2,),
        "PRIMAL_BATCHES": (1,),
    }.items():
        monkeypatch.setattr(script, name, values)
    return script


def test_fig1_runs_and_keeps_its_fits(fig1, folder, capsys, monkeypatch):
    options = ["--data", str(folder), "--output", str(folder), "--cache", str(folder / "fits.csv")]
    options += ["--problems", "phishing", "--epsilons", "2"]
    options += ["--seeds", "10", "11"]
    fig1.main(options)
    table = _read(folder / "dpscd_fig1.csv", "dpscd_fig1")
    assert "not private" in capsys.readouterr().out
    # Five methods and no privacy at the first delta, without seq at the second.
    assert len(table) == 6 + 5
    assert not table.isna().any(axis=None)
    assert (table["min"] <= table["median"]).all()
    assert (table["median"] <= table["max"]).all()
    assert (table.loc[table["method"] == "none", "lost"] == 0.0).all()
    # Settings are those of the first delta.
    private = table[table["method"].isin(["ours", "published"])]
    settings = private.groupby(["problem", "method", "epsilon"])[["batch_size", "clipping_norm"]]
    assert (settings.nunique() == 1).all(axis=None)

    summary = _read(folder / "dpscd_fig1_lost.csv", "dpscd_fig1")
    assert len(summary) == 2
    np.testing.assert_allclose(
        summary["ratio"], summary["lost_ours"] / summary["lost_published"], rtol=0.1, atol=0.02
    )
    for delta in ("1e-05", "0.001"):
        assert (folder / f"dpscd_fig1_delta_{delta}.png").stat().st_size > 10_000

    monkeypatch.setattr(sys.modules["_figures"], "run_fit", None)
    fig1.main(options)
    pd.testing.assert_frame_equal(pd.read_csv(folder / "dpscd_fig1.csv", comment="#"), table)


def test_fig1_refuses_seeds_that_choose_settings(fig1, folder):
    with pytest.raises(SystemExit):
        fig1.main(["--data", str(folder), "--seeds", "0"])


def test_fig1_refers_settings_to_the_rows_of_the_fit(load_script):
    """Chosen on validation rows, used on all: batches grow by the root, clipping linearly."""
    script = load_script("dpscd_fig1")
    resolve = script.resolve
    assert resolve((1.0, 0.1), "ours", 1e-4, 0.5, 10_000) == (100, 0.1)
    assert resolve((1.0, 0.1), "ours", 1e-4, 0.5, 40_000) == (200, 0.4)
    assert resolve((2, 0.1), "sequential", 1e-4, 0.5, 10_000) == (2, 0.05)
    assert resolve((2, 0.1), "primal", 1e-4, 0.5, 10_000) == (2, 0.05)


def test_fig1_has_the_full_millionsong(fig1, rng, folder, monkeypatch):
    frame = pd.DataFrame(rng.normal(size=(60, 91))).add_prefix("c")
    frame["c0"] = rng.integers(1922, 2012, 60)
    frame.to_csv(folder / "YearPredictionMSD.txt", index=False, header=False)
    monkeypatch.setattr(sys.modules["_data"], "_MILLIONSONG_TRAIN_ROWS", 40)
    options = ["--data", str(folder), "--output", str(folder), "--problems", "millionsong"]
    fig1.main([*options, "--methods", "ours", "--epsilons", "2", "--deltas", "1e-3"])
    assert len(_read(folder / "dpscd_fig1.csv", "dpscd_fig1")) == 2


def test_fig2_runs(load_script, folder):
    script = load_script("dpscd_fig2")
    options = ["--data", str(folder), "--output", str(folder), "--problems", "california_housing"]
    with pytest.warns(UserWarning, match="batch_size"):
        script.main([*options, "--passes", "2", "40", "--seeds", "1", "2"])
    table = _read(folder / "dpscd_fig2.csv", "dpscd_fig2")
    assert table["epsilon"].tolist() == [0.1, 0.1, 1.0, 1.0, np.inf, np.inf]
    # No fit is better than the optimum, and more passes come nearer without noise.
    assert (table["min"] > 0.0).all()
    assert table["median"].iloc[-1] < table["median"].iloc[-2]


@pytest.mark.parametrize("problem", ["california_housing", "phishing"])
def test_fig2_finds_the_optimum(problem, load_script, folder):
    script = load_script("dpscd_fig2")
    X, y, _, _ = script.load_prepared(problem, folder)
    model = script.PROBLEMS[problem]
    best = script.find_optimum(model, X, y)
    reached = script.objective(model, best, X, y)
    for direction in np.eye(best.size):
        for step in (-1e-3, 1e-3):
            assert script.objective(model, best + step * direction, X, y) > reached


def test_fig3_runs(load_script, folder, monkeypatch):
    script = load_script("dpscd_fig3")
    monkeypatch.setattr(script, "NAME", "phishing")
    options = ["--data", str(folder), "--output", str(folder), "--seeds", "1", "2"]
    script.main([*options, "--batch-sizes", "10", "30", "--clippings", "0.01", "0.1"])
    table = _read(folder / "dpscd_fig3.csv", "dpscd_fig3")
    assert table["choice"].tolist() == ["grid"] * 4 + ["auto"]
    assert table["batch_size"].iloc[-1] == 8
