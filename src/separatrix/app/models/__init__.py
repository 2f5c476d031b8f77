"""Model files: a fitted rule with all that it takes to score a table, as JSON; nothing here runs code from a file."""
