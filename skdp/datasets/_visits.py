"""A made-up table of a hospital's visits."""

import numpy as np
from scipy.special import expit, ndtri
from sklearn.utils import Bunch

from skdp._checks import check_flag
from skdp.datasets._tuned import (
    ADMISSIONS,
    DIAGNOSES,
    FIRST_DAY,
    HOMES,
    MOST_VISITS,
    N_DAYS,
    N_VISITS,
    SEED,
)

_FEATURES = (
    "age",
    "admitted",
    "admission",
    "diagnosis",
    "nights",
    "earlier_visits",
    "medicines",
    "sodium",
    "lives",
    "room",
)
_TARGET = "outcome"
_OUTCOMES = ("home", "readmitted")
_DESCRIPTION = """\
Visits to a hospital, made up

10,000 visits of 5,835 people. Nobody in this table exists: a formula and a fixed seed made it.

age             years
admitted        day of the admission
admission       planned, emergency or transfer
diagnosis       one of eight; "burns" is rare
nights          nights in the hospital
earlier_visits  visits of this person before
medicines       number of medicines at discharge
sodium          mmol per litre of blood; not measured in one visit of seven
lives           alone, with others or in a care home; not asked in one visit of twelve
room            number of the room; it has no effect

outcome         "readmitted" within a month, or "home"

The log-odds of a readmission grow with age from 60 on, with earlier visits and with nights, and
with sodium that is far from 140. They fell on 1 July 2024, when the made-up hospital began to call
people at home. More medicines raise them for the old, and lower them for the young.
"""


def load_visits(*, as_frame=True, return_X_y=False):
    """Make up a table of visits to a hospital, and which of them led to a readmission.

    Nobody in this table exists: a formula and a fixed seed made it. It is like what hospitals have:
    numbers, words, dates, missing values, and several visits of one person. It is made anew at each
    call, without a download, and is the same each time.

    Parameters
    ----------
    as_frame : bool, default=True
        Whether the table is a data frame of pandas. If False, it is an array of objects.
    return_X_y : bool, default=False
        Whether to return the columns to predict from and the outcome alone. The person of each
        visit is then missing, and without it a fit protects single visits.

    Returns
    -------
    visits : :class:`~sklearn.utils.Bunch`
        With these attributes:

        data : pandas.DataFrame or ndarray of shape (10_000, 10)
            The columns to predict from. ``DESCR`` says what they are.
        target : pandas.Series or ndarray of shape (10_000,)
            The outcome: "home" or "readmitted".
        patient : pandas.Series or ndarray of shape (10_000,)
            A number for the person of each visit: ``groups`` of a fit.
        frame : pandas.DataFrame
            All of these together; None if `as_frame` is False.
        feature_names, target_names : list of str
            Names of the columns, and the outcomes.
        DESCR : str
            What the table holds, and the formula of its risk in words.

    (data, target) : tuple
        Only if `return_X_y` is True.

    Raises
    ------
    ImportError
        If pandas isn't installed.
    ValueError
        If a parameter isn't a bool.

    Examples
    --------
    >>> from skdp.datasets import load_visits
    >>> visits = load_visits()
    >>> X, y, patient = visits.data, visits.target, visits.patient
    >>> X.shape, y.value_counts().to_dict(), patient.nunique()
    ((10000, 10), {'home': 6838, 'readmitted': 3162}, 5835)
    """
    check_flag(as_frame, "as_frame")
    check_flag(return_X_y, "return_X_y")
    columns, outcome, patient = _make_visits(np.random.Generator(np.random.PCG64(SEED)))
    frame = None
    if as_frame:
        from pandas import DataFrame

        frame = DataFrame({"patient": patient, **columns, _TARGET: outcome})
        data = frame[list(_FEATURES)]
        target, patient = frame[_TARGET].copy(), frame["patient"].copy()
    else:
        # As objects of NumPy dates become dates of Python, which are read as dates.
        data = np.column_stack([values.astype(object) for values in columns.values()])
        target = outcome.astype(object)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        patient=patient,
        frame=frame,
        feature_names=list(_FEATURES),
        target_names=list(_OUTCOMES),
        DESCR=_DESCRIPTION,
    )


def _make_visits(rng):
    """Return the columns by name, the outcomes and the people, in the order of admission.

    All is made of uniform numbers, because only these are the same in all versions of NumPy.
    """
    person, frailty, first_age = _people(rng)
    frail = frailty[person]
    day = np.floor(N_DAYS * rng.random(N_VISITS)).astype(int)
    order = np.argsort(day, kind="stable")
    person, frail, day = person[order], frail[order], day[order]
    # People have the numbers of those who are admitted before them, and one more.
    _, first, inverse = np.unique(person, return_index=True, return_inverse=True)
    patient = np.argsort(np.argsort(first))[inverse] + 1
    age = np.minimum(first_age[person] + day // 365, 101)
    is_emergency_share = expit(0.4 * frail + 0.01 * (age - 60))
    admission = _drawn(rng, ADMISSIONS, shift=is_emergency_share - 0.5)
    diagnosis = _drawn(rng, DIAGNOSES)
    nights = np.floor(np.exp(0.9 + 0.3 * frail + 0.8 * _normal(rng))).clip(0, 90)
    before = np.floor(np.exp(0.5 * frail + 0.7 * _normal(rng)) * 0.8).clip(0, 20)
    medicines = np.floor((5 + 0.06 * (age - 40) + frail + 3 * _normal(rng)).clip(0, 25))
    sodium = np.round(139.5 + 3.5 * _normal(rng), 1)
    lives = _drawn(rng, HOMES, shift=0.2 * (age > 75))
    room = 101 + np.floor(60 * rng.random(N_VISITS))
    log_odds = (
        -2.75
        + 0.03 * (age - 60).clip(0, 35)
        + 0.9 * np.log1p(before)
        + 0.25 * np.log1p(nights)
        + 0.012 * np.square(sodium - 140).clip(0, 120)
        + 0.12 * (medicines - 7) * ((age - 55) / 10).clip(-1, 1)
        - 0.5 * (day >= 547)
        + _effects(admission, ADMISSIONS)
        + _effects(diagnosis, DIAGNOSES)
        + _effects(lives, HOMES)
        + 0.3 * frail
    )
    outcome = np.where(rng.random(N_VISITS) < expit(log_odds), "readmitted", "home")
    # Who stays a day is tested less often.
    sodium[rng.random(N_VISITS) < np.where(nights < 2, 0.25, 0.1)] = np.nan
    lives[rng.random(N_VISITS) < 1 / 12] = None
    values = (
        age,
        np.datetime64(FIRST_DAY) + day,
        admission,
        diagnosis,
        nights.astype(int),
        before.astype(int),
        medicines.astype(int),
        sodium,
        lives,
        room.astype(int),
    )
    return dict(zip(_FEATURES, values, strict=True)), outcome, patient


def _people(rng):
    """Return the person of each visit, and by person how frail and how old they are."""
    frailty = _normal(rng)
    # A geometric number of further visits; the frail have more.
    mean = 0.6 * np.exp(0.6 * frailty)
    further = np.log1p(-rng.random(N_VISITS)) / np.log(mean / (1 + mean))
    n_visits = 1 + np.floor(further.clip(0, MOST_VISITS - 1)).astype(int)
    first_age = 18 + np.floor(77 * rng.random(N_VISITS) ** 0.6).astype(int)
    person = np.repeat(np.arange(N_VISITS), n_visits)[:N_VISITS]
    return person, frailty, first_age


def _normal(rng):
    """Return standard normal numbers, one for each visit."""
    return ndtri(rng.random(N_VISITS) * (1 - 2e-16) + 1e-16)


def _drawn(rng, words, shift=0.0):
    """Return words with their shares; a shift above 0 makes the first ones rarer."""
    ends = np.cumsum([share for share, _ in words.values()])
    place = np.searchsorted(ends / ends[-1], (rng.random(N_VISITS) + shift).clip(0, 1 - 1e-9))
    return np.array(list(words), dtype=object)[place]


def _effects(drawn, words):
    """Return what each word adds to the log-odds."""
    return np.array([words[word][1] for word in drawn])
