"""Pipelines whose steps learn privately, within one budget."""

from skdp.pipeline._make import make_private_pipeline
from skdp.pipeline._pipeline import DPPipeline

__all__ = ["DPPipeline", "make_private_pipeline"]
