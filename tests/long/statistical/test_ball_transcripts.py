"""Long tests beside the quick ones of `tests/statistical/test_ball_transcripts.py`."""

import pytest

from tests.statistical.test_ball_transcripts import CASES, NAMES
from tests.statistical.test_transcripts import check_transcripts

# Of a large delta, of which transcripts tell most.
pytestmark = pytest.mark.filterwarnings("ignore:delta is larger")


@pytest.mark.parametrize("name", NAMES)
def test_no_transcript_tells_more_than_the_report(name):
    check_transcripts(CASES[name])
