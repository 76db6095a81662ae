"""The page's table of what is converted against what is registered."""

import re
from pathlib import Path

import pytest

from skdp import additive, calibration, linear_model, model_selection, pipeline, preprocessing

skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx isn't installed")
pytest.importorskip("skdp.onnx")

PAGE = Path(__file__).parents[2] / "doc" / "out_of_python.rst"
OF_SKLEARN = {"Pipeline", "ColumnTransformer"}


def test_the_page_names_every_estimator_and_what_becomes_of_it():
    text = PAGE.read_text(encoding="utf-8")
    rows = r"estimators are converted:\n(.*?)\n\n\* \*\*Options"
    table = re.search(rows, text, re.DOTALL)[1]
    said = {}
    for row in re.split(r"(?m)^   \* - ", table)[2:]:
        names, _, becomes = row.partition("     - ")
        for name in re.findall(r"``(\w+)``", names):
            said.setdefault(name, becomes)
    rooms = (additive, calibration, linear_model, model_selection, pipeline, preprocessing)
    ours = {
        name: getattr(room, name)
        for room in rooms
        for name in room.__all__
        if isinstance(getattr(room, name), type) and hasattr(getattr(room, name), "fit")
    }
    assert set(said) == set(ours) | OF_SKLEARN
    assert "* - the estimators of ``skdp.dask``\n     - nothing: convert ``to_local()``" in table
    for name, kind in ours.items():
        refused = name in model_selection.__all__ or name.startswith("DPConformal")
        assert said[name].startswith("nothing") == refused
        assert skl2onnx.get_model_alias(kind) == f"Skdp{name}"
