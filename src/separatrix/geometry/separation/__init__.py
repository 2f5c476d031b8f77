"""How classes lie to each other: whether a rule separates them, by how much, and what proves it."""
