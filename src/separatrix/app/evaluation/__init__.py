"""How good predictions are: measures with intervals, paired differences, folds and cross-validation."""
