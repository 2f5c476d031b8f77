"""Moments of the rows, and the formulas that need nothing else."""
