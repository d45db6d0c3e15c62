"""Watching a certified vote in use: an alarm that may be looked at as often as one likes."""

from votecert.monitoring.monitor import Monitor
from votecert.monitoring.streams import Alarm, Stream

__all__ = ["Alarm", "Monitor", "Stream"]
