"""Learners whose answers are exact: margin, 0-1 loss, separability."""
