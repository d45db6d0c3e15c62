"""Pictures of certificates, in scikit-learn's manner: ``from_...`` makes a display, ``plot`` draws it."""

from votecert.display.bars import BoundComparisonDisplay, WeightsDisplay
from votecert.display.curves import CertificateCurveDisplay, MarginDisplay
from votecert.display.difference import DifferenceDisplay
from votecert.display.monitoring import MonitorDisplay
from votecert.display.triage import TriageDisplay

__all__ = [
    "BoundComparisonDisplay",
    "CertificateCurveDisplay",
    "DifferenceDisplay",
    "MarginDisplay",
    "MonitorDisplay",
    "TriageDisplay",
    "WeightsDisplay",
]
