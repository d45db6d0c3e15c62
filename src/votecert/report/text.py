"""Numbers and user strings as text that a reader can trust: rounded the safe way, with nothing hidden."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Context, Decimal

PERCENT = "\u00a0%"
"""The sign with a space that no line is broken at."""

_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    r"""Show characters that control the screen instead of obeying them.

    Control characters and those that turn the direction of writing around could make a report read
    differently from what it says; half characters cannot be written to a file. They become escapes as
    in JSON, so JSON text stays the same JSON.

    Examples
    --------
    >>> visible("ham\u202e")
    'ham\\u202e'
    """
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def chance(delta: float) -> str:
    r"""A probability in percent, rounded up to four digits.

    Examples
    --------
    >>> chance(0.05), chance(0.05 / 3)
    ('5\xa0%', '1.667\xa0%')
    """
    return f"{_plain(_percentage(delta))}{PERCENT}"


def confidence(delta: float) -> str:
    r"""The confidence 1 - delta in percent, rounded down, and never to certainty.

    Examples
    --------
    >>> confidence(0.05), confidence(1e-9)
    ('95\xa0%', '99.9999999\xa0%')
    """
    return f"{_plain(100 - _percentage(delta))}{PERCENT}"


def limit(risk: float) -> str:
    r"""A risk in percent, rounded up to three digits; more where it would look like certainty.

    Examples
    --------
    >>> limit(0.125861), limit(0.00041201), limit(0.9996)
    ('12.6\xa0%', '0.0413\xa0%', '99.96\xa0%')
    """
    exact = Decimal(repr(float(risk)))
    for digits in range(3, 17):
        rounded = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(exact) * 100
        if rounded < 100 or risk >= 1:
            break
    return f"{_plain(min(rounded, Decimal(100)))}{PERCENT}"


def sentence(text: str) -> str:
    """Text that starts with a capital letter.

    Examples
    --------
    >>> sentence("hard vote of Ann")
    'Hard vote of Ann'
    """
    return text[:1].upper() + text[1:]


def share(value: float) -> str:
    r"""A counted share in percent, to the nearest of four digits.

    Examples
    --------
    >>> share(17 / 400)
    '4.25\xa0%'
    """
    return f"{_plain(Decimal(f'{100 * value:.4g}'))}{PERCENT}"


def one_in(risk: float) -> int | None:
    """The largest whole n with 1/n not below the risk, where that says more than the percentage.

    Examples
    --------
    >>> one_in(0.051), one_in(0.4)
    (19, None)
    """
    n = int(1 / risk) if risk > 0 else 0
    return n if n >= 3 else None


def amount(number: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> amount(1, "row"), amount(12000, "row")
    ('1 row', '12,000 rows')
    """
    plural = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def scalar(value: object) -> str:
    """A number on the way to the certificate, to six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _percentage(delta: float) -> Decimal:
    return Context(prec=4, rounding=ROUND_CEILING).create_decimal(Decimal(repr(float(delta)))) * 100


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
