"""Where rows live, and the ways of passing over them."""

from .packed import Packed
from .rows import Rows

__all__ = ["Packed", "Rows"]
