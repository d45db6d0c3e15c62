"""Certificates: making them, comparing them, writing them to files and checking them."""

from votecert.certificate.certifying import certify, compare
from votecert.certificate.record import Certificate
from votecert.certificate.table import CertificateTable
from votecert.certificate.verification import Verification

__all__ = ["Certificate", "CertificateTable", "Verification", "certify", "compare"]
