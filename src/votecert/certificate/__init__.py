"""Certificates: making them, comparing them, writing them to files and checking them."""

from votecert.certificate._certify import certify, compare, compare_at
from votecert.certificate.certificate import Certificate
from votecert.certificate.table import CertificateTable
from votecert.certificate.verification import Verification

__all__ = ["Certificate", "CertificateTable", "Verification", "certify", "compare", "compare_at"]
