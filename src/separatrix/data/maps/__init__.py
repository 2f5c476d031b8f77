"""Feature maps Φ(x) and Φ(x, c), block by block."""
