"""Long tests beside the quick ones of `tests/privacy/test_kinds.py`."""

import pandas as pd
import pytest

from skdp.preprocessing import DPTableVectorizer
from tests.privacy._recorded import check_attack

pytestmark = pytest.mark.filterwarnings("ignore::skdp.exceptions.PrivacyWarning")


def test_what_is_released_tells_of_a_record_what_is_claimed():
    """`test_describe` has the same of a description."""
    X = pd.DataFrame({"x": ["1.0", "1.0"], "z": ["a", "a"]})
    check_attack(DPTableVectorizer(epsilon=4.0), X)
