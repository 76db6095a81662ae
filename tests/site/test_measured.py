"""What pages say in words of measured things is true of the tables that were measured."""

import math
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def results(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "doc" / "_ext"), *sys.path])
    return import_module("results")


@pytest.fixture
def read(results):
    """Return the rows of a table that have given values."""

    def read(name, **wanted):
        rows = results.read_results(f"{name}.csv")[1]
        found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
        assert found
        return found

    return read


PRECISIONS = "float64", "float32"


def numbers_of(page, name):
    """Return the numbers that a page has after the mark `.. measured: name`, to a blank line.

    A mark says that the numbers and words of a paragraph were measured: whoever changes them looks
    here for the name, and whoever measures again finds the paragraph.
    """
    text = (ROOT / "doc" / page).with_suffix(".rst").read_text(encoding="utf-8")
    _, mark, rest = text.partition(f".. measured: {name}\n\n")
    assert mark, f"{page} has no mark {name!r}"
    assert f".. measured: {name}\n" not in rest
    return set(
        re.findall(r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+|\d*\.?\d+)", rest.partition("\n\n")[0])
    )


def test_all_marks_are_of_tests():
    tests = Path(__file__).read_text(encoding="utf-8")
    pages = [
        *(ROOT / "doc").rglob("*.rst"),
        ROOT / "README.rst",
        ROOT / "benchmarks" / "README.rst",
    ]
    marks = [
        name
        for page in pages
        for name in re.findall(r"(?m)^\.\. measured: (.+)$", page.read_text(encoding="utf-8"))
    ]
    assert len(marks) > 15
    assert [name for name in marks if f'"{name}"' not in tests] == []


def test_record_and_play_in_words(read):
    numbers = numbers_of("privacy_model", "record and play")
    assert {"29", "2026", "197", "60"} <= numbers
    audited = read("record_play", allowed="")
    assert len(audited) == 197
    large = ("compiled", "quiet", "of codes")
    assert sum(any(word in row["subject"] for word in large) for row in audited) == 60
    assert max(int(row["neighbours"]) for row in audited) == 9
    assert all(float(row["reach"]) <= 1.0 for row in audited)
    assert not any(row["broken"] for row in read("record_play"))


def ratio(read, race, claim):
    (row,) = read("speed_ratios", race=race, claim=claim)
    return float(row["median"])


def test_speed_in_words(read):
    numbers = numbers_of("measured", "speed")
    assert {"256", "1.5", "25", "15", "19", "100,000"} <= numbers
    for race in ("per_pass_hinge", "per_pass_log_loss"):
        rows = read("speed_ratios", race=race)
        assert all(float(row["median"]) < 1.5 for row in rows)
        median = {row["claim"].split(" /")[0]: float(row["median"]) for row in rows}
        assert max(median["DPSGD, batch 1000"], median["DPSCD, batch 1000"]) < 0.95
    assert 0.9 < ratio(read, "logistic", "LogisticRegression / DPSGD") < 1.1
    assert 1.0 < ratio(read, "logistic", "diffprivlib LogisticRegression / DPSGD") < 1.25
    assert ratio(read, "logistic", "Opacus / DPSGD, batch 256") > 25.0
    for row in read("whitening"):
        are_many = int(row["rows"]) >= 1_000_000
        low, high = (0.4, 0.65) if are_many else (1.9, 2.2)
        assert low < float(row["over_LogisticRegression"]) < high
        low, high = (3, 4) if are_many else (15, 19)
        assert low <= round(float(row["over_Ridge"])) <= high
        low, high = (0.3, 0.5) if are_many else (0.9, 1.1)
        assert low < float(row["over_DPSGDClassifier"]) < high
    assert all(float(row["median"]) <= 1.2 for row in read("speed_ratios", race="noise"))
    for peer in ("SGDClassifier", "LogisticRegression"):
        assert ratio(read, "processes", f"whole process, {peer} / DPSGDClassifier") < 1.0


def test_memory_in_words(read):
    numbers_of("measured", "memory")
    # The file of 4 GB, and what is private of it.
    assert numbers_of("measured", "mapped files") == {"4", "1"}
    assert all(float(row["private_extra_MB"]) < 1000 for row in read("memory", part="mapped"))
    for row in read("memory", part="copies"):
        if row["X"] in ("float64", "float32") and "primal" not in row["model"]:
            copies = float(row["extra_MB"]) / float(row["X_MB"])
            wanted = 1.0 if "ball" in row["model"] else 0.0
            if row["model"].startswith("DPCD"):
                wanted += 1.0 if row["X"] == "float64" else 2.0
            assert wanted - 0.1 < copies < wanted + 0.35, row


def test_where_tuned_dp_sgd_is_as_good(read):
    numbers_of("../README", "tuned DP-SGD")
    losses = {}
    for method in ("whitened", "Opacus"):
        for row in read("utility", set="adult", method=method):
            losses[method, float(row["epsilon"])] = float(row["log_loss"])
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        worse = losses["Opacus", epsilon] - losses["whitened", epsilon]
        assert abs(worse) < 0.001 if epsilon >= 1.0 else worse > 0.002


def test_what_is_better_than_in_0_3_0(read):
    """Numbers of 0.3.0 are those of its own file of additive models."""
    said = numbers_of("whats_new", "what is better in 0.4.0")
    assert {"0.700", "0.702", "0.911", "3,304"} <= said
    for data, measure in (("california_housing", "r2"), ("OFP", "auc"), ("adult", "auc")):
        (row,) = read("additive", data=data, way="additive", epsilon="1.0")
        assert f"{float(row[measure]):.3f}" in said, data


def test_beside_boosted_trees(read):
    """Where others published a number, ours is larger."""
    said = numbers_of("user_guide/beside_others", "published trees")
    assert {"48,842", "45,211", "41,188"} <= said
    rows = [row for row in read("trees") if row["auc"]]
    assert {row["data"] for row in rows} == {"adult in folds", "adult without gaps", "bank"}
    assert all(float(row["ours"]) > float(row["auc"]) for row in rows)
    harder = {row["epsilon"]: float(row["ours"]) for row in read("trees", method="none")}
    for row in read("trees", data="bank"):
        assert harder[row["epsilon"]] < float(row["ours"])


def test_beside_other_libraries(read):
    page = "user_guide/beside_others"
    assert "0.001" in numbers_of(page, "Adult at epsilon 1")
    assert {"3,304", "0"} <= numbers_of(page, "boosting")
    numbers_of(page, "synthetic rows")
    adult = read("utility", set="adult", epsilon="1.0")
    losses = {row["method"]: float(row["log_loss"]) for row in adult}
    assert 0.0 < losses["whitened"] - losses["Opacus"] < 0.001
    assert losses["DPSGD, delta = 0"] > losses["diffprivlib"] > losses["whitened"]
    assert all(
        float(row["log_loss"]) > float(adult[0]["base_rate"])
        for row in read("synthetic", table="MST")
    )
    better, worse = set(), set()
    for row in read("additive_over_ebm"):
        assert row["measure"] != "log_loss" or float(row["better_by"]) > 0.0
        one = row["data"], row["n_rows"], row["epsilon"]
        (better if float(row["better_by"]) > 0.0 else worse).add(one)
    assert worse == {("OFP", "3304", "0.1")}
    assert len({name for name, _, epsilon in better if epsilon == "1.0"}) == 10
    (boosted,) = read("additive", data="millionsong_cs190", way="DP-EBM", epsilon="1.0")
    assert float(boosted["r2"]) < 0.0


def test_what_delta_0_costs(read):
    for page in ("index", "user_guide/dpsgd"):
        numbers_of(page, "delta = 0")
    for epsilon in ("0.1", "0.5", "1.0", "2.0"):
        ours, theirs = (
            float(read("utility", set="adult", epsilon=epsilon, method=method)[0]["log_loss"])
            for method in ("DPSGD, delta = 0", "diffprivlib")
        )
        assert ours > theirs
    pure = {
        (row["set"], row["method"]): float(row["log_loss"])
        for row in read("utility", task="binary", epsilon="1.0")
    }
    sets = {name for name, _ in pure}
    won = [pure[name, "DPSGD, delta = 0"] < pure[name, "diffprivlib"] for name in sets]
    assert sum(won) == 1


def test_what_budgets_of_ones_own_gain(read):
    assert {"0.1", "1"} <= numbers_of("user_guide/dpsgd", "budgets of one's own")
    found = {
        (row["set"], row["strict"], row["way"]): (float(row["mean"]), float(row["se"]))
        for row in read("personal_budgets")
    }
    for (name, strict, way), (mean, se) in found.items():
        best, _ = found[name, strict, "whitened"]
        assert way == "whitened" or best < mean
        if way == "personal":
            for_all, of_all = found[name, strict, "strictest"]
            without, of_others = found[name, strict, "left out"]
            assert mean < for_all + 2.0 * math.hypot(se, of_all)
            assert mean < without + 2.0 * math.hypot(se, of_others)
            assert strict == "0.9" or mean < for_all - 2.0 * math.hypot(se, of_all)


def test_where_another_estimator_is_better(read):
    said = numbers_of("user_guide/which", "better estimators")
    assert {"0.1", ".004", ".07", "0.5", "426"} <= said
    numbers_of("user_guide/dpscd", "better losses")
    numbers_of("user_guide/dpcd", "better than DP-SGD")
    lower = {}
    for row in read("utility_exceptions", epsilon="0.1", measure="log_loss"):
        lower.setdefault(row["best"], {})[row["set"]] = round(float(row["ours_worse_by"]), 3)
    assert lower["DPSGD"].keys() == {"mnist_10"}
    assert lower["DPCD"] == {"credit_wide": 0.004}
    steep = {"set": "breast_cancer", "measure": "log_loss", "best": "DPSGD"}
    by = [
        (row["epsilon"], float(row["ours_worse_by"])) for row in read("utility_exceptions", **steep)
    ]
    assert [(epsilon, round(one, 2)) for epsilon, one in by] == [("0.5", 0.07)]
    numbers_of("measured", "linear regression of diffprivlib")
    for name, epsilon, method in (
        ("breast_cancer", "0.1", "DP-GD"),
        ("breast_cancer", "1.0", "DP-GD"),
        ("electricity", "1.0", "diffprivlib"),
        ("adult", "1.0", "Opacus"),
    ):
        ours, theirs = (
            float(read("utility", set=name, epsilon=epsilon, method=known)[0]["log_loss"])
            for known in ("whitened", method)
        )
        assert theirs < ours
    for row in read("utility", task="regression", method="diffprivlib"):
        assert float(row["r2"]) < 0.0
    for table in ("hospital", "news"):
        ours, theirs = (
            read("sparse", table=table, model=model)[0]
            for model in ("DPLogisticRegression", "DPSGDClassifier")
        )
        assert int(ours["columns"]) > 2000
        assert float(theirs["accuracy"]) > float(ours["accuracy"])
    hinge, logistic = (
        float(read("defaults", problem=f"adult_{loss}", epsilon="1.0")[0]["default"])
        for loss in ("hinge", "log_loss")
    )
    assert hinge > logistic
    best = {
        (row["problem"], row["method"]): row
        for row in read("dpcd_table2_best", adjacency="replace_one")
    }
    errors = {key: float(row["best_error"]) for key, row in best.items()}
    for problem in ("electricity_raw", "california_raw", "sparse_lasso"):
        assert errors[problem, "dpsgd"] > 3.0 * errors[problem, "exact"]
        assert errors[problem, "exact"] > 2.0 * errors[problem, "row"]
    for problem in ("electricity_standardized", "california_standardized"):
        assert 0.7 < errors[problem, "row"] / errors[problem, "dpsgd"] < 0.8
        passes = best[problem, "dpsgd"]["at_passes"]
        (row,) = read("dpcd_table2", problem=problem, method="dpsgd", passes=passes)
        assert errors[problem, "dpsgd"] - errors[problem, "row"] < float(row["std"])


def test_findings_of_table_2_of_the_coordinate_paper(read):
    rows = read("dpcd_table2_best", adjacency="replace_one")
    of = {f"{row['problem']} {row['method']}": float(row["best_error"]) for row in rows}
    numbers = numbers_of("../benchmarks/README.rst", "table 2 of the coordinate paper")
    digits = {
        "sparse_lasso exact": 3,
        "sparse_lasso row": 3,
        "electricity_raw dpsgd": 3,
        "california_raw dpsgd": 2,
    }
    shown = ["electricity_standardized", "electricity_raw", "california_standardized"]
    shown += ["california_raw", "sparse_lasso"]
    found = {f"{problem} {method}" for problem in shown for method in ("exact", "row", "dpsgd")}
    for name in found - {"sparse_lasso dpsgd"}:
        assert f"{of[name]:.{digits.get(name, 4)}f}" in numbers, name
    worse = {(row["problem"], row["method"]) for row in rows if row["no_worse"] == "False"}
    assert {problem for problem, method in worse if method == "row"} == {"california_standardized"}
    assert {problem for problem, method in worse if method == "exact"} == {
        "electricity_raw",
        "california_standardized",
    }


def test_targets_that_pages_call_missed_or_met(read):
    assert {"1.6", "100", "16"} <= numbers_of("targets", "targets of fits")
    numbers_of("targets", "targets of steps")
    assert {"1.9", "20", "1.2", "1.5", "32"} <= numbers_of("targets", "targets of files")
    rows = read("whitening")
    of_size = {(int(row["rows"]), row["precision"]): row for row in rows}
    logistic = [float(of_size[10**6, kind]["over_LogisticRegression"]) for kind in PRECISIONS]
    assert max(logistic) <= 1.6
    assert all(float(of_size[10**5, kind]["over_Ridge"]) > 5.0 for kind in PRECISIONS)
    assert all(float(row["over_Ridge"]) > 1.6 for row in rows)
    slower = {row["rows"] for row in rows if float(row["over_DPSGDClassifier"]) > 1.0}
    assert slower == {"100000"}
    assert all(float(row["pass_over_reading"]) > 1.5 for row in rows)
    for gain in ("gain_of_2_threads", "pass_gain_of_2_threads"):
        assert all(float(row[gain]) < 1.9 for row in rows)
    for row in rows:
        assert (float(row["private_MB_but_16_bytes_a_row"]) > 100) == (row["rows"] == "1000000")
    assert all(float(row["median"]) < 1.5 for row in read("speed_ratios", race="threads_large"))
    scale = {(row["of"], row["what"]): float(row["value"]) for row in read("scale")}
    for (_, what), value in scale.items():
        assert what != "read_ratio" or value > 1.8
        assert what != "private_mb" or value <= 1000.0
        assert what != "slope" or value < 0.95
        assert what != "ratio" or round(value, 1) == 1.5
        assert what != "numpy_ratio" or value <= 1.2
    within = [of for (of, what), value in scale.items() if what == "read_ratio" and value <= 2.0]
    assert within == ["20,000,000 rows, 2 threads"]
    assert round(scale["20,000,000 rows, 2 threads", "read_ratio"], 1) == 1.9
    pinned = "minutes of passes over pinned rows, most sums"
    assert round(scale["1,000,000,000 rows, 32 workers", pinned]) == 3


def test_a_study_of_people_in_words(read):
    assert {"0.18", "0.07", "0.03", "0.02"} <= numbers_of("targets", "targets of a study")
    off, lost = {}, []
    for row in read("study", epsilon="1.0"):
        ratio = float(row["mean_risk"]) / float(row["rate"])
        off.setdefault(row["data"], []).append(ratio - 1.0)
        lost.append(float(row["auc_no_privacy"]) - float(row["auc"]))
    single = sorted(abs(one) for of_set in off.values() for one in of_set)
    assert len(single) == 18
    assert sum(one > 0.1 for one in single) == 2
    assert round(single[-1], 2) == 0.18
    assert all(len(of_set) == 9 for of_set in off.values())
    assert all(round(abs(sum(of_set) / 9), 2) <= 0.03 for of_set in off.values())
    assert max(lost) < 0.02


def test_rows_are_spread_over_columns_by_name(results):
    rows = [
        {"set": "a", "epsilon": "0.1", "loss": "0.5", "se": "0.01"},
        {"set": "a", "epsilon": "1.0", "loss": "0.25", "se": "0.02"},
        {"set": "b", "epsilon": "1.0", "loss": "", "se": ""},
        {"set": "b", "epsilon": "0.1", "loss": "0.75", "se": "0.03"},
        {"set": "b", "epsilon": "5.0", "loss": "0.1", "se": ""},
    ]
    across = ("epsilon", ["1.0", "0.1"])
    found = results.spread(rows, {}, ["set"], across, "loss", "se")
    found = [[cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row] for row in found]
    assert found == [["a", "0.25 ± 0.02", "0.5 ± 0.01"], ["b", "–", "0.75 ± 0.03"]]
    assert results.spread(rows, {"set": ["a"]}, [], across, "loss") == [["0.25", "0.5"]]
    assert results.spread(rows, {}, ["set"], ("epsilon", ["5.0"]), "loss", "se") == [["b", "0.1"]]
    with pytest.raises(ValueError, match=r"no row is of epsilon '1\.O'"):
        results.spread(rows, {}, ["set"], ("epsilon", ["0.1", "1.O"]), "loss")
    with pytest.raises(ValueError, match=r"two rows are of epsilon 1\.0"):
        results.spread(rows, {}, [], across, "loss")
    with pytest.raises(ValueError, match="no column 'gain'"):
        results.spread(rows, {}, ["set"], across, "gain")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("0.12345", "0.12"),
        ("0.12345 ± 0.0061", "0.12 ± 0.01"),
        ("0.12345 ± 0.0042", "0.12 ± 0.004"),
        ("-0.0042", "-0.004"),
        ("0.12345 ± 9.4e-05", "0.12 ± 9e-05"),
        ("0.12345 ± 0.0", "0.12 ± 0.00"),
        ("-0.0", "0.00"),
        ("-2.0", "-2.00"),
        ("-162937.6207 ± 9000.5", "-1.6e+05 ± 9000.50"),
        ("75000", "75000"),
        ("–", "–"),
        ("", ""),
        ("alpha=0.5", "alpha=0.5"),
        ("<= 0.02", "<= 0.02"),
    ],
)
def test_cells_are_rounded_where_they_are_numbers(cell, expected, results):
    found = results.rounded(cell.replace(" ± ", results.BESIDE), 2)
    assert found.replace(results.BESIDE, " ± ") == expected


def test_scorecards_in_words(read):
    assert numbers_of("additive", "scorecard") == {".0015"}
    lost = [float(row["lost"]) for row in read("scorecard")]
    assert max(lost) <= 0.0015


def test_noise_before_a_fit_in_words(read):
    said = numbers_of("additive", "noise before a fit")
    counts = {"1.5", "2", "3"}
    for way in ("additive", "linear"):
        rows = [row for row in read("noise_before_fit", way=way) if row["ratio"]]
        away = [abs(math.log(float(row["ratio"]))) for row in rows]
        within = [sum(one < math.log(factor) for one in away) for factor in (1.5, 2.0, 3.0)]
        counts |= {str(number) for number in (len(away), *within)}
    assert said == counts
    by_table = {}
    for row in read("noise_before_fit", way="additive"):
        if row["ratio"]:
            by_table.setdefault(row["data"], []).append(math.log(float(row["ratio"])))
    means = [sum(ratios) / len(ratios) for ratios in by_table.values()]
    assert (len(means), sum(abs(mean) > math.log(1.5) for mean in means)) == (10, 3)
