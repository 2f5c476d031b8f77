"""Pictures. They need matplotlib, which nothing else of the library does."""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError('Pictures need matplotlib; install it by: pip install "separatrix[report]".') from error

from .convergence import ConvergenceDisplay
from .decision_regions import DecisionRegionsDisplay
from .display import Display
from .loss_slice import describe_slice, draw_slice
from .loss_surface import LossSurfaceDisplay
from .margins import MarginsDisplay
from .perceptron_steps import PerceptronStepsDisplay
from .regions import alt_text as describe_regions
from .regions import draw as draw_regions
from .response import ResponseDisplay
from .separability import draw as draw_separability
from .separability_display import SeparabilityDisplay
from .style import theme
from .surrogate_curves import SurrogateCurvesDisplay
from .updates import alt_text as describe_updates
from .updates import draw as draw_updates
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
