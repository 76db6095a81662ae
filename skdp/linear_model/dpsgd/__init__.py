"""DP-SGD: noisy gradient steps, with Gaussian noise or pure."""
