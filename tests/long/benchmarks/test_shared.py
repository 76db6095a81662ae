"""What benchmarks share: data sets, options, jobs that are resumed, tables and problems."""

import re
import shlex
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[3]
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.csv"))
CALLS = []


def _square(number, seed):
    """A job that is interrupted where `number` is in the way."""
    CALLS.append((number, seed))
    if -number in (call[0] for call in CALLS):
        raise RuntimeError("interrupted")
    return number**2 + seed


@pytest.fixture
def common(load_script):
    CALLS.clear()
    return load_script("_common")


def test_a_resumed_run_equals_a_fresh_one_and_repeats_nothing(common, tmp_path):
    def run(cache):
        options = Namespace(cache=cache, n_jobs=1)
        return common.run_cells(_square, [(1,), (2,), (3,)], range(2), options)

    CALLS.append((-2, None))
    with pytest.raises(RuntimeError, match="interrupted"):
        run(tmp_path)
    assert CALLS[1:] == [(1, 0), (1, 1), (2, 0)]
    CALLS.clear()
    resumed = run(tmp_path)
    assert CALLS == [(2, 0), (2, 1), (3, 0), (3, 1)]
    np.testing.assert_array_equal(resumed, run(None))
    np.testing.assert_array_equal(resumed, [[1, 2], [4, 5], [9, 10]])
    assert len(CALLS) == 4 + 6


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_script_takes_the_command_that_is_in_its_results(path, load_script, monkeypatch):
    """It does nothing but read its options, and the command that it would write is the same."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    _, script, *arguments = shlex.split(first.removeprefix("#"))
    module = load_script(Path(script).relative_to("benchmarks").with_suffix(""))
    found = []

    def read_options(*args, **kwargs):
        found.append(original(*args, **kwargs).command)
        raise SystemExit

    original = module.bench.read_options
    monkeypatch.setattr(module.bench, "read_options", read_options)
    with pytest.raises(SystemExit):
        module.main(arguments)
    assert found == [re.sub(r"(\d)\.0\b", r"\1", first.removeprefix("# "))]


def test_options(common, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    named = {"problems": {"a": 1, "b": 2}, "rates": (0.5, 1.0), "seeds": range(3), "repeats": int}
    script = common.ROOT / "benchmarks" / "adult_svm.py"

    def read(*arguments):
        unnamed = {"parts": ["x", "y"], "dry": False}
        chosen = {"chosen_by": (7, 8), "unnamed": unnamed}
        return common.read_options(script, "Doc.", list(arguments), **chosen, **named)

    options = read("--rates", "1e-5", "2", "--n-jobs", "2", "--parts", "y", "--data", "here")
    assert options.command == (
        "python benchmarks/adult_svm.py --problems a b --rates 1e-05 2 --seeds 0 1 2"
    )
    assert (options.parts, options.dry, options.n_jobs, options.repeats) == (["y"], False, 2, None)
    assert common.os.environ["SKDP_DATA"] == "here"
    assert read("--repeats", "4").command.endswith(" --repeats 4")
    several = common.read_options(script, "Doc.", [], methods={"base rate": 1, "ours": 2}).command
    assert shlex.split(several)[-3:] == ["--methods", "base rate", "ours"]
    for wrong in (["--problems", "c"], ["--seeds", "6", "7"]):
        with pytest.raises(SystemExit):
            read(*wrong)
    assert "seeds [7, 8] choose settings" in capsys.readouterr().err


def test_statistics_of_seeds_and_kept_tables(common, tmp_path):
    values = np.array([1.0, 2.0, 6.0])
    found = common.summarize(values)
    expected = {"mean": 3.0, "std": 7.0**0.5, "se": (7.0 / 3.0) ** 0.5, "median": 2.0}
    assert found == pytest.approx(expected | {"min": 1.0, "max": 6.0})
    assert common.summarize(values[:1], "se") == {"se": 0.0}
    options = Namespace(output=tmp_path, command="python it.py", cache=None)
    common.write_table(pd.DataFrame([found]), "it.csv", options, "A note.")
    command, note, taken, names, _ = (tmp_path / "it.csv").read_text().splitlines()
    assert (command, note) == ("# python it.py", "# A note.")
    assert re.fullmatch(r"# It took \d+ s, and \d+ s on processors, of which .* has \d+\.", taken)
    assert names.startswith("mean,")
    assert common.read_kept("it.csv", options)["se"].item() == pytest.approx(found["se"])
    options.command = "python it.py --else"
    assert common.read_kept("it.csv", options).empty
    # What a run took that went on where another was interrupted isn't what the table took.
    options.cache = tmp_path
    common.write_table(pd.DataFrame([found]), "it.csv", options, "A note.")
    assert "It took" not in (tmp_path / "it.csv").read_text()


@pytest.mark.parametrize(
    ("loss", "penalty"), [("squared_error", "l2"), ("squared_error", "l1"), ("log_loss", "l2")]
)
def test_the_optimum_is_that_of_the_objective(loss, penalty, common, rng):
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=60)
    y = np.where(y > 0, "yes", "no").astype(object) if loss == "log_loss" else y
    problem = common.Problem("", "", 0.05, loss, penalty)
    best = problem.optimum(X, y)
    lowest = problem.objective(best, X, y)
    loss_at_zero = np.log(2.0) if loss == "log_loss" else 0.5 * np.mean(y**2)
    assert problem.objective(np.zeros(4), X, y) == pytest.approx(loss_at_zero)
    for step in (*np.eye(4), *-np.eye(4)):
        assert problem.objective(best + 1e-3 * step, X, y) > lowest


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_script_runs_by_itself(n_jobs, folder, tmp_path):
    """As a command from the root, from a paper's folder, with jobs in other processes, too."""
    script = "benchmarks/papers/dpscd/fig2.py --problems california_housing --passes 1"
    command = [sys.executable, *script.split(), "--data", folder, "--output", tmp_path]
    command += ["--n-jobs", str(n_jobs)]
    subprocess.run(command, cwd=ROOT, check=True)
    assert (tmp_path / "dpscd_fig2.png").is_file()


def test_public_scaling_reads_no_other_row(data, folder):
    """Another record leaves all rows but its own as they are."""
    frame = data.load_frame("adult")
    bounds = data.DATA_SETS["adult"]["bounds"]
    X = frame.drop(columns=["income", "split"])
    before, rest = data.scale(X, range(200), range(200, 300), scaling="public", bounds=bounds)
    np.testing.assert_allclose(np.linalg.norm(before, axis=1), 1.0)
    changed = X.copy()
    changed.loc[0, ["age", "hours_per_week"]] = 10**9, -1
    after, rest_after = data.scale(
        changed, range(200), range(200, 300), scaling="public", bounds=bounds
    )
    np.testing.assert_array_equal(before[1:], after[1:])
    np.testing.assert_array_equal(rest, rest_after)
    np.testing.assert_array_equal(before, data.load_prepared("adult", "public").X_train)
    # Beyond the bounds is at the bounds.
    numbers = after[0][:4] / np.abs(after[0][4:]).max()
    names = list(X.select_dtypes("number"))
    assert numbers[[names.index("age"), names.index("hours_per_week")]] == pytest.approx([1, -1])


def test_bounds_of_numbered_columns(data):
    bounds = data.DATA_SETS["millionsong"]["bounds"]
    assert data._bounds_of("timbre_cov_78", bounds) == [-1000, 1000]
    assert data._bounds_of("loudness", bounds) == (0, 1)


def test_paper_scaling(data):
    """Rows have norm 1, the given split is kept, words are one-hot and nothing of missing."""
    X_train, y_train, X_test, y_test = data.load_prepared("adult")
    # Without education and native_country, and "?" is the most frequent.
    assert (X_train.shape, X_test.shape) == ((200, 4 + 2 + 2), (100, 8))
    np.testing.assert_allclose(np.linalg.norm(X_train, axis=1), 1.0)
    assert {*y_train, *y_test} == {"<=50K", ">50K"}
    X_train, y_train, _, y_test = data.load_prepared("phishing")
    assert X_train.shape == (120, 9)
    assert {*y_train, *y_test} == {-1, 1}


def test_box_scaling(data):
    """Features are in [0, 1], outcomes aren't among them, both parts have their share of labels."""
    X_train, y_train, X_test, y_test = data.load_prepared(
        "hillstrom_visit", "box", test_size=0.3, stratify=True
    )
    assert (X_train.shape, X_test.shape) == ((280, 4), (120, 4))
    assert {X_train[:, 0].min(), X_train[:, 0].max()} == {0.0, 1.0}
    assert {X_test.min(), X_test.max()} <= {0.0, 1.0}
    np.testing.assert_array_equal(X_train[:, 1:].sum(axis=1), 1.0)
    assert y_train.mean() == pytest.approx(y_test.mean(), abs=0.01)


def test_targets_are_scaled_by_public_bounds(data, folder):
    frame = pd.DataFrame({"a": np.arange(40.0), "MedHouseVal": 2.0})
    frame.loc[0, "MedHouseVal"] = 5.0
    frame.to_csv(folder / "california_housing.csv.gz", index=False)
    _, y_train, _, y_test = data.load_prepared("california_housing")
    assert sorted({*y_train, *y_test}) == pytest.approx([-0.2, 1.0])


def test_data_that_are_not_there_are_asked_for(data, folder, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"bank_marketing\.csv\.gz not found.*--data"):
        data.load_prepared("bank_marketing")
    monkeypatch.setenv("SKDP_DATA", "")
    with pytest.raises(FileNotFoundError, match=r"adult\.csv\.gz not found.*SKDP_DATA"):
        data.load_prepared("adult")


@pytest.mark.parametrize("header", [True, False])
def test_millionsong_is_split_by_position(header, data, folder, monkeypatch):
    """UCI's text has no line of names."""
    frame = pd.read_csv(folder / "YearPredictionMSD.csv.gz")
    frame.loc[:1, "c0"] = [1922, 2011]
    if not header:
        (folder / "YearPredictionMSD.csv.gz").unlink()
        frame.to_csv(folder / "YearPredictionMSD.txt", index=False, header=False)
    else:
        frame.to_csv(folder / "YearPredictionMSD.csv.gz", index=False)
    monkeypatch.setattr(data, "MILLIONSONG_TRAIN_ROWS", 40)
    X_train, y_train, X_test, y_test = data.load_prepared("millionsong")
    assert (X_train.shape, X_test.shape, y_test.size) == ((40, 90), (20, 90), 20)
    np.testing.assert_array_equal(y_train[:2], [-1.0, 1.0])
