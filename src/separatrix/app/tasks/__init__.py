"""What the commands do, as library code: it takes tables and callbacks, and prints nothing."""
