"""The shapes that the README's first model learns, into the PNG that README and landing page show.

The model is that of the README's first block of code, with seeded noise.

    python doc/figures/first_model.py
"""

import re
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt

from skdp.plotting import ShapeFunctionDisplay

HERE = Path(__file__).parent
README = (HERE.parents[1] / "README.rst").read_text(encoding="utf-8")
(code,) = re.search(r"code-block:: python\n\n((?: +.*\n|\n)+)", README).groups()
given = {}
exec(textwrap.dedent(code).split("print(")[0], given)
model = given["model"].set_params(random_state=0).fit(given["X_train"], given["y_train"])
plt.rcParams.update({"font.size": 9, "font.family": "DejaVu Sans"})
figure = ShapeFunctionDisplay.from_estimator(model).figure_
figure.set_size_inches(8, 2.6)
figure.savefig(HERE / "first_model.png", dpi=130, metadata={"Software": None})
