"""Logistic regression of diffprivlib: an optimum of a perturbed objective, by L-BFGS."""

from _peer import run
from diffprivlib.models import LogisticRegression


def prepare(X, y, batch_size, passes):
    model = LogisticRegression(epsilon=1.0, data_norm=1.0)
    return lambda: model.fit(X, y)


if __name__ == "__main__":
    run(prepare, ["diffprivlib", "scikit-learn", "numpy"])
