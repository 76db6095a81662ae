"""Long tests beside the quick ones of `tests/privacy/test_describe.py`."""

import numpy as np
import pandas as pd
import pytest

from tests.privacy._recorded import check_attack
from tests.statistics._describing import Describing

pytestmark = pytest.mark.filterwarnings("ignore::skdp.exceptions.PrivacyWarning")


def test_an_attack_on_all_releases_finds_what_is_reported_and_more_where_noise_lacks():
    """For a row and for three rows of a person."""
    X = pd.DataFrame({"x": [1.0, 5.0, 5.0], "w": ["a", "a", "a"]})
    describing = Describing(epsilon=4.0, crosstabs=[("x", "w")])
    check_attack(describing, X)
    check_attack(describing, X.iloc[[0, 0, 0, 1, 2]], groups=np.array([0, 0, 0, 1, 2]))
