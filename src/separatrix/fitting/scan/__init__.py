"""Passes in order: the perceptrons, stochastic gradients."""
