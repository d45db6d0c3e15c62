"""What the paper says about its experiments, held against the results in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from votecert.paper.catalogue import CATALOGUE
from votecert.paper.cells import PUBLISHED
from votecert.paper.results import Record
from votecert.paper.summary import TITLES, Results, risk

Counted = tuple[int, int, str]
"""How often a claim is true, out of how many, and the worst exception."""


@dataclass(frozen=True)
class Verdict:
    """A claim, whether it holds, and the number that says so."""

    claim: str
    holds: str
    number: str


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


def _verdict(claim: str, count: Counted) -> Verdict:
    """A claim about all cases, from a count of them."""
    true, total, exception = count
    if not total:
        return Verdict(claim, "not run", "")
    number = f"{true} of {total} cases" + (f"; worst exception: {exception}" if exception else "")
    return Verdict(claim, "holds" if true == total else "does not hold", number)


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


BOTH, MARGIN_WEIGHTS, PAC_BAYES = ("rf", "stumps"), ("fo", "f2"), ("fo", "so", "bin", "f2")


def _beats_margin_bounds(results: Results) -> Verdict:
    printed = _count(_cases(results, BOTH, MARGIN_WEIGHTS, _bound("printed"), _older))
    verdict = _verdict('Theorem 1 is below BG+ and GZ (figure of margins; "almost all cases")', printed)
    corrected = _count(_cases(results, BOTH, MARGIN_WEIGHTS, _bound("corrected"), _older))
    if verdict.holds == "not run":
        return verdict
    holds = "holds" if printed[0] >= 0.9 * printed[1] else "does not hold"
    more = f" (corrected theorem: {corrected[0]} of {corrected[1]})"
    return Verdict(verdict.claim, holds, verdict.number + more)


def _share(results: Results, claim: str, test: Callable[[Record], bool], least: float) -> Verdict:
    """A claim about nearly all cells of the figure of margins."""
    cells = [
        record
        for kind in BOTH
        for objective in MARGIN_WEIGHTS
        for record in results.cells(voters=kind, objective=objective)
        if "bg+" in record["bounds"]
    ]
    if not cells:
        return Verdict(claim, "not run", "")
    share = float(np.mean([test(record) for record in cells]))
    return Verdict(
        claim,
        "holds" if share >= least else "does not hold",
        f"{100 * share:.0f} % of {len(cells)} (true from {100 * least:.0f} %)",
    )


def _bg_is_vacuous(results: Results) -> Verdict:
    claim = "BG is vacuous in almost all cases"
    return _share(results, claim, lambda record: record["bounds"]["bg"]["risk"] >= 1, 0.9)


def _old_margin_bounds_say_little(results: Results) -> Verdict:
    claim = "Existing margin bounds (BG+, GZ) do not explain generalisation: both above 1/2 in most cases"
    return _share(results, claim, lambda record: (_older(record) or 1.0) > 0.5, 0.5)


def _is_sharp(results: Results) -> Verdict:
    claim = 'Theorem 1 is "very sharp in almost all cases" (at most 1.5 times the test-set limit)'
    return _share(
        results,
        claim,
        lambda record: record["bounds"]["printed"]["risk"] <= 1.5 * record["bounds"]["test-set"]["risk"],
        0.9,
    )


def _adult_stumps(results: Results) -> Verdict:
    claim = "0.36 ± 0.10 on Adult with stumps when K is searched further, below all existing bounds"
    means = {
        objective: results.risk("printed-wide", data="adult", voters="stumps", objective=objective)
        for objective in MARGIN_WEIGHTS
    }
    done = {objective: mean for objective, mean in means.items() if mean.count}
    if not done:
        return Verdict(claim, "not run", "")
    best = min(done, key=lambda objective: done[objective].value)
    older = results.mean(_older, data="adult", voters="stumps", objective=best)
    number = "; ".join(f"{TITLES[objective]} weights: {mean}" for objective, mean in done.items())
    good = done[best].value <= 0.46 and done[best].value < older.value
    return Verdict(claim, "holds" if good else "does not hold", f"{number}; BG+ and GZ: {older}")


def _always_tighter(results: Results) -> Verdict:
    claim = "Theorem 1 is always tighter than the bound that was optimised (rf; FO, SO, Bin, f2)"
    return _verdict(
        claim, _count(_cases(results, ("rf",), PAC_BAYES, _bound("printed"), _bound("objective")))
    )


def _always_tighter_corrected(results: Results) -> Verdict:
    claim = "The same with the corrected theorem"
    return _verdict(
        claim, _count(_cases(results, ("rf",), PAC_BAYES, _bound("corrected"), _bound("objective")))
    )


def _against_others(results: Results, voters: str, others: Iterable[str]) -> list[tuple[str, float, float]]:
    """The bound of the paper's objective against the smallest of the others', by data set."""
    cases = []
    for data in results.data_sets(voters):
        which = {"data": data, "voters": voters}
        own = results.risk("objective", objective=PUBLISHED, **which)
        rest = {one: results.risk("objective", objective=one, **which) for one in others}
        rest = {one: mean for one, mean in rest.items() if mean.count}
        if own.count and rest:
            best = min(rest, key=lambda one: rest[one].value)
            cases.append((f"{CATALOGUE[data].title} ({TITLES[best]})", own.value, rest[best].value))
    return cases


def _best_objective(results: Results) -> Verdict:
    claim = "Theorem 2 as objective gives a bound at most that of every other objective (rf)"
    others = ("fo", "so", "bin", "f2", "cctnd", "ccpbb")
    return _verdict(claim, _count(_against_others(results, "rf", others), strictly=False))


def _stumps_tightest(results: Results) -> Verdict:
    claim = "With stumps, the certificates of theorem 2 are always the tightest"
    return _verdict(claim, _count(_against_others(results, "stumps", PAC_BAYES), strictly=False))


def _competitive_test_error(results: Results) -> Verdict:
    claim = (
        "Theorem 2 as objective is competitive in test error (no more than a standard deviation above the "
        "best other; rf)"
    )
    cases = []
    for data in results.data_sets("rf"):
        own = results.test_error(data=data, voters="rf", objective=PUBLISHED)
        rest = [
            results.test_error(data=data, voters="rf", objective=one)
            for one in (*PAC_BAYES, "cctnd", "ccpbb")
        ]
        best = min((mean for mean in rest if mean.count), key=lambda mean: mean.value, default=None)
        if own.count > 1 and best is not None and best.count > 1:
            cases.append((CATALOGUE[data].title, own.value, best.value + best.spread))
    return _verdict(claim, _count(cases, strictly=False))


def _margins_are_small(results: Results) -> Verdict:
    claim = "The optimised margin is often quite small (below 0.1 in most cases)"
    cells = [record for record in results.cells() if risk(record, "printed") not in (None, 1.0)]
    margins = [record["bounds"]["printed"]["margin"] for record in cells]
    if not margins:
        return Verdict(claim, "not run", "")
    middle = float(np.median(margins))
    return Verdict(
        claim, "holds" if middle < 0.1 else "does not hold", f"median {middle:.3f} of {len(margins)}"
    )


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


def _bg_plus_beats_bg(results: Results) -> Verdict:
    return _verdict("Comparison: BG+ is tighter than BG", _count(_curves(results, "bg+", "bg")))


def _bg_plus_beats_gz(results: Results) -> Verdict:
    return _verdict("Comparison: BG+ is tighter than GZ", _count(_curves(results, "bg+", "gz")))


def _plus_plus_beats_plus(results: Results) -> Verdict:
    claim = "Comparison: BG++ (here with its proof mended) is tighter than BG+"
    return _verdict(claim, _count(_curves(results, "bg++ {}", "bg+")))


def _far_tighter(results: Results) -> Verdict:
    claim = "Comparison: theorem 1 is tighter than BG+ (hence than BG and GZ) for random weights"
    return _verdict(claim, _count(_curves(results, "dirichlet-margin-published {}", "bg+")))


def _tighter_than_mended(results: Results) -> Verdict:
    claim = "Comparison: theorem 1 is tighter than BG++ (here mended, with the entropy of the weights)"
    return _verdict(claim, _count(_curves(results, "dirichlet-margin-published {}", "bg++ {}")))


def _flat_in_margin(results: Results) -> Verdict:
    claim = "Comparison: theorem 1 improves very little above a certain margin (by less than 0.02 above 0.2)"
    cases = []
    for key, record in results.records.items():
        if key.startswith("comparison/"):
            start = int(np.searchsorted(record["margins"], 0.2))
            for number in (1, 2, 3):
                values = record["series"][f"dirichlet-margin-published {number}"][start:]
                cases.append((key, max(values) - min(values), 0.02))
    return _verdict(claim, _count(cases))
