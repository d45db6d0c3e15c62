"""What the paper says about its experiments, held against the results in exact arithmetic.

Every claim is read in favour of the paper: K is searched as far as it helps, the better of two ways of
learning theorem 2 counts, and two numbers are equal that differ by less than the trials do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from votecert.paper.catalogue import CATALOGUE
from votecert.paper.cells import PUBLISHED, TEXT
from votecert.paper.results import Record
from votecert.paper.summary import TITLES, Mean, Results, risk

Counted = tuple[int, int, str]
"""How often a claim is true, out of how many, and the worst exception."""


@dataclass(frozen=True)
class Verdict:
    """A claim, whether it holds, the number that says so, and the cells that it rests on."""

    claim: str
    holds: str
    number: str
    cells: str


def judge(results: Results) -> list[Verdict]:
    """All claims, in the order of the paper. Claims about cells that were not run say so."""
    checks = (
        *(_beats_margin_bounds, _bg_is_vacuous, _old_margin_bounds_say_little, _is_sharp),
        *(_adult_stumps, _always_tighter, _always_tighter_corrected, _best_objective),
        *(_competitive_test_error, _stumps_tightest, _margins_are_small),
        *(
            _bg_plus_beats_bg,
            _bg_plus_beats_gz,
            _plus_plus_beats_plus,
            _far_tighter,
            _tighter_than_mended,
            _flat_in_margin,
        ),
    )
    return [check(results) for check in checks]


def _verdict(claim: str, count: Counted, cells: str, more: str = "") -> Verdict:
    """A claim about all cases, from a count of them."""
    true, total, exception = count
    if not total:
        return _not_run(claim)
    number = f"{true} of {total} cases" + (f"; worst exception: {exception}" if exception else "") + more
    return Verdict(claim, "holds" if true == total else "does not hold", number, cells)


def _nearly_all(claim: str, count: Counted, cells: str, more: str = "") -> Verdict:
    """A claim about almost all cases: nine of ten will do."""
    verdict = _verdict(claim, count, cells, more + " (true from 90 %)")
    return replace(verdict, holds="holds") if count[1] and count[0] >= 0.9 * count[1] else verdict


def _not_run(claim: str) -> Verdict:
    return Verdict(claim, "not run", "", "")


def _resting(
    results: Results, voters: Iterable[str], objectives: Iterable[str], *, binary: bool = False
) -> str:
    """The cells of these voters and objectives in words."""
    objectives, parts, count = list(objectives), [], 0
    for kind in voters:
        found = [cell for one in objectives for cell in results.cells(voters=kind, objective=one)]
        names = results.data_sets(kind, binary=binary)
        count += sum(cell["data"] in names for cell in found)
        if names:
            parts.append(f"{kind}: {', '.join(CATALOGUE[name].title for name in names)}")
    return f"{count} cells; {', '.join(TITLES[one] for one in objectives)}; " + "; ".join(parts)


def _count(cases: Iterable[tuple[str, float, float]], *, strictly: bool = True) -> Counted:
    """How often the first number is below the second; the exception is where it is farthest above."""
    true = total = 0
    worst, exception = -np.inf, ""
    for name, low, high in cases:
        total += 1
        if low < high or (not strictly and low <= high + 1e-9):
            true += 1
        elif low - high > worst:
            worst, exception = low - high, f"{name}, {low:.3f} against {high:.3f}"
    return true, total, exception


def _cases(
    results: Results,
    voters: Iterable[str],
    objectives: Iterable[str],
    low: Callable[[Record], float | None],
    high: Callable[[Record], float | None],
) -> list[tuple[str, float, float]]:
    """Means over trials, one case for each data set, kind of voters and objective that was run."""
    cases = []
    for kind in voters:
        for data in results.data_sets(kind):
            for objective in objectives:
                which = {"data": data, "voters": kind, "objective": objective}
                first, second = results.mean(low, **which), results.mean(high, **which)
                if first.count and second.count:
                    name = f"{CATALOGUE[data].title} {kind} {TITLES[objective]}"
                    cases.append((name, first.value, second.value))
    return cases


def _bound(name: str) -> Callable[[Record], float | None]:
    return lambda record: risk(record, name)


def _older(record: Record) -> float | None:
    values = [value for name in ("bg+", "gz") if (value := risk(record, name)) is not None]
    return min(values) if values else None


def _printed(record: Record) -> float | None:
    """Theorem 1 as printed with the K that suits it best."""
    values = [risk(record, name) for name in ("printed", "printed-wide")]
    found = [value for value in values if value is not None]
    return min(found) if found else None


BOTH, MARGIN_WEIGHTS, PAC_BAYES = ("rf", "stumps"), ("fo", "f2"), ("fo", "so", "bin", "f2")
OTHERS = (*PAC_BAYES, "cctnd", "ccpbb")
VARIANTS = (PUBLISHED, PUBLISHED + TEXT)
"""Theorem 2, learned as the program does and as the text says."""


def _at_better_weights(
    results: Results, low: Callable[[Record], float | None], high: Callable[[Record], float | None]
) -> list[tuple[str, float, float]]:
    """One case for each data set and kind of voters: at FO or f2 weights, where the first number is lower."""
    cases = []
    for kind in BOTH:
        for data in results.data_sets(kind, binary=True):
            found = [
                case
                for case in _cases(results, (kind,), MARGIN_WEIGHTS, low, high)
                if case[0].startswith(CATALOGUE[data].title + " ")
            ]
            cases += [min(found, key=lambda case: case[1])] if found else []
    return cases


def _beats_margin_bounds(results: Results) -> Verdict:
    claim = "Theorem 1 is below BG+ and GZ in almost all cases, at the better of FO and f2 weights"
    counts = [
        _count(_cases(results, BOTH, MARGIN_WEIGHTS, low, _older))
        for low in (_printed, _bound("printed"), _bound("corrected"))
    ]
    names = ("any K", "K as searched in the paper", "corrected theorem")
    parts = [f"{name} {true} of {total}" for name, (true, total, _) in zip(names, counts, strict=True)]
    cells = _resting(results, BOTH, MARGIN_WEIGHTS, binary=True)
    best = _count(_at_better_weights(results, _printed, _older))
    return _nearly_all(claim, best, cells, f" (at both weights: {'; '.join(parts)})")


def _share(results: Results, claim: str, test: Callable[[Record], bool], least: float) -> Verdict:
    """A claim about nearly all cells of the figure of margins."""
    found = [
        record
        for kind in BOTH
        for objective in MARGIN_WEIGHTS
        for record in results.cells(voters=kind, objective=objective)
        if "bg+" in record["bounds"]
    ]
    if not found:
        return _not_run(claim)
    share = float(np.mean([test(record) for record in found]))
    number = f"{100 * share:.0f} % of {len(found)} (true from {100 * least:.0f} %)"
    cells = _resting(results, BOTH, MARGIN_WEIGHTS, binary=True)
    return Verdict(claim, "holds" if share >= least else "does not hold", number, cells)


def _bg_is_vacuous(results: Results) -> Verdict:
    claim = "BG is vacuous in almost all cases"
    return _share(results, claim, lambda record: record["bounds"]["bg"]["risk"] >= 1, 0.9)


def _old_margin_bounds_say_little(results: Results) -> Verdict:
    claim = "Existing margin bounds (BG+, GZ) do not explain generalisation: both above 1/2 in most cases"
    return _share(results, claim, lambda record: (_older(record) or 1.0) > 0.5, 0.5)


def _is_sharp(results: Results) -> Verdict:
    claim = (
        'Theorem 1 is "very sharp in almost all cases" (at most twice the test-set limit, at better weights)'
    )
    count = _count(
        _at_better_weights(results, _printed, lambda record: 2 * record["bounds"]["test-set"]["risk"])
    )
    return _nearly_all(claim, count, _resting(results, BOTH, MARGIN_WEIGHTS, binary=True))


def _adult_stumps(results: Results) -> Verdict:
    claim = "0.36 ± 0.10 on Adult with stumps when K is searched further, below all existing bounds"
    means, older = {}, {}
    for one in TITLES:
        which = {"data": "adult", "voters": "stumps", "objective": one}
        if (mean := results.mean(_printed, **which)).count:
            means[one], older[one] = mean, results.mean(_older, **which)
    if not means:
        return _not_run(claim)
    best = min(means, key=lambda one: means[one].value)
    number = "; ".join(f"{TITLES[one]} weights: {mean}" for one, mean in means.items())
    good = means[best].value <= 0.46 and means[best].value < older[best].value
    found = [len(results.cells(data="adult", voters="stumps", objective=one)) for one in means]
    more = f"; BG+ and GZ at {TITLES[best]} weights: {older[best]}"
    cells = f"{sum(found)} cells; stumps: Adult, all learned weights"
    return Verdict(claim, "holds" if good else "does not hold", number + more, cells)


def _always_tighter(results: Results) -> Verdict:
    claim = "Theorem 1 is always tighter than the bound that was optimised (rf; FO, SO, Bin, f2; any K)"
    return _tighter(results, claim, _printed)


def _always_tighter_corrected(results: Results) -> Verdict:
    return _tighter(results, "The same with the corrected theorem", _bound("corrected"))


def _tighter(results: Results, claim: str, low: Callable[[Record], float | None]) -> Verdict:
    count = _count(_cases(results, ("rf",), PAC_BAYES, low, _bound("objective")))
    return _verdict(claim, count, _resting(results, ("rf",), PAC_BAYES))


def _against_others(
    results: Results, voters: str, others: Iterable[str], ask: Callable[..., Mean]
) -> list[tuple[str, float, float]]:
    """Theorem 2 against the best other objective and the spread over the trials, by data set."""
    cases = []
    for data in results.data_sets(voters):
        which = {"data": data, "voters": voters}
        own = [mean for one in VARIANTS if (mean := ask(objective=one, **which)).count]
        rest = {one: mean for one in others if (mean := ask(objective=one, **which)).count}
        if own and rest:
            best = min(rest, key=lambda one: rest[one].value)
            mean = min(own, key=lambda mean: mean.value)
            name = f"{CATALOGUE[data].title} ({TITLES[best]})"
            cases.append((name, mean.value, rest[best].value + max(mean.spread, rest[best].spread)))
    return cases


def _theorem_2(results: Results, claim: str, voters: str, others: tuple[str, ...], ask: Any) -> Verdict:
    count = _count(_against_others(results, voters, others, ask), strictly=False)
    return _verdict(claim, count, _resting(results, (voters,), (*VARIANTS, *others)))


def _best_objective(results: Results) -> Verdict:
    claim = (
        "Theorem 2 as objective gives a bound at most that of every other objective (rf; the better variant; "
        "up to a standard deviation)"
    )
    return _theorem_2(results, claim, "rf", OTHERS, partial(results.risk, "objective"))


def _stumps_tightest(results: Results) -> Verdict:
    claim = "With stumps, the certificates of theorem 2 are always the tightest (the same reading)"
    return _theorem_2(results, claim, "stumps", PAC_BAYES, partial(results.risk, "objective"))


def _competitive_test_error(results: Results) -> Verdict:
    claim = "Theorem 2 as objective is competitive in test error (rf; the same reading)"
    return _theorem_2(results, claim, "rf", OTHERS, results.test_error)


def _margins_are_small(results: Results) -> Verdict:
    claim = "The optimised margin is often quite small (below 0.1 in most cases)"
    cells = [record for record in results.cells() if risk(record, "printed") not in (None, 1.0)]
    margins = [record["bounds"]["printed"]["margin"] for record in cells]
    if not margins:
        return _not_run(claim)
    middle = float(np.median(margins))
    rests = f"{len(margins)} cells: all in which theorem 1 says anything"
    return Verdict(claim, "holds" if middle < 0.1 else "does not hold", f"median {middle:.3f}", rests)


def _curves(results: Results, low: str, high: str) -> list[tuple[str, float, float]]:
    """Two bounds at every margin and weight vector of the comparison where they are not both vacuous."""
    cases = []
    for key, record in results.records.items():
        if key.startswith("comparison/"):
            for number in (1, 2, 3) if "{}" in low + high else (1,):
                pairs = zip(
                    record["margins"],
                    record["series"][low.format(number)],
                    record["series"][high.format(number)],
                    strict=True,
                )
                name = f"m = {record['rows']}, margin error {record['margin_error']:g}"
                cases += [(f"{name}, margin {g:.3g}", a, b) for g, a, b in pairs if min(a, b) < 1]
    return cases


PANELS = "the 4 panels of the comparison, which needs no data"


def _compared(results: Results, claim: str, low: str, high: str) -> Verdict:
    return _verdict(f"Comparison: {claim}", _count(_curves(results, low, high)), PANELS)


def _bg_plus_beats_bg(results: Results) -> Verdict:
    return _compared(results, "BG+ is tighter than BG", "bg+", "bg")


def _bg_plus_beats_gz(results: Results) -> Verdict:
    return _compared(results, "BG+ is tighter than GZ", "bg+", "gz")


def _plus_plus_beats_plus(results: Results) -> Verdict:
    return _compared(results, "BG++ (here with its proof mended) is tighter than BG+", "bg++ {}", "bg+")


def _far_tighter(results: Results) -> Verdict:
    claim = "theorem 1 is tighter than BG+ (hence than BG and GZ) for random weights"
    return _compared(results, claim, "dirichlet-margin-published {}", "bg+")


def _tighter_than_mended(results: Results) -> Verdict:
    claim = "theorem 1 is tighter than BG++ (here mended, with the entropy of the weights)"
    return _compared(results, claim, "dirichlet-margin-published {}", "bg++ {}")


def _flat_in_margin(results: Results) -> Verdict:
    claim = "Comparison: theorem 1 improves very little above a certain margin (by less than 0.02 above 0.2)"
    cases = []
    for key, record in results.records.items():
        if key.startswith("comparison/"):
            start = int(np.searchsorted(record["margins"], 0.2))
            for number in (1, 2, 3):
                values = record["series"][f"dirichlet-margin-published {number}"][start:]
                cases.append((key, max(values) - min(values), 0.02))
    return _verdict(claim, _count(cases), PANELS)
