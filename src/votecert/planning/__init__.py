"""How many labelled rows a target certificate takes: a number fixed in advance, or until it is enough."""

from votecert.planning.fixed import certificate_curve, rows_needed
from votecert.planning.sequential import SequentialPlan, sequential_plan

__all__ = ["SequentialPlan", "certificate_curve", "rows_needed", "sequential_plan"]
