"""Bounds on votes with weights drawn from a Dirichlet distribution: the certificate, and the paper's."""

from votecert.bounds.dirichlet.bound import Dirichlet

__all__ = ["Dirichlet"]
