"""Small sets of rows on which losses part ways: those of the figures, and what a few far rows do.  [004 §4.2, §4.3]"""

from .theory.scenes import (
    SCENES,
    Rows,
    Scene,
    example_4_5,
    far_and_right,
    far_and_wrong,
    figure_4_1,
    robustness,
)

__all__ = [
    "SCENES",
    "Rows",
    "Scene",
    "example_4_5",
    "far_and_right",
    "far_and_wrong",
    "figure_4_1",
    "robustness",
]
