"""Many small fits at once."""
