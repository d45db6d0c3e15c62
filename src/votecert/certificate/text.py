"""Numbers and user strings as text that a reader can trust: rounded the safe way, with nothing hidden."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

INSTALL = "python -m pip install '.[cli]'  # in a clone of the votecert repository"
"""How to get the command line; until the package is published, from its repository."""

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


def percent(risk: float) -> str:
    """A risk in percent, rounded up: two digits after the point, more for a small one or one close to 1.

    Examples
    --------
    >>> percent(0.125861), percent(0.09), percent(0.00041201), percent(0.99999), percent(1.0)
    ('12.59 %', '9.00 %', '0.0413 %', '99.999 %', '100 %')
    """
    return f"{_ceiling(risk):f} %"


def at_least(share: float) -> str:
    """A lower limit in percent, rounded down.

    Examples
    --------
    >>> at_least(0.75129), at_least(1.0), at_least(0.000123)
    ('75.12 %', '100 %', '0.0123 %')
    """
    exact, places = _percent(share)
    return f"{_short(exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_FLOOR))} %"


def rounded_up(risk: float) -> str:
    """The same number as a fraction, for programs that read it.

    Examples
    --------
    >>> rounded_up(0.12341), rounded_up(0.1), rounded_up(0.1 + 5e-14), rounded_up(1.0)
    ('0.1235', '0.1000', '0.1001', '1.00')
    """
    return f"{_ceiling(risk).scaleb(-2):f}"


def chance(delta: float) -> str:
    """A probability in percent, rounded up.

    Examples
    --------
    >>> chance(0.05), chance(0.05 / 3)
    ('5 %', '1.67 %')
    """
    return f"{_short(_ceiling(delta))} %"


def confidence(delta: float) -> str:
    """The confidence 1 - delta in percent, rounded down, and never to certainty.

    Examples
    --------
    >>> confidence(0.05), confidence(1e-9)
    ('95 %', '99.9999999 %')
    """
    return f"{_short(100 - _ceiling(delta))} %"


def share(value: float) -> str:
    """A counted share in percent, to the nearest of four digits.

    Examples
    --------
    >>> share(17 / 400)
    '4.25 %'
    """
    return f"{_short(Decimal(f'{100 * value:.4g}'))} %"


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


def sentence(text: str) -> str:
    """Text that starts with a capital letter.

    Examples
    --------
    >>> sentence("hard vote of Ann")
    'Hard vote of Ann'
    """
    return text[:1].upper() + text[1:]


def _percent(share: float) -> tuple[Decimal, int]:
    """Percent, and how many digits to show after the point: two, or as many as give three in all."""
    exact = Decimal(repr(float(share))) * 100
    return exact, max(2, 2 - exact.adjusted()) if exact else 2


def _ceiling(risk: float) -> Decimal:
    """Percent with two digits after the point or three in all; more where it would look like certainty."""
    exact, places = _percent(risk)
    while (rounded := exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING)) >= 100:
        if risk >= 1:
            return Decimal(100)
        places += 1
    return rounded


def _short(number: Decimal) -> str:
    """Without zeros at the end that say nothing."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
