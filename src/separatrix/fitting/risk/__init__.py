"""Sums over blocks of rows: value, gradient, curvature."""
