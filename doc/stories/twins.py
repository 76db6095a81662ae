"""Made-up twins of two public tables: the same columns, kinds and gaps, and no person in them.

What is found on a twin says nothing of the real table. From OpenML the real ones come by
``sklearn.datasets.fetch_openml(data_id=4541)`` and ``fetch_openml(data_id=1590)``.
"""

import numpy as np
import pandas as pd

DRUGS = (
    "metformin repaglinide nateglinide chlorpropamide glimepiride acetohexamide glipizide "
    "glyburide tolbutamide pioglitazone rosiglitazone acarbose miglitol troglitazone tolazamide "
    "examide citoglipton insulin glyburide-metformin glipizide-metformin "
    "glimepiride-pioglitazone metformin-rosiglitazone metformin-pioglitazone"
).split()
# The share of stays with each of them; the others are hardly ever given.
GIVEN = {"insulin": 0.53, "metformin": 0.2, "glipizide": 0.12, "glyburide": 0.1} | {
    "pioglitazone": 0.07, "rosiglitazone": 0.06, "glimepiride": 0.05, "repaglinide": 0.015,
}  # fmt: skip


def drawn(rng, n, shares):
    """Return n words of a dict from words to their shares."""
    weights = np.array(list(shares.values()))
    return rng.choice(np.array(list(shares), dtype=object), n, p=weights / weights.sum())


def chances(logit):
    """Return probabilities."""
    return 1.0 / (1.0 + np.exp(-logit))


def hospitals(n_patients, seed=0):
    """Return stays of patients with diabetes: a twin of Diabetes 130-US hospitals.

    A row is a stay. Most patients have one, a few have up to forty, and the sicker have more.
    """
    rng = np.random.default_rng(seed)
    n_stays = np.minimum((1.0 - rng.random(n_patients)) ** (-1 / 2.2), 40).astype(int)
    who = np.repeat(np.arange(n_patients), n_stays)
    n = len(who)
    ill = (rng.standard_normal(n_patients) + 0.6 * np.log(n_stays))[who]
    numbers = rng.choice(10**8, n_patients, replace=False)
    decade = np.clip(rng.normal(6.6, 1.6, n_patients), 0, 9.9).astype(int)[who]
    gender = drawn(rng, n_patients, {"Female": 0.54, "Male": 0.46})[who]
    races = {"Caucasian": 0.75, "AfricanAmerican": 0.19, "?": 0.02}
    races |= {"Hispanic": 0.02, "Other": 0.015, "Asian": 0.005}
    columns = {
        "encounter_id": 10_000 + 6 * rng.permutation(n),
        "patient_nbr": numbers[who],
        "race": drawn(rng, n_patients, races)[who],
        "gender": gender,
        "age": np.array([f"[{10 * k}-{10 * k + 10})" for k in range(10)], dtype=object)[decade],
        "weight": drawn(rng, n, {"?": 0.97, "[75-100)": 0.02, "[50-75)": 0.01}),
        "admission_type_id": drawn(rng, n, {1: 53, 3: 19, 2: 18, 6: 5, 5: 5}).astype(int),
    }
    homes = {1: 0.6, 3: 0.13, 6: 0.13, 18: 0.04, 2: 0.02, 22: 0.02, 11: 0.02, 5: 0.01, 25: 0.01}
    days = np.clip(rng.gamma(2.2, 1.7 * np.exp(0.12 * ill)), 1, 14).astype(int)
    columns["discharge_disposition_id"] = drawn(rng, n, homes).astype(int)
    sources = {7: 57, 1: 29, 17: 7, 4: 3, 6: 2}
    columns["admission_source_id"] = drawn(rng, n, sources).astype(int)
    columns["time_in_hospital"] = days
    columns["payer_code"] = drawn(rng, n, {"?": 0.4, "MC": 0.32, "HM": 0.06, "BC": 0.05, "SP": 0.05})
    specialties = {"?": 0.5, "InternalMedicine": 0.15, "Emergency/Trauma": 0.08}
    specialties |= {"Family/GeneralPractice": 0.07, "Cardiology": 0.05, "Nephrology": 0.02}
    columns["medical_specialty"] = drawn(rng, n, specialties)
    columns["num_lab_procedures"] = np.clip(rng.normal(38 + 1.2 * days, 19), 1, 132).astype(int)
    columns["num_procedures"] = np.minimum(rng.geometric(0.43, n) - 1, 6)
    columns["num_medications"] = np.clip(rng.poisson(11 + 1.1 * days), 1, 81)
    for name, rate in {"outpatient": 0.2, "emergency": 0.1, "inpatient": 0.4}.items():
        columns[f"number_{name}"] = np.minimum(rng.poisson(rate * np.exp(0.75 * ill)), 42)
    codes = {"428": 7, "414": 6, "786": 4, "410": 4, "486": 4, "427": 3, "491": 2, "715": 2}
    codes |= {"682": 2, "434": 2, "780": 2, "996": 2, "276": 2, "38": 2, "250.8": 2, "599": 2}
    codes |= {"584": 1, "250.6": 1, "250.13": 1, "820": 1, "V57": 1, "577": 1, "197": 1, "?": 0.02}
    for place in (1, 2, 3):
        columns[f"diag_{place}"] = drawn(rng, n, codes)
    columns["number_diagnoses"] = np.clip(rng.normal(7.6 + 0.4 * ill, 1.7), 1, 16).astype(int)
    glucose = {"None": 0.947, "Norm": 0.025, ">200": 0.015, ">300": 0.013}
    columns["max_glu_serum"] = drawn(rng, n, glucose)
    columns["A1Cresult"] = drawn(rng, n, {"None": 0.83, ">8": 0.08, "Norm": 0.05, ">7": 0.04})
    for name in DRUGS:
        share = GIVEN.get(name, 0.0005)
        words = {"No": 1 - share, "Steady": 0.8 * share, "Up": 0.1 * share, "Down": 0.1 * share}
        columns[name] = drawn(rng, n, words)
    table = pd.DataFrame(columns)
    moved = table[DRUGS].isin(["Up", "Down"]).any(axis=1)
    table["change"] = np.where(moved, "Ch", "No")
    table["diabetesMed"] = np.where(table[DRUGS].ne("No").any(axis=1), "Yes", "No")
    logit = 0.35 * np.minimum(table["number_inpatient"], 6) + 0.08 * np.maximum(decade - 4, 0)
    logit += 0.7 * table["discharge_disposition_id"].isin([3, 5, 22]) + 0.03 * days
    logit += 0.3 * (table["insulin"] == "Down") + 0.25 * ill - 3.0
    logit -= 3.0 * (table["discharge_disposition_id"] == 11)  # who died doesn't come back
    soon = rng.random(n) < chances(logit)
    late = rng.random(n) < chances(0.5 * ill - 0.5)
    table["readmitted"] = np.where(soon, "<30", np.where(late, ">30", "NO"))
    return table.sample(frac=1.0, random_state=seed, ignore_index=True)
