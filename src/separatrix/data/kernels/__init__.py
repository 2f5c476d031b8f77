"""Kernels k(x, x′), of tables and of objects."""
