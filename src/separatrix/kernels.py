"""Kernels: k(x, z) = φ(x)ᵀφ(z), inner products of features that are never written out.  [000 §8.2.3]"""

from .data.kernels.objects import Counted, Pairwise, Spectrum, WeisfeilerLehman
from .data.kernels.tables import NEAR, RBF, WRITTEN_OUT, Linear, Polynomial, TableKernel

__all__ = [
    "NEAR",
    "RBF",
    "WRITTEN_OUT",
    "Counted",
    "Linear",
    "Pairwise",
    "Polynomial",
    "Spectrum",
    "TableKernel",
    "WeisfeilerLehman",
]
