"""Learners over joint features Φ(x, c)."""
