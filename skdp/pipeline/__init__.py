"""Pipelines whose steps learn privately, within one budget."""

from skdp.pipeline._pipeline import DPPipeline, make_private_pipeline

__all__ = ["DPPipeline", "make_private_pipeline"]
