"""Estimators that count their fits, and which reports a tool keeps of them."""

import numpy as np

from skdp.accountant import PrivacyReport
from skdp.linear_model import DPSCDClassifier, DPSCDRegressor

N_ROWS = 120
FITS = []


def covers(*tools):
    """Mark a test of what the page of sharp edges says of these tools."""
    return lambda test: test


class Counted:
    def fit(self, X, y):
        super().fit(X, y)
        FITS.append((len(X), self.privacy_report_))
        return self


class Classifier(Counted, DPSCDClassifier):
    pass


class Regressor(Counted, DPSCDRegressor):
    pass


def make_records():
    """Rows and labels, and no fits yet."""
    FITS.clear()
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N_ROWS, 4))
    return X, (X[:, 0] + 0.3 * rng.standard_normal(N_ROWS) > 0).astype(int)


def make_classifier(**parameters):
    return Classifier(max_iter=2, classes=[0, 1], **parameters)


def make_regressor(**parameters):
    return Regressor(max_iter=2, target_bounds=(0, 1), **parameters)


def sizes():
    return [size for size, _ in FITS]


def assert_counts(shares, of):
    """Check that shares are whole numbers over one."""
    counts = np.asarray(shares) * of
    np.testing.assert_allclose(counts, np.rint(counts), rtol=0, atol=1e-9)


def assert_shares(values):
    """Check that each value is a share of some of the records."""
    shares = np.array([i / j for j in range(1, N_ROWS + 1) for i in range(j + 1)])
    assert all(np.isclose(value, shares, rtol=0, atol=1e-12).any() for value in values)


def kept_reports(found):
    """All reports that are somewhere in an object, each once."""
    reports, seen, left = {}, set(), [found]
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, PrivacyReport):
            reports[id(value)] = value
        elif isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list | tuple):
            left += value
        elif hasattr(value, "__dict__"):
            left += vars(value).values()
    return list(reports.values())


def kept(found):
    """Which of the fits that were made still have their report in an object."""
    reports = kept_reports(found)
    assert not hasattr(found, "privacy_report_")
    return [i for i, (_, report) in enumerate(FITS) if any(report is other for other in reports)]
