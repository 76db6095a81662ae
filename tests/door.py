"""What tests use of the package's private modules."""

from skdp._rows import fused
from skdp._rows.bounds import null_records

__all__ = ["fused", "null_records"]
