"""The guarantee of a model, kept in its ONNX file."""

from skdp.accountant import PrivacyReport

_KEY = "skdp.privacy_report"


def attach_report(model, report):
    """Write a guarantee into the metadata of an ONNX model.

    A converted model says nothing of its privacy: an ONNX file has what `predict` needs.

    Parameters
    ----------
    model : onnx.ModelProto
        Changed in place; a guarantee that it had is replaced.
    report : skdp.accountant.PrivacyReport
        As in a fitted estimator's ``privacy_report_``. All of it is written, its words included.

    Returns
    -------
    model : onnx.ModelProto
        The same object.

    Raises
    ------
    TypeError
        If `report` is no PrivacyReport.

    See Also
    --------
    read_report : The way back.

    Examples
    --------
    >>> import numpy as np
    >>> from skl2onnx import to_onnx
    >>> from skdp.linear_model import DPRidge
    >>> from skdp.onnx import attach_report, read_report
    >>> X = np.random.default_rng(0).uniform(-1, 1, (2000, 2)).astype(np.float32)
    >>> model = DPRidge(data_norm=2.0, target_bounds=(-2, 2)).fit(X, X.sum(axis=1))
    >>> read_report(attach_report(to_onnx(model, X[:1]), model.privacy_report_))
    (1, 1e-05)-DP
    """
    if not isinstance(report, PrivacyReport):
        raise TypeError("report must be a PrivacyReport.")
    entry = _entry(model)
    if entry is None:
        entry = model.metadata_props.add(key=_KEY)
    entry.value = report.to_json()
    return model


def read_report(model):
    """Return the guarantee that `attach_report` wrote, as `PrivacyReport.from_json` checks it.

    Parameters
    ----------
    model : onnx.ModelProto
        As ``onnx.load`` returns it.

    Returns
    -------
    report : skdp.accountant.PrivacyReport
        Believed as far as any report from a file: who can change the file can change it.

    Raises
    ------
    ValueError
        If the model has no guarantee, or one that can't be read.

    See Also
    --------
    attach_report : Write it.

    Examples
    --------
    >>> import onnx
    >>> from skdp.onnx import read_report
    >>> read_report(onnx.ModelProto())
    Traceback (most recent call last):
        ...
    ValueError: the model says nothing of its privacy: attach_report writes it.
    """
    entry = _entry(model)
    if entry is None:
        raise ValueError("the model says nothing of its privacy: attach_report writes it.")
    return PrivacyReport.from_json(entry.value)


def _entry(model):
    return next((entry for entry in model.metadata_props if entry.key == _KEY), None)
