"""Exact answers about rows: separation, margin, the fewest mistakes."""
