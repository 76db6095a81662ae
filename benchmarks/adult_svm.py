"""Support vector machine on Adult: test accuracy against epsilon.

The protocol is that of Damaskinos et al. (2021), appendix E. Its scaling is NOT private: modes,
categories and largest values come from the training rows, so the guarantee covers the fit alone.
Batch size and clipping norm are the same for every epsilon.

    python benchmarks/adult_svm.py --data FOLDER
"""

import argparse
import math
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _data import NOT_PRIVATE, load_prepared, write_table
from tqdm import tqdm

from skdp.exceptions import PrivacyWarning
from skdp.linear_model import DPSCDClassifier

EPSILONS = (0.1, 0.5, 1.0, 2.0, math.inf)
SETTINGS = {
    "loss": "hinge",
    "alpha": 1e-5,
    "fit_intercept": False,
    "classes": ["<=50K", ">50K"],
    "delta": 1e-3,
    "max_iter": 10,
    "batch_size": 50,
    "clipping_norm": 0.006,
}
RESULTS = Path(__file__).parent / "results" / "adult_svm.csv"


def fit_and_score(epsilon, seed, X_train, y_train, X_test, y_test):
    """Return test accuracy, seconds for the fit, and noise multiplier."""
    model = DPSCDClassifier(epsilon=epsilon, random_state=seed, **SETTINGS)
    start = time.perf_counter()
    with warnings.catch_warnings():
        # The paper's delta, 1e-3, is above 1/n. It is kept so that results can be compared.
        warnings.filterwarnings("ignore", "delta is larger than 1 / n", PrivacyWarning)
        model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    return model.score(X_test, y_test), seconds, model.privacy_report_.noise_multiplier


def measure(data, seeds):
    """Return one row of results for each epsilon."""
    rows = []
    with tqdm(total=len(EPSILONS) * len(seeds), unit="fit") as progress:
        for epsilon in EPSILONS:
            runs = []
            for seed in seeds:
                runs.append(fit_and_score(epsilon, seed, *data))
                progress.update()
            accuracy, seconds, noise = map(np.array, zip(*runs, strict=True))
            rows.append(
                {
                    "epsilon": epsilon,
                    "accuracy_median": np.median(accuracy),
                    "accuracy_min": accuracy.min(),
                    "accuracy_max": accuracy.max(),
                    "seconds_per_fit": np.median(seconds),
                    "noise_multiplier": noise[0],
                }
            )
    return pd.DataFrame(rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder with adult.csv.gz (default: SKDP_DATA, or OpenML)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)

    table = measure(load_prepared("adult", options.data), options.seeds).round(4)
    # Folders are left out: they are the machine's.
    seeds = " ".join(map(str, options.seeds))
    write_table(table, options.output, f"python benchmarks/adult_svm.py --seeds {seeds}")
    print(NOT_PRIVATE)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
