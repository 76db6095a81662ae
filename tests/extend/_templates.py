"""The estimators of doc/extending.rst, as a module that a reader saves beside a notebook."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

PATH = Path(__file__).parents[2] / "doc" / "own_estimators.py"

_spec = spec_from_file_location("own_estimators", PATH)
own_estimators = module_from_spec(_spec)
# Pickles look a class up by its module.
sys.modules["own_estimators"] = own_estimators
_spec.loader.exec_module(own_estimators)
