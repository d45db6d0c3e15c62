"""Pictures of certificates, in scikit-learn's manner: ``from_...`` makes a display, ``plot`` draws it."""

from votecert.display.bars import BoundComparisonDisplay, WeightsDisplay
from votecert.display.curves import CertificateCurveDisplay, MarginDisplay
from votecert.display.decisions import DifferenceDisplay, TriageDisplay
from votecert.display.monitoring import MonitorDisplay

__all__ = [
    "BoundComparisonDisplay",
    "CertificateCurveDisplay",
    "DifferenceDisplay",
    "MarginDisplay",
    "MonitorDisplay",
    "TriageDisplay",
    "WeightsDisplay",
]
