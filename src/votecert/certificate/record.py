"""What is written as JSON with a digest, read again without being executed, and checked for edits."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Never, Self, cast

from votecert.bounds.kinds import Kind

INFINITE = {"Infinity": "infinite", "-Infinity": "-infinite"}
"""How a record says that a number is infinite, which JSON proper has no number for."""


NOT_STORED = ("intact", "own_words")
"""What is known of a record by reading it."""


def plain(content: dict[str, Any]) -> dict[str, Any]:
    """The content as JSON has it: lists for tuples, plain numbers for NumPy's."""
    text = json.dumps(content, default=lambda number: number.item())
    return cast(dict[str, Any], json.loads(text, parse_constant=INFINITE.__getitem__))


def digest(content: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON text without the digest itself."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def read_object(text: str, marker: str, readable: tuple[int, ...], what: str) -> dict[str, Any]:
    """The content of a JSON text that has the marker of its kind, with a version that can be read."""
    try:
        content = json.loads(text, object_pairs_hook=_once_each, parse_constant=_not_finite)
    except RecursionError:
        raise ValueError(f"This is not a {what}: its brackets are nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"This is not a {what}: it is not valid JSON ({error}).") from None
    if not isinstance(content, dict) or marker not in content:
        raise ValueError(f"This is not a {what}: the field {marker!r} is missing.")
    if content[marker] not in readable or isinstance(content[marker], bool):
        raise ValueError(
            f"The {what} has schema version {content[marker]!r}; "
            f"this votecert reads versions {', '.join(map(str, readable))}. Install one that matches."
        )
    return content


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; two fields of one name would be read differently by different readers."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a field is there twice")
    return content


def _not_finite(name: str) -> Never:
    raise ValueError(f"{name} is not a number of JSON")


def as_tuple(value: Any) -> Any:
    """Lists back to tuples, so that what is read from JSON equals what it was made from."""
    return tuple(map(as_tuple, value)) if isinstance(value, list | tuple) else value


def this_version() -> str:
    """The version of this program."""
    from votecert import __version__

    return __version__


@dataclass(frozen=True, repr=False)
class Record(ABC):
    """A result that is stored as JSON: its fields, and sentences that follow from them.

    Attributes
    ----------
    intact : bool
        False for a record read from a text whose digest does not match it.
    own_words : bool
        False for one read from a text whose sentences another version wrote: these are not compared.
    """

    kind_of_record: ClassVar[str]
    schemas: ClassVar[tuple[int, ...]] = (1,)
    """Versions of the layout that are read; the last one is written."""

    kinds: ClassVar[Mapping[str, Kind]]
    """What the fields are."""

    told_first: ClassVar[tuple[str, ...]] = ("statement", "assumptions")
    """What follows from the fields, and stands before them for a reader."""

    intact: bool = field(default=True, compare=False, kw_only=True)
    own_words: bool = field(default=True, compare=False, kw_only=True)

    @property
    @abstractmethod
    def statement(self) -> str:
        """One sentence: what is guaranteed."""

    @property
    @abstractmethod
    def assumptions(self) -> list[str]:
        """What must be true for the statement to hold."""

    def problem_with_fields(self) -> str | None:
        """The first field that cannot be what it is, as a sentence, or None."""
        for name, kind in self.kinds.items():
            if problem := kind.problem(getattr(self, name), self):
                return f"{name} {problem}."
        return next(iter(self._contradictions()), None)

    def _contradictions(self) -> Iterable[str]:
        """Fields that do not go together, as sentences."""
        return ()

    def to_json(self) -> str:
        """The result as JSON text, with its digest."""
        content = self._content()
        return json.dumps({**content, "digest": digest(content)}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a result; nothing in the text is executed. Call ``verify`` before trusting it."""
        what = cls.kind_of_record
        content = read_object(text, f"votecert_{what}", cls.schemas, what)
        try:
            made = cls(**cls._arguments(content))
            if problem := made.problem_with_fields():
                raise ValueError(f"The {what} has a field of the wrong kind: {problem}")
            object.__setattr__(made, "own_words", content.get("votecert_version") == this_version())
            known = content.get("digest") == digest(content) and made._says(content)
        except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
            raise ValueError(f"The {what} is incomplete or has a field of the wrong kind: {error}.") from None
        object.__setattr__(made, "intact", known)
        return made

    @classmethod
    def _arguments(cls, content: dict[str, Any]) -> dict[str, Any]:
        """The fields that were stored, as they were before."""
        names = [one.name for one in fields(cls) if one.name not in NOT_STORED]
        return {name: as_tuple(content[name]) for name in names if name in content}

    def _says(self, content: dict[str, Any]) -> bool:
        """Whether what was read is what the record says: no more, no less.

        Sentences that another version wrote may have other words, and are not compared.
        """
        known = self._content(content[f"votecert_{self.kind_of_record}"])
        if not self.own_words:
            prose = ("votecert_version", "statement", "assumptions")
            known |= {name: content[name] for name in prose if name in content}
        return digest(content) == digest(known)

    def _content(self, schema: int | None = None) -> dict[str, Any]:
        """The fields as plain JSON values, with what a reader wants to see first."""
        return {
            f"votecert_{self.kind_of_record}": schema or self.schemas[-1],
            "votecert_version": this_version(),
            **{name: getattr(self, name) for name in self.told_first},
            **self._stored(),
        }

    def _stored(self) -> dict[str, Any]:
        return plain({name: value for name, value in asdict(self).items() if name not in NOT_STORED})
