"""Made-up tables to try things on: nobody in them exists."""

from skdp.datasets._visits import load_visits

__all__ = ["load_visits"]
