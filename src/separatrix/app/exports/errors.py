"""What cannot be exported."""

from __future__ import annotations


class CannotExportError(ValueError):
    """A model that a target cannot hold: which, why, and what can be done."""
