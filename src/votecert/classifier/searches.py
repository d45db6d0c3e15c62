"""A parameter search around the classifier: its refit is one of many, chosen on the rows that certify it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace

from sklearn.model_selection._search import BaseSearchCV

from votecert.certificate import Certificate

FIXED_CANDIDATES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
"""Searches of scikit-learn: what they try does not depend on the rows, only what they choose."""

INSIDE = "Search inside, as CertifiedVotingClassifier({}(...)) does, or on rows of their own."


def certified_in_search(certify: Callable[[float], Certificate], delta: float) -> Certificate:
    """The certificate at a level, with the search around the classifier paid for if there is one.

    Each of k candidates, fixed in advance, would have had a certificate that holds with probability
    1 - delta / k. They hold together with probability 1 - delta, so the chosen one does, however it was
    chosen.

    Parameters
    ----------
    certify : callable
        Makes the certificate at a given level.
    delta : float
        The level of the statement.
    """
    found = _search_around()
    if found is None:
        return certify(delta)
    search, candidates = found
    if candidates is None:
        certificate = certify(delta)
        note = (
            f"{search} chose the settings by looking at the rows that certify them, which voids the "
            f"certificate. {INSIDE.format(search)}"
        )
    else:
        certificate = certify(delta / candidates)
        note = (
            f"{search} chose among {candidates} candidates by looking at the rows that certify the chosen "
            f"one, so each has but 1/{candidates} of delta. {INSIDE.format(search)}"
        )
        ledger = {**certificate.ledger, f"candidates of {search} not chosen": delta - certificate.delta}
        certificate = replace(certificate, delta=delta, ledger=ledger)
    warnings.warn(note, stacklevel=3)
    return replace(certificate, notes=(*certificate.notes, note))


def _search_around() -> tuple[str, int | None] | None:
    """The search whose refit is going on, and its number of candidates if these were fixed in advance.

    scikit-learn does not tell an estimator that it is being refitted: only the calls that led here do. Fits
    on folds are passed by, for nobody gets to see their certificates.
    """
    frame = sys._getframe(1)
    while (frame := frame.f_back) is not None:  # type: ignore[assignment]
        if frame.f_code.co_name == "_fit_and_score":
            return None
        search = frame.f_locals.get("self")
        if frame.f_code.co_name != "fit" or not isinstance(search, BaseSearchCV):
            continue
        kind, results = type(search), frame.f_locals.get("results")
        settings = results.get("params", []) if isinstance(results, dict) else []
        if len(settings) == 1:
            return None  # nothing was chosen
        fixed = kind.__name__ in FIXED_CANDIDATES and kind.__module__.startswith("sklearn.")
        levels = {repr(one[name]) for one in settings for name in one if name.split("__")[-1] == "delta"}
        return kind.__name__, len(settings) if settings and fixed and len(levels) < 2 else None
    return None
