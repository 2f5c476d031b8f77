"""Where rows live, and the ways of passing over them."""

from .rows import Rows

__all__ = ["Rows"]
