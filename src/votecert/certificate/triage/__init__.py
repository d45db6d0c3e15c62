"""Triage: what a vote may decide alone, and what it hands over."""

from votecert.certificate.triage.make import triage
from votecert.certificate.triage.record import Triage
from votecert.certificate.triage.rules import OperatingPoint

__all__ = ["OperatingPoint", "Triage", "triage"]
