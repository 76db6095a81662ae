"""Made-up twins of two public tables: the same columns, kinds and gaps, and no person in them.

What is found on a twin says nothing of the real table. From OpenML the real ones come by
``sklearn.datasets.fetch_openml(data_id=4541)`` and ``fetch_openml(data_id=1590)``.
"""

import numpy as np
import pandas as pd

DRUGS = [
    "metformin", "repaglinide", "nateglinide", "chlorpropamide", "glimepiride",
    "acetohexamide", "glipizide", "glyburide", "tolbutamide", "pioglitazone", "rosiglitazone",
    "acarbose", "miglitol", "troglitazone", "tolazamide", "examide", "citoglipton", "insulin",
    "glyburide-metformin", "glipizide-metformin", "glimepiride-pioglitazone",
    "metformin-rosiglitazone", "metformin-pioglitazone",
]  # fmt: skip
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
    columns["payer_code"] = drawn(rng, n, {"?": 40, "MC": 32, "HM": 6, "BC": 5, "SP": 5})
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


def census(n_people, seed=0):
    """Return people who were asked in a census: a twin of Adult, one row each."""
    rng = np.random.default_rng(seed)
    n = n_people
    schools = {
        "Preschool": 1, "1st-4th": 2, "5th-6th": 3, "7th-8th": 4, "9th": 5, "10th": 6, "11th": 7,
        "12th": 8, "HS-grad": 9, "Some-college": 10, "Assoc-voc": 11, "Assoc-acdm": 12,
        "Bachelors": 13, "Masters": 14, "Prof-school": 15, "Doctorate": 16,
    }  # fmt: skip
    shares = [0.2, 0.5, 1, 2, 1.6, 2.8, 3.7, 1.3, 32.3, 22.3, 4.2, 3.3, 16.4, 5.4, 1.7, 1.3]
    school = drawn(rng, n, dict(zip(schools, shares, strict=True)))
    years = np.array([schools[name] for name in school])
    age = np.clip(rng.gamma(8.0, 4.9, n), 17, 90).astype(int)
    married = rng.random(n) < chances((age - 34) / 8.0) * 0.65
    sex = np.where(rng.random(n) < np.where(married, 0.89, 0.5), "Male", "Female")
    alone = drawn(rng, n, {"Never-married": 60, "Divorced": 25, "Separated": 6, "Widowed": 6})
    kin = {"Not-in-family": 48, "Own-child": 29, "Unmarried": 20, "Other-relative": 3}
    jobs = {"Prof-specialty": 13, "Exec-managerial": 13, "Craft-repair": 13, "Adm-clerical": 12}
    jobs |= {"Sales": 11, "Other-service": 10, "Machine-op-inspct": 6, "Transport-moving": 5}
    jobs |= {"Handlers-cleaners": 4, "Farming-fishing": 3, "Tech-support": 3, "Protective-serv": 2}
    jobs |= {"?": 6, "Priv-house-serv": 0.5, "Armed-Forces": 0.03}
    job = drawn(rng, n, jobs)
    works = {"Private": 70, "Self-emp-not-inc": 8, "Local-gov": 6, "State-gov": 4, "?": 6}
    works |= {"Self-emp-inc": 3, "Federal-gov": 3, "Without-pay": 0.04, "Never-worked": 0.02}
    lands = {"United-States": 900, "Mexico": 20, "?": 18, "Philippines": 6, "Germany": 4}
    lands |= {"Canada": 4, "India": 3, "Cuba": 3, "Laos": 0.5, "Holand-Netherlands": 0.03}
    gains = {0: 91.8, 3_103: 2, 4_386: 1.5, 7_298: 1.3, 7_688: 1.2, 15_024: 1.7, 99_999: 0.5}
    gain = drawn(rng, n, gains).astype(int)
    hours = np.where(rng.random(n) < 0.47, 40, np.clip(rng.normal(41, 15, n), 1, 99))
    loss = np.where(rng.random(n) < 0.047, rng.normal(1870, 380, n), 0.0)
    races = {"White": 85, "Black": 10, "Asian-Pac-Islander": 3, "Amer-Indian-Eskimo": 1, "Other": 1}
    table = pd.DataFrame(
        {
            "age": age,
            "workclass": drawn(rng, n, works),
            "fnlwgt": rng.lognormal(12.0, 0.5, n).astype(int),
            "education": school,
            "education-num": years,
            "marital-status": np.where(married, "Married-civ-spouse", alone),
            "occupation": job,
            "relationship": np.where(
                married, np.where(sex == "Male", "Husband", "Wife"), drawn(rng, n, kin)
            ),
            "race": drawn(rng, n, races),
            "sex": sex,
            "capital-gain": gain,
            "capital-loss": loss.astype(int),
            "hours-per-week": hours.astype(int),
            "native-country": drawn(rng, n, lands),
        }
    )
    # Years at school count for more in a marriage.
    logit = np.where(married, 0.7, -0.05) * (years - 10) + 2.0 * married - 2.9
    logit += 1.8 * np.tanh((age - 38) / 12.0) - 0.1 * np.maximum(age - 62, 0)
    logit += 0.03 * (hours - 40) + 4.0 * (gain > 7_000)
    logit += 0.7 * np.isin(job, ["Exec-managerial", "Prof-specialty", "Tech-support"])
    logit -= 0.8 * np.isin(job, ["Other-service", "Farming-fishing", "Handlers-cleaners"])
    return table.assign(**{"class": np.where(rng.random(n) < chances(logit), ">50K", "<=50K")})
