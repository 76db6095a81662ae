"""How much noise a fit is expected to have, and how many columns it can afford."""

import warnings
from numbers import Real

import numpy as np
from sklearn.base import clone, is_classifier

from skdp._checks import check_count
from skdp._estimator import PrivateEstimator
from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.inspection import _tuned as tuned
from skdp.inspection._costs import count_outputs
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.linear_model.whitened._expected_solver import most_told

_FORESEEN = (DPAdditiveClassifier, DPAdditiveRegressor, DPLogisticRegression, DPRidge)
_NOT_FORESEEN = (
    "predicted_noise is of {}, got {}. Of a pipeline, a search or a calibrated model give the "
    "model in it, with the epsilon that it gets."
)
_SQUARES_ALONE = (
    "predicted_noise is of regressions with squared errors: no typical effect on counts and "
    "amounts is known."
)


def predicted_noise(model, n_samples, n_features, n_outputs=1, *, epsilons=None):
    """Say how much noise a fit would have, beside a typical effect, for several epsilons.

    It answers how many columns one can afford, without data and without spending anything.

    Parameters
    ----------
    model : DPAdditiveClassifier, DPAdditiveRegressor, DPLogisticRegression or DPRidge
        It need not be fitted, and isn't changed. Additive models with another loss than squares,
        and models with ``inference=True``, aren't foreseen.
    n_samples, n_features : int
        Numbers of training rows and columns. All columns are taken to hold numbers. What is given
        of columns of an additive model by name, and pairs in `interactions`, is left out.
    n_outputs : int, default=1
        As for :func:`preview`.
    epsilons : list of float, default=None
        Values of epsilon, above 0. None is 0.25, 0.5, 1, 2 and 4.

    Returns
    -------
    frame : DataFrame
        A row for each epsilon, which is the index, and the columns

        * "term": the standard deviation that noise gives the effect of a column, as a root mean
          square over its values;
        * "prediction": that of a prediction, before the link;
        * "effect": the root mean square of the effect of a typical column, as far as the fit finds
          it: where noise is loud, its steps stop early and shrink all effects. Typical is what
          public tables have, 0.25 in log-odds, and 0.05 of half the range of a target;
        * "most_features": with how many columns, up to `n_features`, that effect can still be told
          from noise, by the rule that terms are called noise by.

        The name of the columns says the unit: "log-odds", or "half the range of the target", with
        the range that ``target_bounds`` gives or a fit learns. Where the records are so few that an
        additive model fits no terms, "term" is infinite, and "prediction" is NaN.

    Raises
    ------
    TypeError
        If `model` is none of these models.
    ValueError
        If one of its parameters, a size or an epsilon is invalid.

    See Also
    --------
    preview : The report that a fit would have.
    skdp.plotting.PredictedNoiseDisplay : Draw the result.

    Notes
    -----
    The plan's own steps are chosen for the second moment of independent columns, with noise. Of 102
    additive fits to 12 public tables, 73 % had a noise of predictions within a factor of 1.5 of
    what is foreseen, and 88 % within 2; of linear models, 58 % and 73 %. Outliers, and columns that
    repeat each other, change it most (doc/theory/whitening.rst, "Noise before a fit").

    Where noise is loud, steps stop early and probabilities are calibrated, which makes noise and
    effects smaller alike: compare "term" with "effect", and not with other rows.

    Examples
    --------
    >>> from skdp.additive import DPAdditiveClassifier
    >>> from skdp.inspection import predicted_noise
    >>> noise = predicted_noise(DPAdditiveClassifier(), 5000, 40, epsilons=[0.3, 3.0])
    >>> noise["term"].gt(noise["effect"]).tolist()
    [True, False]
    >>> noise["most_features"].tolist(), noise.columns.name
    ([3, 40], 'log-odds')
    """
    import pandas as pd

    if not (isinstance(model, _FORESEEN) and isinstance(model, PrivateEstimator)):
        known = ", ".join(kind.__name__ for kind in _FORESEEN)
        raise TypeError(_NOT_FORESEEN.format(known, type(model).__name__))
    if getattr(model, "loss", "squared_error") != "squared_error":
        raise ValueError(_SQUARES_ALONE)
    sizes = {"n_samples": n_samples, "n_features": n_features, "n_outputs": n_outputs}
    n_samples, n_features, n_outputs = (check_count(size, name) for name, size in sizes.items())
    model._validate_params()
    n_outputs = count_outputs(model, n_outputs)
    rows = []
    for epsilon in _check_epsilons(epsilons):
        one = clone(model).set_params(epsilon=epsilon)
        budget = one._budget(n_samples)

        def noise_of(n_columns, one=one, budget=budget):
            return one._expected_noise(budget, n_samples, n_columns, n_outputs)

        # Plans warn of what a fit warns of.
        with warnings.catch_warnings(action="ignore"):
            rows.append((epsilon, *noise_of(n_features), most_told(noise_of, n_features)))
    names = ["epsilon", "term", "prediction", "effect", "most_features"]
    frame = pd.DataFrame(rows, columns=names).set_index("epsilon")
    frame.columns.name = "log-odds" if is_classifier(model) else "half the range of the target"
    return frame


def _check_epsilons(epsilons):
    """Return the values of epsilon as floats."""
    epsilons = tuned.EPSILONS if epsilons is None else list(epsilons)
    if not epsilons or not all(isinstance(e, Real) and e > 0 for e in epsilons):
        raise ValueError("epsilons must be a list of numbers above 0.")
    return np.asarray(epsilons, dtype=np.float64).tolist()
