"""The fewest mistakes of a linear rule: exact in one and two dimensions, an interval beyond."""
