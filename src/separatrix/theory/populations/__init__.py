"""Populations with a known η(x) = P(Y = 1 | x): what no learner knows, for tests, demos and the lab."""

from . import figures as figures
from .best_linear import BestLinear as BestLinear
from .best_linear import best_linear as best_linear
from .estimate import Estimate as Estimate
from .inputs import Box as Box
from .inputs import Gaussians as Gaussians
from .inputs import Inputs as Inputs
from .inputs import Points as Points
from .inputs import Rows as Rows
from .population import Discrete as Discrete
from .population import GaussianMixture as GaussianMixture
from .population import Known as Known
from .population import LogisticModel as LogisticModel
from .population import Population as Population
