"""What the best attacker can achieve, for several epsilons: a fact about guarantees, not data."""

import matplotlib.pyplot as plt
import numpy as np

from skdp.accountant import GaussianEvent, PrivacyReport, calibrate

DELTA = 1e-5
fpr = np.linspace(0.0, 1.0, 201)

figure, axes = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
for epsilon in (0.1, 0.5, 1.0, 3.0, 8.0):
    event = GaussianEvent(calibrate(epsilon, DELTA))
    report = PrivacyReport(
        epsilon=epsilon,
        delta=DELTA,
        adjacency="zero_out",
        events=(event,),
        clipping=1.0,
        accountant="pld",
    )
    axes.plot(fpr, [report.tpr_at(rate) for rate in fpr], label=rf"$\varepsilon = {epsilon:g}$")
axes.plot([0, 1], [0, 1], color="0.6", ls=":", lw=1, label="guessing")
axes.set(
    xlabel="false alarms: says 'was used' of who wasn't",
    ylabel="hits: says 'was used' of who was",
    xlim=(0, 1),
    ylim=(0, 1),
    aspect="equal",
)
axes.grid(alpha=0.3)
axes.legend(frameon=False, loc="lower right")
