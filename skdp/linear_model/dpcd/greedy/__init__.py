"""Greedy selection: steps along coordinates that private choices select."""
