"""Where rows live, and the ways of passing over them."""

from .rows import Rows
from .sparse import Sparse

__all__ = ["Rows", "Sparse"]
