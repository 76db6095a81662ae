"""DP-SCD: dual coordinate descent on Poisson batches, with a hidden exact dual."""
