"""What several fits on the same records come to, by the sum of epsilons and by their releases."""

import matplotlib.pyplot as plt
import numpy as np
from bands import finish, logistic_data

from skdp.accountant import compose
from skdp.linear_model import DPSCDClassifier

COUNTS = (1, 2, 5, 10, 20, 50, 101)
X, y = logistic_data(2000, 5)
model = DPSCDClassifier(epsilon=1.0, delta=1e-6, data_norm=3.0, classes=[0, 1])
report = model.fit(X, y).privacy_report_
joint = [compose([report] * count).epsilon for count in COUNTS]

figure, axes = plt.subplots(layout="constrained")
axes.plot(COUNTS, np.array(COUNTS) * report.epsilon, "o--", color="0.5", label="sum of epsilons")
axes.plot(COUNTS, joint, "o-", label="compose")
finish(
    axes,
    COUNTS,
    r"fits at $\varepsilon = 1$ on the same records",
    r"$\varepsilon$ of all of them",
    yscale="log",
    yticks=(1, 3, 10, 30, 100),
    yticklabels=("1", "3", "10", "30", "100"),
)
