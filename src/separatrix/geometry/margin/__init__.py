"""The largest margin: the points of two hulls that are nearest to each other, or rows that cross."""
