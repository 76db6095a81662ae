"""Long tests beside the quick ones of `tests/site/test_documentation.py`."""

import doctest

import pytest

from tests.site.test_documentation import DOC, OPTIONS, PAGES

CONVERTERS = ("skl2onnx", "onnxruntime", "skops")
# Packages without which the examples of a page don't run.
NEEDED = {
    "out_of_python": CONVERTERS,
    "stories/hospital": CONVERTERS,
    "neighbours": ("imblearn", "optuna", "shap"),
}


def name_of(path):
    return path.relative_to(DOC).with_suffix("").as_posix()


@pytest.mark.parametrize(
    "path", [path for path in PAGES if ">>>" in path.read_text(encoding="utf-8")], ids=name_of
)
def test_examples_of_pages_run(path, monkeypatch):
    # What a reader saves beside a notebook.
    monkeypatch.syspath_prepend(path.parent)
    for package in NEEDED.get(name_of(path), ()):
        pytest.importorskip(package)
    found = doctest.testfile(
        str(path), module_relative=False, optionflags=OPTIONS, encoding="utf-8"
    )
    assert found.attempted > 0
    assert found.failed == 0
