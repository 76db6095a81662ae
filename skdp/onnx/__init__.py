"""Private models out of Python: importing this teaches ``skl2onnx`` to convert them.

Needs the extra ``onnx``: ``pip install "skdp[onnx]"``.
"""

try:
    from skdp.onnx._register import attach_report, read_report, register
except ModuleNotFoundError as error:
    raise ImportError(
        f"skdp.onnx needs {error.name}, which isn't installed: pip install 'skdp[onnx]'"
    ) from error

register()

__all__ = ["attach_report", "read_report"]
