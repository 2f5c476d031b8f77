"""Losses of two weights as surfaces: what they are, where their minima lie, and how many there are."""
