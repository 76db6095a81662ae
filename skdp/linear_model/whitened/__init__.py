"""Private whitening: a noisy second moment of the rows, then noisy full-batch steps."""
