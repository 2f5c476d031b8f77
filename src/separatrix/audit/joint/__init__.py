"""The check of claims over joint features."""
