"""Private models outside Python: importing this module enables ``skl2onnx`` to convert them.

Needs the extra ``onnx``: ``python -m pip install ".[onnx]"`` in a copy of the source.
"""

try:
    from skdp.onnx._inputs import initial_types, inputs
    from skdp.onnx._register import attach_report, read_report, register
except ModuleNotFoundError as error:
    raise ImportError(
        f"skdp.onnx needs {error.name}, which isn't installed: in a copy of the source of skdp, "
        "python -m pip install '.[onnx]'"
    ) from error

register()

__all__ = ["attach_report", "initial_types", "inputs", "read_report"]
