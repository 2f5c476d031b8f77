"""Checks of what a learner is given."""
