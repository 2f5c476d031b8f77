"""Directions of descent, and the one loop that follows them. Nothing here knows a loss, a row or scikit-learn."""
