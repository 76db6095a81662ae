"""skrub: its cleaners and vectorizers read a column by all its entries, and are named."""

import numpy as np
import pandas as pd
import pytest

from skdp.additive import DPAdditiveClassifier
from skdp.inspection import total_report
from skdp.linear_model import DPLogisticRegression
from skdp.pipeline import make_private_pipeline
from tests.site._edges import covers, make_records

pytest.importorskip("skrub")
from sklearn.pipeline import make_pipeline
from skrub import Cleaner, TableVectorizer

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


@pytest.fixture
def data():
    X, y = make_records()
    dates = [f"2024-01-{1 + day % 28:02}" for day in range(len(y))]
    return pd.DataFrame({"a": X[:, 0], "word": np.where(y, "x", "z"), "day": dates}), y


@covers("TableVectorizer", "Cleaner")
@pytest.mark.every
@pytest.mark.parametrize("kind", [TableVectorizer, Cleaner])
def test_a_step_is_refused_by_its_name_and_one_record_decides_how_all_are_read(kind, data):
    frame, y = data
    name = kind.__name__
    model = DPLogisticRegression(data_norm=3.0, classes=[0, 1])
    with pytest.raises(ValueError, match=rf"step '{name.lower()}' \({name}\) leaks"):
        make_private_pipeline(kind(), model).fit(frame, y)
    other = frame.copy()
    other.loc[7, "day"] = "soon"
    read = [kind().fit_transform(one) for one in (frame, other)]
    if kind is Cleaner:
        assert [pd.api.types.is_datetime64_any_dtype(one["day"]) for one in read] == [True, False]
    else:
        assert "day_year" in read[0].columns
        assert "day_year" not in read[1].columns


def test_a_plain_pipeline_works_and_its_report_names_the_step(data):
    frame, y = data
    model = DPLogisticRegression(data_norm=3.0, classes=[0, 1])
    plain = make_pipeline(TableVectorizer(), model).fit(frame, y)
    report = total_report(plain)
    assert not report.differentially_private
    assert report.not_covered[0].startswith("step 'tablevectorizer' (TableVectorizer)")


def test_a_table_needs_no_cleaner(data):
    frame, y = data
    model = DPAdditiveClassifier(classes=[0, 1]).fit(frame, y)
    assert model.privacy_report_.differentially_private
