"""The index of releases has every name that fits report, and leads to what is there."""

import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from skdp.additive import DPAdditiveClassifier
from skdp.linear_model import DPRidge, DPSGDClassifier
from skdp.preprocessing import DPStandardScaler
from tests.door import OF_CURVES, OF_PRODUCTS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def index():
    pytest.importorskip("sphinx")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "doc" / "_ext"), *sys.path])
        yield import_module("releases").named_releases()


def test_each_entry_leads_to_a_proof_to_code_and_to_tests(index):
    assert len(index) > 40
    for release in index:
        assert release.proofs
        assert release.tests
        for page in release.proofs:
            assert (ROOT / "doc" / f"{page}.rst").is_file(), release
        for path in (*release.code, *release.tests):
            assert (ROOT / path).is_file(), release
        pattern = rf"\b{release.constant}\b"
        for path in release.code:
            assert re.search(pattern, (ROOT / path).read_text(encoding="utf-8")), release


def test_every_plan_says_where_its_proof_is(index):
    """But for those that hold other plans, plans of others, and what plans share."""
    rooms = {release.room for release in index}
    others = {
        str(path.parent.relative_to(ROOT))
        for path in (ROOT / "skdp").rglob("_plan*.py")
        if str(path.parent.relative_to(ROOT)) not in rooms
    }
    assert others == {"skdp/extend", "skdp/linear_model", "skdp/pipeline"}


def fitted():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 3))
    y = (X[:, 0] > 0).astype(int)
    table = X.astype(object)
    table[:, 2] = np.where(X[:, 2] > 0, "a", "b")
    return [
        DPAdditiveClassifier(classes=[0, 1], random_state=0).fit(table, y),
        DPRidge(target_bounds=(0, 1), random_state=0).fit(X, y),
        DPSGDClassifier(classes=[0, 1], random_state=0).fit(X, y),
        DPStandardScaler(feature_bounds=(-1, 1), random_state=0).fit(X),
    ]


def names_of(report):
    for name in report.names:
        # One event may stand for several releases of the same kind.
        yield from name.split(", ")


@pytest.mark.filterwarnings("ignore")
def test_names_in_reports_are_in_the_index(index):
    known = {release.name for release in index}
    for model in fitted():
        found = {
            name.removesuffix(" of products").removesuffix(" of whole curves")
            for name in names_of(model.privacy_report_)
        }
        assert found
        assert found <= known
