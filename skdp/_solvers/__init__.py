"""Solver loops: pure functions over arrays, told everything by keyword."""
