"""Numbers of diagnostics that were chosen, each with its reason."""

# From a strong to a weak guarantee, each twice the one before.
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
