"""The check of every claim, by code that shares nothing with what it checks."""
