from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Targets of benchmarks are scaled to [-1, 1] before, and models aren't told."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("ignore:target_bounds=None"))
