"""DP-CD: proximal coordinate descent with noisy full-batch gradients."""
