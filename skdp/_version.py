"""The version of the code that runs, which packaging and reports read here."""

__version__ = "0.4.0"
