"""One row of data of others' making: every value is checked as it is taken out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextcliff.errors import ConfigError

_LONGEST_LABEL = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """The columns of one row. `place` names it in messages: `dataset.path=qa.jsonl: row 3`.

    Every method raises `ConfigError` for a value that is missing or of another kind than is asked for.
    """

    values: Mapping[str, object]
    place: str
    within: str = ""
    """What this is a part of, with a dot at its end: `document.summary.`."""

    def holds(self, key: str) -> bool:
        """Whether there is such a value; null is none."""
        return self.values.get(key) is not None

    def text(self, key: str) -> str:
        """A text, maybe an empty one."""
        return self._checked_text(key, self._needed(key))

    def label(self, key: str) -> str | None:
        """An identifier: text or a whole number, where there is one."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        found = self._checked_text(key, value)
        if len(found) > _LONGEST_LABEL or not found.isprintable():
            raise self.fault(f"{self.within}{key} must be one line of up to {_LONGEST_LABEL} characters")
        return found or None

    def heading(self, key: str) -> str:
        """A text on one line, shortened where it is long; empty where there is none."""
        return " ".join(self.text(key).split())[:_LONGEST_LABEL] if self.holds(key) else ""

    def whole(self, key: str) -> int:
        """A whole number."""
        value = self._needed(key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fault(f"{self.within}{key} must be a whole number, and is {_told(value)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty where there is none."""
        return tuple(self._checked_text(key, item) for item in self.listed(key))

    def listed(self, key: str) -> Sequence[object]:
        """A list of anything; empty where there is none."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            raise self.fault(f"{self.within}{key} must be a list, and is {_told(value)}")
        return value

    def part(self, key: str) -> Row:
        """A mapping inside the row."""
        return self._as_part(key, self._needed(key))

    def parts(self, key: str) -> tuple[Row, ...]:
        """A list of mappings; also where it is written as a mapping of lists, as on the Hugging Face hub."""
        value = self._needed(key)
        if isinstance(value, Mapping):
            columns = {str(name): column for name, column in value.items() if isinstance(column, list | tuple)}
            if len({len(column) for column in columns.values()}) > 1:
                raise self.fault(f"{self.within}{key} has lists of different lengths")
            value = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        if not isinstance(value, list | tuple):
            raise self.fault(f"{self.within}{key} must be a list, and is {_told(value)}")
        return tuple(self._as_part(key, item) for item in value)

    def fault(self, told: str) -> ConfigError:
        """An error of this row."""
        return ConfigError(f"{self.place}: {told}")

    def _needed(self, key: str) -> object:
        if not self.holds(key):
            raise self.fault(f"{self.within}{key} is missing")
        return self.values[key]

    def _as_part(self, key: str, value: object) -> Row:
        if not isinstance(value, Mapping):
            raise self.fault(f"{self.within}{key} must be a mapping, and is {_told(value)}")
        return Row(values=value, place=self.place, within=f"{self.within}{key}.")

    def _checked_text(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            raise self.fault(f"{self.within}{key} must be text, and is {_told(value)}")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise self.fault(f"{self.within}{key} holds half of a character (a lone surrogate)") from error
        return value


def _told(value: object) -> str:
    """A value in a few words: short ones as they stand, longer ones by their kind."""
    match value:
        case str():
            return "text"
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:
            return str(value)[:40]
