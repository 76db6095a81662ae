"""The version, which packaging and reports read here: that of the code that runs."""

__version__ = "0.3.0.dev0"
