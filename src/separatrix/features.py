"""Feature maps as scikit-learn transformers: x ↦ Φ(x), in which a linear rule may be curved in x.  [003 slide 18]"""

from .learners.features import GaussianBasis, Interactions, Lift, Polynomial, Standardise

__all__ = ["GaussianBasis", "Interactions", "Lift", "Polynomial", "Standardise"]
