"""Certificates for losses that are not errors of independent rows: costs, and errors by cluster."""

from votecert.certificate.losses.make import certify_losses
from votecert.certificate.losses.record import LossCertificate

__all__ = ["LossCertificate", "certify_losses"]
