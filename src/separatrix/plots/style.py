"""Looks: a colour that the colour-blind tell apart, and a marker, for each class."""

from __future__ import annotations

from typing import NamedTuple

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's, without the yellow that marks the crossing."""
MARKERS = "o^sDvP<X"
YELLOW, GREY = "#F0E442", "#555555"


class Look(NamedTuple):
    """How a class is drawn."""

    colour: str
    marker: str


def look(k: int) -> Look:
    """The look of class k; the first 56 differ."""
    return Look(COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)])


def plural(count: int, word: str = "row") -> str:
    """1 row, 2 rows."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
