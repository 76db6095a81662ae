"""First words of the keys of random streams: each use that a seed has is a stream of its own."""

# Of calls of `partial_fit`, whose number is the second word.
CALL_KEY = 2
# Of batches, which no release draws from.
BATCHES_KEY = 3
HISTOGRAM_KEY = 5
CALIBRATION_KEY = 6
SEARCH_KEY = 7
# Of the candidates of a random search.
CANDIDATES_KEY = 8
PIPELINE_KEY = 9
# Of private transformers, one for each class.
SCALER_KEY = 20
QUANTILE_KEY = 21
NORM_KEY = 22
IMPUTER_KEY = 23
ENCODER_KEY = 24
