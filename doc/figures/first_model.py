"""The shapes that the README's first model learns: while the site is built, and the README's PNG.

The model is that of the README's first block of code, with seeded noise.

    python doc/figures/first_model.py
"""

import re
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt

from skdp.plotting import ShapeFunctionDisplay

# Sphinx runs this in this folder as code without a file, and keeps the figure itself.
IS_FILE = "__file__" in globals()
HERE = Path(__file__).parent if IS_FILE else Path.cwd()
README = (HERE.parents[1] / "README.rst").read_text(encoding="utf-8")
(code,) = re.search(r"code-block:: python\n\n((?: +.*\n|\n)+)", README).groups()
given = {}
exec(textwrap.dedent(code).split("ShapeFunctionDisplay.from")[0], given)
visits, model = given["visits"], given["model"].set_params(random_state=0)
model.fit(visits.data, visits.target, groups=visits.patient)
figure = ShapeFunctionDisplay.from_estimator(model).figure_
if IS_FILE:
    plt.rcParams.update({"font.size": 9, "font.family": "DejaVu Sans"})
    figure.savefig(HERE / "first_model.png", dpi=110, metadata={"Software": None})
