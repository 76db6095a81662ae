"""The gallery's order has each example once: the site isn't built otherwise."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_example_has_a_place_in_the_gallery():
    order = runpy.run_path(str(ROOT / "doc" / "_ext" / "reading_order.py"))["ORDER"]
    examples = [path.stem.removeprefix("plot_") for path in (ROOT / "examples").glob("plot_*.py")]
    assert sorted(order) == sorted(examples)
