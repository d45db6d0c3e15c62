"""Several certificates side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from votecert.certificate.certificate import Certificate
from votecert.certificate.text import percent
from votecert.certificate.words import errors_of_rows, how_they_hold, left_out, note


@dataclass(frozen=True, repr=False)
class CertificateTable:
    """Certificates by bound or by group: iterable, indexable by id or position, printed as a table.

    Attributes
    ----------
    certificates : tuple of Certificate
    by : {"bound", "group"}
        What tells the certificates apart.
    skipped : dict
        Bounds that do not cover the problem, with the reason.
    simultaneous : bool
        Whether all certificates hold together, so that one may be picked afterwards.
    """

    certificates: tuple[Certificate, ...]
    by: Literal["bound", "group"] = "bound"
    skipped: dict[str, str] = field(default_factory=dict)
    simultaneous: bool = False

    def __iter__(self) -> Iterator[Certificate]:
        return iter(self.certificates)

    def __len__(self) -> int:
        return len(self.certificates)

    def __getitem__(self, key: str | int) -> Certificate:
        if isinstance(key, int):
            return self.certificates[key]
        for certificate in self.certificates:
            if getattr(certificate, self.by) == key:
                return certificate
        if key in self.skipped:
            raise KeyError(self.skipped[key])
        known = ", ".join(str(getattr(certificate, self.by)) for certificate in self.certificates)
        raise KeyError(f"There is no {self.by} {key!r} here; there are: {known}.")

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary a certificate, ready for a data frame."""
        return [
            {
                self.by: getattr(certificate, self.by),
                "risk": certificate.risk,
                "empirical_risk": certificate.empirical_risk,
                "is_guarantee": certificate.is_guarantee,
                "bound": certificate.bound,
                "delta": certificate.delta,
                "rows": certificate.terms.n_rows,
                "title": certificate.method.title,
                "note": certificate.caveat or certificate.reason,
            }
            for certificate in self.certificates
        ]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from votecert.report.notebook import table_html

        return table_html(self)

    def __repr__(self) -> str:
        lines = [(self.by, "risk", "errors", "note")] + [
            (str(getattr(one, self.by)), percent(one.risk), errors_of_rows(one), note(one)) for one in self
        ]
        first, second, third = (max(len(line[column]) for line in lines) for column in range(3))
        shown = [f"{a:<{first}}  {b:>{second}}  {c:>{third}}  {d}".rstrip() for a, b, c, d in lines]
        return "\n".join([*shown, how_they_hold(self) + left_out(self)])
