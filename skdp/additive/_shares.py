"""The shares of classes, where they are all that is released."""

from collections.abc import Callable

import numpy as np
from numpy.polynomial.legendre import leggauss

from skdp._checks import check_public_weight
from skdp._families.weights import weigh, weights_of_classes
from skdp._rows.kinds import WORD
from skdp.additive import _tuned as tuned
from skdp.additive._fitted import Fitted
from skdp.additive._plan import SHARES, SHARES_ALONE
from skdp.exceptions import warn_user
from skdp.linear_model._base import weights_public
from skdp.preprocessing.table._given import without_learning

# A mean over shares has so many nodes, within so many deviations of the noise: what lies beyond is
# no part of it in double precision.
_NODES, _WEIGHTS = leggauss(64)
_FARTHEST = 9.0


def release_shares(targets, weights, frame, run):
    """Return the shares of the classes, of which noise is taken off, as an array of shape (K,).

    Parameters
    ----------
    targets : ndarray of shape (n, k)
        1 for a row's class and -1 for others, in one column for two classes.
    weights : Weights
        Public ones of rows, whose mean is 1.
    frame : Frame
        The table, which knows null records.
    run : Run
    """
    n_rows, n_outputs = targets.shape
    parts = 0.5 * targets
    if n_outputs > 1:
        parts = parts + (0.5 - 1.0 / n_outputs)
    parts = parts * (weights.expand(n_rows) / weights.scale.largest)[:, np.newaxis]
    unit = weights.scale.largest / n_rows
    noise = run.mechanism(SHARES).noise_std * unit
    released = unit * run.release(SHARES, frame.counted(parts).sum(axis=0))
    if n_outputs == 1:
        share = expected_shares(released + 0.5, noise)
        return np.append(1.0 - share, share)
    shares = expected_shares(released + 1.0 / n_outputs, noise)
    return shares / shares.sum()


def expected_shares(released, noise):
    """Return the means of shares in [0, 1], all alike before, of which these were released.

    Each is the mean of a normal law about what was released, cut to [0, 1]: so none is 0 or 1,
    however far noise moved it.
    """
    nearest = np.clip(released, 0.0, 1.0)[:, np.newaxis]
    low = np.maximum(nearest - _FARTHEST * noise, 0.0)
    half = 0.5 * (np.minimum(nearest + _FARTHEST * noise, 1.0) - low)
    shares = low + half * (1.0 + _NODES)
    centre = released[:, np.newaxis]
    logs = ((nearest - centre) ** 2 - (shares - centre) ** 2) / (2.0 * noise**2)
    density = _WEIGHTS * np.exp(logs)
    return (density * shares).sum(axis=1) / density.sum(axis=1)


def of_shares(shares, class_weight, classes, basis):
    """Return a model whose terms are all 0, of shares of classes that have such weights or None."""
    if class_weight is not None:
        shares = shares * weights_of_classes(class_weight, classes)
    logs = np.log(np.maximum(shares, tuned.SMALLEST_SHARE_OF_CLASS))
    intercepts = logs[1:] - logs[0] if logs.size == 2 else logs - logs.mean()
    coefs = np.zeros((intercepts.size, basis.n_columns + 1))
    coefs[:, -1] = intercepts
    covariance = np.zeros((basis.n_columns, basis.n_columns))
    return Fitted(coefs, covariance, basis, reports=())


class SharesMixin:
    """What additive models do where the shares of classes are all that is released."""

    # The model of more than shares gives these.
    _class_weight: Callable
    _learn_basis: Callable
    _publish: Callable

    def _fit_shares(
        self, targets, classes, public_weight, model, frame, specs, pairs, signs, plan, run
    ):
        """Learn the shares of classes alone."""
        warn_user(SHARES_ALONE)
        weights = weigh(check_public_weight(public_weight, frame.n_rows))
        shares = release_shares(targets, weights, frame, run)
        frame = frame.decided(dict.fromkeys(frame.untyped, WORD))
        basis = self._learn_basis(frame, None, without_learning(specs), pairs, signs, plan, run)
        return self._publish(
            of_shares(shares, self._class_weight(), classes, basis),
            classes,
            model,
            frame,
            signs,
            plan,
            run,
            # Numbers of records are known only for terms that are learnt.
            n_there=None,
            also_public=weights_public(public_weight),
        )
