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
    epsilon, delta, adjacency, shares, ledger, random_state, allow
        See :class:`DPPipeline`.

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
