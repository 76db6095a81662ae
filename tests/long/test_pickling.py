"""What not every change needs of the tests of `tests/test_pickling.py`."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from skdp.exceptions import PrivacyWarning
from skdp.linear_model import DPSCDClassifier
from tests.test_pickling import records

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


def test_other_processes_of_a_computation_are_passed_in_silence(records):
    """To the worker, under this process's filters, and back under those that the worker sets."""
    X, y = records
    model = DPSCDClassifier(random_state=0).fit(X, y)

    def strictly(model):
        # This module is no stranger to the worker: a copy made there by hand warns.
        warnings.simplefilter("error", PrivacyWarning)
        try:
            pickle.dumps(model)
        except PrivacyWarning as warning:
            return model, type(warning).__name__
        return model, None

    try:
        back = joblib.Parallel(n_jobs=2)(joblib.delayed(strictly)(model) for _ in range(2))
    finally:
        get_reusable_executor().shutdown(wait=True)
    for other, caught in back:
        np.testing.assert_array_equal(other.coef_, model.coef_)
        assert caught == "PrivacyWarning"
