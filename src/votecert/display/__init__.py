"""Pictures of certificates, in scikit-learn's manner: ``from_...`` makes a display, ``plot`` draws it."""

from votecert.display.comparison import BoundComparisonDisplay
from votecert.display.curve import CertificateCurveDisplay
from votecert.display.difference import DifferenceDisplay
from votecert.display.margins import MarginDisplay
from votecert.display.monitoring import MonitorDisplay
from votecert.display.weights import WeightsDisplay

__all__ = [
    "BoundComparisonDisplay",
    "CertificateCurveDisplay",
    "DifferenceDisplay",
    "MarginDisplay",
    "MonitorDisplay",
    "WeightsDisplay",
]
