"""Long tests beside the quick ones of `tests/test_pickling.py`."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.model_selection import GridSearchCV

from skdp.exceptions import PrivacyWarning
from skdp.linear_model import DPSCDClassifier
from tests.test_pickling import records

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


def test_a_fit_that_goes_to_another_process_warns_here_and_there(records):
    """It is pickled on its way there, and where a worker pickles it by hand."""
    X, y = records
    model = DPSCDClassifier(random_state=0).fit(X, y)

    def strictly(model):
        # This module is no stranger to the worker: a copy made there by hand warns.
        warnings.simplefilter("error", PrivacyWarning)
        try:
            pickle.dumps(model)
        except PrivacyWarning as warning:
            return model.coef_, type(warning).__name__
        return model.coef_, None

    try:
        with pytest.warns(PrivacyWarning, match="random_state"):
            back = joblib.Parallel(n_jobs=2)(joblib.delayed(strictly)(model) for _ in range(2))
    finally:
        get_reusable_executor().shutdown(wait=True)
    for coef, caught in back:
        np.testing.assert_array_equal(coef, model.coef_)
        assert caught == "PrivacyWarning"


def test_a_search_in_other_processes_copies_no_fit(records):
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        search = GridSearchCV(DPSCDClassifier(random_state=0), {"alpha": [1e-3, 1e-2]}, cv=2)
        search.set_params(n_jobs=2).fit(*records)
