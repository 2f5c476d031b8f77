"""What a fitted model says: its summary, and one prediction explained."""
