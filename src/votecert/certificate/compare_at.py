"""Other bounds beside a certificate."""

from __future__ import annotations

from typing import Any

from votecert.certificate._certify import compare
from votecert.certificate.certificate import Certificate
from votecert.certificate.certified_rows import certified_rows
from votecert.certificate.table import CertificateTable
from votecert.rows.read import KnownWeights


def compare_at(certificate: Certificate, votes: Any, y: Any = None, **options: Any) -> CertificateTable:
    """Every bound at the weights of a certificate, on its own rows, for looking.

    The weights keep their origin: the test-set bound is no guarantee for those learned on the same rows.
    Bounds are about the weights only, without the offsets and tables that "occam" may have
    added.

    Parameters
    ----------
    certificate : Certificate
    votes, y
        The certifying rows, as given to ``certify``, or Ballots.
    **options
        Of :func:`compare`.
    """
    own = {
        "weights": KnownWeights(certificate.weights, certificate.origin),
        "delta": certificate.delta,
        "voters": certificate.voters,
    }
    return compare(certified_rows(certificate, votes, y), **{**own, **options})
