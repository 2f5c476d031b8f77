"""Pictures. They need matplotlib, which nothing else of the library does."""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError('Pictures need matplotlib; install it by: pip install "separatrix[report]".') from error

from .convergence import ConvergenceDisplay
from .decision_regions import DecisionRegionsDisplay, describe_regions, draw_regions
from .display import Display
from .loss_surface import LossSurfaceDisplay, describe_slice, draw_slice
from .margins import MarginsDisplay
from .perceptron_steps import PerceptronStepsDisplay, describe_updates, draw_updates
from .response import ResponseDisplay
from .separability import SeparabilityDisplay, draw_separability
from .style import theme
from .surrogate_curves import SurrogateCurvesDisplay
from .weights import WeightsDisplay

__all__ = [
    "ConvergenceDisplay",
    "DecisionRegionsDisplay",
    "Display",
    "LossSurfaceDisplay",
    "MarginsDisplay",
    "PerceptronStepsDisplay",
    "ResponseDisplay",
    "SeparabilityDisplay",
    "SurrogateCurvesDisplay",
    "WeightsDisplay",
    "describe_regions",
    "describe_slice",
    "describe_updates",
    "draw_regions",
    "draw_separability",
    "draw_slice",
    "draw_updates",
    "theme",
]
