"""How sure the coefficients of a likelihood are: covariances, intervals, tests, and when there are none to be had."""
