"""Long tests beside the quick ones of `tests/statistical/test_transcripts.py`."""

import pytest

from tests.statistical.test_transcripts import CASES, check_transcripts, in_tiers, small_fits

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


@pytest.mark.parametrize("name", in_tiers(CASES))
def test_no_transcript_tells_more_than_the_report(name):
    check_transcripts(CASES[name])
