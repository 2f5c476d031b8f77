"""The report on a model: a page that holds everything, opens anywhere, and begins with what was checked."""
