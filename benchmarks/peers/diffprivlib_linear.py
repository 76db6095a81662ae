"""Linear regression of diffprivlib: an optimum of a perturbed polynomial, without a penalty."""

from _peer import run
from diffprivlib.models import LinearRegression


def prepare(X, y, batch_size, passes):
    model = LinearRegression(epsilon=1.0, bounds_X=(-1.0, 1.0), bounds_y=(-1.0, 1.0))
    return lambda: model.fit(X, y)


if __name__ == "__main__":
    run(prepare, ["diffprivlib", "scikit-learn", "numpy"])
