"""Whether classes can be separated, and by how much."""
