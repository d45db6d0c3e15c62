"""``vc.difference``: intervals that hold, by rows and by clusters, and records that cannot be forged."""

from __future__ import annotations

import json
import math
from contextlib import suppress

import numpy as np
import pytest
from scipy.stats import binom

import votecert as vc
from votecert.certificate.difference import GRID, limits
from votecert.certificate.record import digest
from votecert.numerics import OUTWARD, bounded_mean_upper


def pair(rng, m, both=0.05, first=0.02, second=0.08):
    """True labels and two columns of answers that err together and alone with these chances."""
    y = rng.integers(2, size=m)
    kind = rng.choice(4, size=m, p=[both, first, second, 1 - both - first - second])
    return y, np.where((kind == 0) | (kind == 1), 1 - y, y), np.where((kind == 0) | (kind == 2), 1 - y, y)


def test_the_better_one_is_found_with_an_interval_around_the_estimate():
    y, first, second = pair(np.random.default_rng(0), 3000)
    found = vc.difference(y, first, second, names=("new", "old"))
    assert found.estimate == pytest.approx(np.mean(first != y) - np.mean(second != y))
    assert found.lower < found.estimate < found.upper < 0
    assert found.better == "first"
    assert "new is better than old" in found.statement
    assert found.verify()
    swapped = vc.difference(y, second, first)
    assert (swapped.lower, swapped.upper) == (-found.upper, -found.lower)
    assert swapped.better == "second"
    lone = [int(((first != y) & (second == y)).sum()), int(((first == y) & (second != y)).sum())]
    above = bounded_mean_upper([0.0, 0.5, 1.0], [lone[1], 3000 - sum(lone), lone[0]], math.log(0.025))
    assert found.upper == pytest.approx(2 * above - 1, abs=1e-12)
    separate = 2 * (1.96 * 0.3 / math.sqrt(3000)) * 2
    assert found.upper - found.lower < separate  # errors that both make cancel


def test_nobody_is_better_without_evidence():
    y, first, second = pair(np.random.default_rng(1), 200, first=0.05, second=0.06)
    found = vc.difference(y, first, second)
    assert found.better is None
    assert "which is better is open" in found.statement
    same = vc.difference(y, first, first)
    assert same.lower < 0 == same.estimate < same.upper


def test_clusters_of_one_row_change_nothing_and_larger_ones_widen():
    rng = np.random.default_rng(2)
    y, first, second = pair(rng, 900)
    found = vc.difference(y, first, second)
    alone = vc.difference(y, first, second, clusters=[f"case {i}" for i in rng.permutation(900)])
    assert (alone.lower, alone.estimate, alone.upper) == (found.lower, found.estimate, found.upper)
    repeated = [np.repeat(part[:90], 10) for part in (y, first, second)]
    wide = vc.difference(*repeated, clusters=np.repeat(np.arange(90), 10))
    assert wide.n_clusters == 90
    assert wide.lower == pytest.approx(vc.difference(y[:90], first[:90], second[:90]).lower)
    assert wide.upper - wide.lower > 1.5 * (found.upper - found.lower)
    assert wide.verify()


def test_missing_answers_are_errors_and_tables_are_read():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"y": ["a", "b"] * 30, "one": ["a", None] * 30, "two": ["a", "b"] * 30})
    found = vc.difference(table["y"], table["one"], table["two"])
    assert found.errors == (30, 0)
    assert found.better == "second"


@pytest.mark.parametrize("clustered", [False, True])
def test_the_interval_misses_no_more_often_than_allowed(clustered):
    """Errors of clusters are tied to one another; the truth is known by how they are drawn."""
    rng, delta, draws, missed = np.random.default_rng(3), 0.2, 300, 0
    for _ in range(draws):
        if clustered:  # in half of the clusters the first errs on every row, in a tenth the second does
            bad = rng.choice([1, -1, 0], size=12, p=[0.5, 0.1, 0.4])
            sizes = rng.integers(1, 9, size=12)
            D = np.repeat(bad, sizes)
            found = vc.difference(
                np.zeros(len(D), int),
                (D == 1).astype(int),
                (D == -1).astype(int),
                delta=delta,
                clusters=np.repeat(np.arange(12), sizes),
            )
            truth = 0.4
        else:
            found, truth = vc.difference(*pair(rng, 80), delta=delta), -0.06
        missed += not found.lower <= truth <= found.upper
    assert missed <= binom.isf(1e-9, draws, delta)


def test_rows_that_repeat_in_clusters_would_miss_as_rows():
    """The mutant that counts rows where clusters are independent is caught by the simulation."""
    rng, missed = np.random.default_rng(4), 0
    for _ in range(200):
        D = np.repeat(rng.choice([1, 0], size=12), 40)
        found = vc.difference(np.zeros(len(D), int), D, np.zeros(len(D), int), delta=0.2)
        missed += not found.lower <= 0.5 <= found.upper
    assert missed > binom.isf(1e-9, 200, 0.2)


def without_spread(content):
    """The same estimate from losses that hardly differ, and the far closer limits that these would have."""
    units = content["n_clusters"] or content["n_rows"]
    forged = {"votecert_version": "0", "estimate": -2 / GRID}
    forged |= {"above": [[GRID // 2 - 1, units]], "below": [[GRID // 2 + 1, units]]}
    pairs = [tuple(map(tuple, forged[side])) for side in ("above", "below")]
    lower, upper = limits(OUTWARD, *pairs, content["delta"])
    return forged | {"lower": math.nextafter(lower, -2), "upper": math.nextafter(upper, 2)}


def test_losses_of_clusters_go_together():
    rng = np.random.default_rng(6)
    y, first, second = pair(rng, 400)
    found = vc.difference(y, first, second, clusters=rng.integers(57, size=400))
    content = json.loads(found.to_json())
    assert vc.Difference.from_json(found.to_json()).verify()
    for side in ("above", "below"):
        (place, count), *rest = content[side]
        text = {**content, side: [[place - 4, count], *rest]}
        text["digest"] = digest(text)
        with pytest.raises(ValueError, match="go together"):
            vc.Difference.from_json(json.dumps(text))


def test_json_comes_back_and_forgeries_are_refused():
    y, first, second = pair(np.random.default_rng(5), 400)
    found = vc.difference(y, first, second)
    again = vc.Difference.from_json(found.to_json())
    assert again == found
    assert again.intact
    assert again.verify()
    content = json.loads(found.to_json())
    edited = vc.Difference.from_json(json.dumps({**content, "upper": content["upper"] - 0.01}))
    assert not edited.intact
    assert not edited.verify()
    for forged in (
        {"upper": content["upper"] - 1e-6},
        {"lower": content["lower"] + 1e-6},
        {"delta": 0.1},
        {"n_rows": 4000},
        {"above": [[0, 400]]},
        {"estimate": -0.9},
        {"extra": 1},
        {"errors": [content["errors"][0] - 1, content["errors"][1]]},
        {"errors": [0, content["errors"][1] - content["errors"][0]]},
        {"n_rows": 400.0},
        {"above": [[float(place), count] for place, count in content["above"]]},
        without_spread(content),
    ):
        text = {**content, **forged}
        text["digest"] = digest(text)
        with suppress(ValueError):
            assert not vc.Difference.from_json(json.dumps(text)).verify(), forged
    with pytest.raises(ValueError, match="not a difference"):
        vc.Difference.from_json("{}")


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="one label a row"):
        vc.difference([0, 1], [[0, 1]], [0, 1])
    with pytest.raises(ValueError, match="clusters must have one name a row"):
        vc.difference([0, 1], [0, 1], [0, 1], clusters=["a"])
    with pytest.raises(ValueError, match="missing"):
        vc.difference([0, 1], [0, 1], [0, 1], clusters=["a", None])
    with pytest.raises(ValueError, match="delta"):
        vc.difference([0, 1], [0, 1], [0, 1], delta=1.5)


def test_the_picture():
    pytest.importorskip("matplotlib").use("agg")
    y, first, second = pair(np.random.default_rng(6), 500)
    found = vc.difference(y, first, second, names=("a $", "b"))
    display = vc.DifferenceDisplay.from_difference([found, vc.difference(y, first, first)]).plot()
    assert display.ax_.get_yticklabels()[0].get_text().startswith("a")


def test_losses_of_clusters_are_rounded_up_on_both_sides():
    first = np.tile([1, 0, 0], 50)  # of three rows the first one errs on one: D = 1/3
    found = vc.difference(np.zeros(150, int), first, np.zeros(150, int), clusters=np.repeat(np.arange(50), 3))
    assert found.above == ((683, 50),)
    assert found.below == ((342, 50),)
