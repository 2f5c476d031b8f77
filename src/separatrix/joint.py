"""Joint features Φ(x, c) of a row and a class: the convention, and maps that are ready made."""

from .data.maps.joint import (
    INTERCEPT,
    Block,
    Blocks,
    Rowwise,
    Separate,
    Shared,
    rowwise,
    written_out,
)

__all__ = [
    "INTERCEPT",
    "Block",
    "Blocks",
    "Rowwise",
    "Separate",
    "Shared",
    "rowwise",
    "written_out",
]
