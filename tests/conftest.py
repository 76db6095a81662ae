import os

# One thread per BLAS call from the start: tests share two cores with each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import StandardScaler


@pytest.fixture
def rng():
    return np.random.default_rng(20210214)


@pytest.fixture(scope="session")
def cancer():
    """Breast-cancer records with rows in the unit ball and an unbalanced two-class label."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return X / np.linalg.norm(X, axis=1).max(), y


@pytest.fixture(scope="session")
def diabetes():
    """Diabetes records with rows in the unit ball and targets in [-1, 1]."""
    X, y = load_diabetes(return_X_y=True)
    X = X / np.linalg.norm(X, axis=1).max()
    y = y - y.mean()
    return X, y / np.abs(y).max()
