"""An attack on searches as they run: their claim must stand, and fall where trials have less noise.

A record that is most likely scored on has one label or the other, and the attacker, who knows all
other rows and how they were split, looks at the best score. Fits are stood in for by a model that
says the same of every row, so that hundreds of searches take seconds; split, number of trials,
scores and choice are the product's.
"""

import numpy as np
import pytest
from sklearn import config_context

from skdp.accountant import GaussianEvent
from skdp.linear_model import DPLogisticRegression
from tests.door import (
    GaussianMechanism,
    Records,
    SearchBudget,
    epsilon_from_rates,
    model_selection_trials_module as _trials,
    plan_selection,
    run_repeated,
)

DELTA, ERROR = 0.1, 1e-7
N_ROWS, N_VALIDATION = 40, 38
# Epsilon, and how many searches there are of each label. A small epsilon is soon exceeded where
# noise lacks, but only a large one leaves a true bound above 0.
TRUE, FALSE = (3.0, 600), (1.5, 300)
# Far below the bound with the noise that there is.
FLOOR = 0.1


class Constant(DPLogisticRegression):
    """A model that always predicts the first class, without a look at a row."""

    # A search takes no class that it doesn't know.
    __module__ = "skdp.linear_model"

    def fit(self, X, y, groups=None):
        self.classes_, self.n_features_in_ = self.classes, 1
        self.coef_, self.intercept_ = np.zeros((1, 1)), np.full(1, -1.0)
        return self


def make_plan(epsilon):
    return plan_selection(
        SearchBudget(epsilon, DELTA, "replace_one"),
        n_records=N_ROWS,
        n_validation=N_VALIDATION,
        n_candidates=1,
        method="repeat",
        n_trials=2.0,
        # Of fits that see no more than scores do.
        fits=lambda epsilon, delta: [(GaussianEvent(100.0),)],
        row_spread=0.5,
    )


def best_scores(plan, label, size, n_searches):
    """Return how many more than others are right, by the best scores of many searches.

    The last record has the label, in each of so many rows if it is a person.
    """
    codes = np.append(np.arange(N_ROWS - 1), np.full(size, N_ROWS - 1))
    X, y = np.zeros((codes.size, 1)), codes % 2
    X[codes == N_ROWS - 1], y[codes == N_ROWS - 1] = 1.0, label
    scored_by = {"codes": codes if size > 1 else None}
    models, scored = (Constant(classes=np.array([0, 1])),), {"scoring": "accuracy"}
    found = []
    with config_context(skip_parameter_validation=True):
        for seed in range(label * n_searches, (label + 1) * n_searches):
            run = plan.start(seed)
            (split,) = run.spawn(2, noise=1)
            records = Records.split(
                X, y, N_VALIDATION, split, target_bounds=None, **scored, **scored_by
            )
            best = run_repeated(plan, models, records, run, None)
            n_others = (records.y_validation[records.X_validation[:, 0] == 0.0] == 0).sum()
            found.append(N_VALIDATION * best.score - n_others)
    return np.array(found)


def audit(epsilon, n_searches, size=1):
    """Return the largest bound of some thresholds, each at a share of the error."""
    plan = make_plan(epsilon)
    right, wrong = (best_scores(plan, label, size, n_searches) for label in (0, 1))
    thresholds = np.linspace(-1.5, 1.0, 11)
    terms = {"positives": n_searches, "negatives": n_searches, "delta": DELTA}
    return max(
        float(
            epsilon_from_rates(
                true_positives=(wrong < threshold).sum(),
                false_positives=(right < threshold).sum(),
                error=ERROR / len(thresholds),
                **terms,
            )
        )
        for threshold in thresholds
    )


pytestmark = pytest.mark.filterwarnings("ignore:delta is larger")


@pytest.mark.parametrize("size", [1, 30])
def test_the_bound_is_above_a_number_and_below_the_claim(size):
    """The claim is exceeded once in 10**7 seeds at most."""
    assert FLOOR < audit(*TRUE, size) < TRUE[0]


def test_a_person_who_is_scored_on_in_all_rows_is_convicted(monkeypatch):
    def all_rows(y, codes, stream, rows_per_group):
        return np.arange(len(y))

    monkeypatch.setattr(_trials, "counted_rows", all_rows)
    assert audit(*FALSE, 30) > FALSE[0]


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_scores_with_less_noise_are_convicted(share, monkeypatch):
    scale = GaussianMechanism.noise_scale.func
    monkeypatch.setattr(
        GaussianMechanism, "noise_scale", property(lambda self: share * scale(self))
    )
    assert audit(*FALSE) > FALSE[0]
