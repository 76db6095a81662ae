"""Pipelines without names."""

from sklearn.pipeline import make_pipeline

from skdp.pipeline._pipeline import DPPipeline


def make_private_pipeline(
    *steps,
    epsilon=1.0,
    delta=1e-5,
    adjacency="zero_out",
    shares="auto",
    ledger=None,
    random_state=None,
    allow=(),
):
    """Make a `DPPipeline` whose steps are named by their classes.

    Parameters
    ----------
    *steps : estimators
        In their order; the names are those of the classes in lower case.
    epsilon, delta : float
        The guarantee of everything; see :class:`DPPipeline`, also for what follows.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        What the guarantee compares.
    shares : "auto", dict or list of float, default="auto"
        How much of the budget each step gets.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study.
    random_state : int, RandomState instance or None, default=None
        A seed of all noise, or None for none.
    allow : tuple of str, default=()
        Names of steps that may leak.

    Returns
    -------
    pipeline : DPPipeline
        Not fitted.

    Raises
    ------
    TypeError
        If a step can't be part of a pipeline.

    Examples
    --------
    >>> from skdp.linear_model import DPRidge
    >>> from skdp.pipeline import make_private_pipeline
    >>> from skdp.preprocessing import BoundsScaler
    >>> model = make_private_pipeline(BoundsScaler(), DPRidge(), epsilon=0.5)
    >>> [name for name, _ in model.steps]
    ['boundsscaler', 'dpridge']
    """
    return DPPipeline(
        make_pipeline(*steps).steps,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        shares=shares,
        ledger=ledger,
        random_state=random_state,
        allow=allow,
    )
