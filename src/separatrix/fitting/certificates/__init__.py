"""What proves that a minimum is near."""
