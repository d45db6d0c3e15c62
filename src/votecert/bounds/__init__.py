"""Every bound of the library, by id. A new bound is one class in one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from votecert.bounds.base import Bound, Evaluation, Terms, UnsupportedProblemError
from votecert.bounds.bin_margin import BinMargin
from votecert.bounds.c_bound import CBound
from votecert.bounds.chebyshev import ChebyshevCantelliBennett, ChebyshevCantelliTandem
from votecert.bounds.dirichlet import Dirichlet
from votecert.bounds.dirichlet.margin import (
    DirichletMargin,
    DirichletMarginPublished,
    DirichletStochastic,
    DirichletStochasticPublished,
    FactorTwo,
)
from votecert.bounds.gibbs import Binomial, FirstOrder, SecondOrder
from votecert.bounds.margins import BiggsGuedj, BiggsGuedjPlus, BiggsGuedjPlusPlus, GaoZhou
from votecert.bounds.occam import Occam
from votecert.bounds.partition import Partition
from votecert.bounds.test_set import TestSet

_REGISTERED: dict[str, Bound] = {
    bound.id: bound
    for bound in (
        Occam(),
        Dirichlet(),
        BinMargin(),
        Partition(),
        FirstOrder(),
        SecondOrder(),
        Binomial(),
        FactorTwo(),
        ChebyshevCantelliTandem(),
        ChebyshevCantelliBennett(),
        CBound(),
        GaoZhou(),
        BiggsGuedj(),
        BiggsGuedjPlus(),
        BiggsGuedjPlusPlus(),
        DirichletMargin(),
        DirichletMarginPublished(),
        DirichletStochastic(),
        DirichletStochasticPublished(),
        TestSet(),
    )
}

BOUNDS: Mapping[str, Bound] = MappingProxyType(_REGISTERED)
"""The registered bounds with their default options, by id."""


def find_bound(bound: str | Bound) -> Bound:
    """A bound from its id, or itself.

    Examples
    --------
    >>> find_bound("fo").title
    'First order'
    """
    if isinstance(bound, Bound):
        return bound
    if bound not in BOUNDS:
        close = get_close_matches(str(bound), BOUNDS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"There is no bound {bound!r}.{hint} Known bounds: {', '.join(BOUNDS)}.")
    return BOUNDS[bound]


def register(bound: Bound) -> None:
    """Make a bound of your own one of :data:`BOUNDS`: ``certify`` and all others then know it by its id.

    Parameters
    ----------
    bound : Bound
        With default options. It must be registered wherever its certificates are read, too.
    """
    if not isinstance(bound, Bound):
        raise TypeError(f"This is not a bound but {bound!r}: register an instance of a class of bounds.")
    known = _REGISTERED.get(bound.id)
    if known is not None and type(known).__qualname__ != type(bound).__qualname__:
        raise ValueError(f"There is another bound {bound.id!r}: give this one an id of its own.")
    _REGISTERED[bound.id] = bound


__all__ = ["BOUNDS", "Bound", "Evaluation", "Terms", "UnsupportedProblemError", "find_bound", "register"]
