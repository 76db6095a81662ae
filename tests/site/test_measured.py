"""What pages say in words of measured things is true of the tables that were measured."""

import math
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


def says(page, *sentences):
    text = " ".join((ROOT / "doc" / page).with_suffix(".rst").read_text(encoding="utf-8").split())
    for sentence in sentences:
        assert sentence in text


def ratio(read, race, claim):
    (row,) = read("speed_ratios", race=race, claim=claim)
    return float(row["median"])


def test_speed_in_words(read):
    says(
        "measured",
        "``DPSGDClassifier`` is faster than scikit-learn's ``SGDClassifier``, for as many passes, "
        "from batches of 1,000 rows, and ``DPSCDClassifier`` about as fast. With batches of 256 "
        "they take up to 1.6 times as long.",
        "about the time of ``LogisticRegression`` on Adult's size, a little less than "
        "diffprivlib's, and is more than 30 times faster than Opacus with the same batches",
        "``DPLogisticRegression`` takes 1.4 to 2.8 times the time of ``LogisticRegression``, and "
        "``DPRidge`` four to five times that of ``Ridge`` for a million rows, and nine to 17 times "
        "for 100,000",
        "about as fast as ``DPSGDClassifier``",
        "costs at most a fifth more than seeded noise",
        "A whole process takes longer than with scikit-learn alone",
    )
    for race in ("per_pass_hinge", "per_pass_log_loss"):
        rows = read("speed_ratios", race=race)
        assert all(float(row["median"]) < 1.6 for row in rows)
        median = {row["claim"].split(" /")[0]: float(row["median"]) for row in rows}
        assert median["DPSGD, batch 1000"] < 0.95
        assert 0.9 < median["DPSCD, batch 1000"] < 1.1
    assert 0.9 < ratio(read, "logistic", "LogisticRegression / DPSGD") < 1.1
    assert 1.0 < ratio(read, "logistic", "diffprivlib LogisticRegression / DPSGD") < 1.25
    assert ratio(read, "logistic", "Opacus / DPSGD, batch 256") > 30.0
    for row in read("whitening"):
        assert 1.35 < float(row["over_LogisticRegression"]) < 2.85
        wanted = (4, 5) if int(row["rows"]) >= 1_000_000 else (9, 17)
        assert wanted[0] <= round(float(row["over_Ridge"])) <= wanted[1]
        assert 0.75 < float(row["over_DPSGDClassifier"]) < 1.4
    assert all(float(row["median"]) <= 1.2 for row in read("speed_ratios", race="noise"))
    for peer in ("SGDClassifier", "LogisticRegression"):
        assert ratio(read, "processes", f"whole process, {peer} / DPSGDClassifier") < 1.0


def test_memory_in_words(read):
    says(
        "measured",
        "DP-SCD, DP-SGD and WALR make no copy of a C-ordered X in either precision",
        "DP-CD makes one, by column and in double precision",
        "If a ball is learnt, which is the default except for WALR, a fit copies the rows",
        "is fitted with less than 1 GB of private memory",
    )
    assert all(float(row["private_extra_MB"]) < 1000 for row in read("memory", part="mapped"))
    for row in read("memory", part="copies"):
        if row["X"] in ("float64", "float32") and "primal" not in row["model"]:
            copies = float(row["extra_MB"]) / float(row["X_MB"])
            wanted = 1.0 if "ball" in row["model"] else 0.0
            if row["model"].startswith("DPCD"):
                wanted += 1.0 if row["X"] == "float64" else 2.0
            assert wanted - 0.1 < copies < wanted + 0.35, row


def test_where_tuned_dp_sgd_is_as_good(read):
    says("index", "Tuned this way, DP-SGD matches skdp from epsilon 1.")
    says("../README", "Tuned this way, DP-SGD matches skdp from epsilon 1.")
    losses = {}
    for method in ("whitened", "Opacus"):
        for row in read("utility", set="adult", method=method):
            losses[method, float(row["epsilon"])] = float(row["log_loss"])
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        worse = losses["Opacus", epsilon] - losses["whitened", epsilon]
        assert abs(worse) < 0.001 if epsilon >= 1.0 else worse > 0.002


def test_beside_other_libraries(read):
    says(
        "user_guide/beside_others",
        "Opacus is a little better here, by less than 0.001 of log loss.",
        'With delta = 0 ours (``DPSGDClassifier(mechanism="laplace")``) is worse than diffprivlib.',
        "They are better on nine of the ten, and worse on OFP, which has 3,304 rows.",
        "On millionsong_cs190 boosting's R2 is below 0.",
        "models of such rows have a log loss above the base rate's",
    )
    adult = read("utility", set="adult", epsilon="1.0")
    losses = {row["method"]: float(row["log_loss"]) for row in adult}
    assert 0.0 < losses["whitened"] - losses["Opacus"] < 0.001
    assert losses["DPSGD, delta = 0"] > losses["diffprivlib"] > losses["whitened"]
    assert all(
        float(row["log_loss"]) > float(adult[0]["base_rate"])
        for row in read("synthetic", table="MST")
    )
    better = {}
    for row in read("additive_over_ebm", epsilon="1.0"):
        if row["measure"] != "log_loss":
            better.setdefault((row["data"], row["n_rows"]), []).append(float(row["better_by"]))
    assert len(better) == 10
    worse = [name for name, found in better.items() if min(found) <= 0.0]
    assert worse == [("OFP", "3304")]
    (boosted,) = read("additive", data="millionsong_cs190", way="DP-EBM", epsilon="1.0")
    assert float(boosted["r2"]) < 0.0


def test_what_delta_0_costs(read):
    says("index", "with delta = 0 our own does worse there")
    for epsilon in ("0.1", "0.5", "1.0", "2.0"):
        ours, theirs = (
            float(read("utility", set="adult", epsilon=epsilon, method=method)[0]["log_loss"])
            for method in ("DPSGD, delta = 0", "diffprivlib")
        )
        assert ours > theirs
    says("user_guide/dpsgd", "diffprivlib is better here on all tables but one")
    pure = {
        (row["set"], row["method"]): float(row["log_loss"])
        for row in read("utility", task="binary", epsilon="1.0")
    }
    sets = {name for name, _ in pure}
    won = [pure[name, "DPSGD, delta = 0"] < pure[name, "diffprivlib"] for name in sets]
    assert sum(won) == 1


def test_what_budgets_of_ones_own_gain(read):
    says(
        "user_guide/dpsgd",
        "That is better than 0.1 for all, unless nearly all are strict",
        "about as good as leaving the strict people out",
        "``DPLogisticRegression`` with 0.1 for all was better than any of them",
    )
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
    says(
        "user_guide/which",
        "At epsilon 0.1 ``DPCDClassifier`` has a log loss that is lower by .004 to .007 on "
        "credit and bank_marketing",
        "``DPSGDClassifier`` a lower one on mnist_10 (several classes)",
        "several thousand sparse columns or more, ``DPSGDClassifier`` is better",
        "sparse coefficients or on raw columns, DP-CD is much better than DP-SGD",
        "At epsilon 1 the hinge loss has a higher accuracy on Adult than the logistic loss",
    )
    says("user_guide/dpscd", "The hinge loss predicts more labels correctly at epsilon 1")
    says(
        "user_guide/dpcd",
        "with sparse coefficients, DP-CD is much better than DP-SGD. On standardised columns the "
        "default's errors are a quarter less, which is within the standard deviation of five fits",
    )
    lower = {}
    for row in read("utility_exceptions", epsilon="0.1", measure="log_loss"):
        lower.setdefault(row["best"], {})[row["set"]] = round(float(row["ours_worse_by"]), 3)
    assert lower["DPSGD"].keys() == {"mnist_10"}
    tables = ("credit", "credit_wide", "bank_marketing", "bank_wide")
    found = sorted(lower["DPCD"][name] for name in tables)
    assert (found[0], found[-1]) == (0.004, 0.007)
    says(
        "user_guide/which",
        "gradient descent on breast cancer, and on bank_marketing at epsilon 0.1",
        "diffprivlib, with a weaker penalty, on electricity at epsilon 1",
        "DP-SGD by Opacus on Adult at epsilon 1",
    )
    says("measured", "linear regression is not shown, because its R2 is below 0 on all three")
    for name, epsilon, method in (
        ("breast_cancer", "0.1", "DP-GD"),
        ("breast_cancer", "1.0", "DP-GD"),
        ("bank_marketing", "0.1", "DP-GD"),
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
    says(
        "../benchmarks/README.rst",
        "is no worse: holds on standardised Electricity, "
        f"{of['electricity_standardized exact']:.4f} (0.0013), raw California, "
        f"{of['california_raw exact']:.4f} (0.0124), and the sparse LASSO, "
        f"{of['sparse_lasso exact']:.3f} (0.250). It does not hold on raw Electricity, "
        f"{of['electricity_raw exact']:.4f} (0.0020), nor on standardised California, "
        f"{of['california_standardized exact']:.4f} (0.0007).",
        "our default, is no worse on all but standardised California: raw Electricity has "
        f"{of['electricity_raw row']:.4f} and standardised "
        f"{of['electricity_standardized row']:.4f}, raw California {of['california_raw row']:.4f} "
        f"and standardised {of['california_standardized row']:.4f}, and the sparse LASSO "
        f"{of['sparse_lasso row']:.3f}.",
        f"where DP-SGD has {of['electricity_raw dpsgd']:.3f} (0.148), raw California, "
        f"{of['california_raw dpsgd']:.2f} (0.107)",
        f"DP-SGD has {of['electricity_standardized dpsgd']:.4f} (0.0040) on Electricity and "
        f"{of['california_standardized dpsgd']:.4f} (0.0042) on California",
    )
    worse = {(row["problem"], row["method"]) for row in rows if row["no_worse"] == "False"}
    assert {problem for problem, method in worse if method == "row"} == {"california_standardized"}
    assert {problem for problem, method in worse if method == "exact"} == {
        "electricity_raw",
        "california_standardized",
    }


def test_targets_that_pages_call_missed_or_met(read):
    says(
        "targets",
        "For the million rows in double precision, at most 1.6 times ``LogisticRegression`` was "
        "aimed at, and met",
        "also at most 100 MB plus 16 bytes per row",
        "Two threads gain less than a half.",
        "(``read_ratio``): missed, with 2.7 for 20 million rows and two threads",
        "was to take at most 1.2 times as long as on two threads (``ratio``): missed, with 1.5",
        "Beside threads without compiled sums (``numpy_ratio``) it is met",
        "A billion rows on 32 workers were to take a minute of passes",
        "they take five by the plan",
    )
    rows = read("whitening")
    of_size = {(int(row["rows"]), row["precision"]): row for row in rows}
    logistic = [float(of_size[10**6, kind]["over_LogisticRegression"]) for kind in PRECISIONS]
    assert logistic[0] <= 1.6 < logistic[1]
    assert all(float(of_size[10**5, kind]["over_Ridge"]) > 5.0 for kind in PRECISIONS)
    assert all(float(row["over_Ridge"]) > 1.6 for row in rows)
    assert any(float(row["over_DPSGDClassifier"]) > 1.0 for row in rows)
    assert all(float(row["pass_over_reading"]) > 1.5 for row in rows)
    for gain in ("gain_of_2_threads", "pass_gain_of_2_threads"):
        assert all(float(row[gain]) < 1.9 for row in rows)
    assert max(float(row["private_MB_but_16_bytes_a_row"]) for row in rows) <= 100
    assert all(float(row["median"]) < 1.5 for row in read("speed_ratios", race="threads_large"))
    scale = {(row["of"], row["what"]): float(row["value"]) for row in read("scale")}
    for (_, what), value in scale.items():
        assert what != "read_ratio" or value > 2.0
        assert what != "private_mb" or value <= 1000.0
        assert what != "slope" or value < 0.95
        assert what != "ratio" or round(value, 1) == 1.5
        assert what != "numpy_ratio" or value <= 1.2
    assert round(scale["20,000,000 rows, 2 threads", "read_ratio"], 1) == 2.7
    pinned = "minutes of passes over pinned rows, most sums"
    assert round(scale["1,000,000,000 rows, 32 workers", pinned]) == 5


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
