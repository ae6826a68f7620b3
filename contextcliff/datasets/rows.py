"""One row of external data, which checks each value when it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextcliff.errors import ConfigError

_MAX_LABEL = 200
"""Characters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """The columns of one row.

    The methods that return values raise `ConfigError` for one that is missing or of another type.
    """

    values: Mapping[str, object]
    place: str
    """Names the row in messages: `dataset.path=qa.jsonl: row 3`."""
    prefix: str = ""
    """Of the keys in messages, for a mapping inside a row: `document.summary.`."""

    def holds(self, key: str) -> bool:
        """Whether the row has a value other than null."""
        return self.values.get(key) is not None

    def text(self, key: str) -> str:
        """A text, which can be empty."""
        return self._checked_text(key, self._required(key))

    def label(self, key: str) -> str | None:
        """An identifier (text or a whole number), or None."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        text = self._checked_text(key, value)
        if len(text) > _MAX_LABEL or not text.isprintable():
            raise self.error(f"{self.prefix}{key} must be one line of up to {_MAX_LABEL} characters")
        return text or None

    def heading(self, key: str) -> str:
        """A text on one line, cut to 200 characters; empty where there is none."""
        return " ".join(self.text(key).split())[:_MAX_LABEL] if self.holds(key) else ""

    def integer(self, key: str) -> int:
        """A whole number."""
        value = self._required(key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"{self.prefix}{key} must be a whole number, got {_described(value)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty where there is none."""
        return tuple(self._checked_text(key, item) for item in self.sequence(key))

    def sequence(self, key: str) -> Sequence[object]:
        """A list of anything; empty where there is none."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            raise self.error(f"{self.prefix}{key} must be a list, got {_described(value)}")
        return value

    def mapping(self, key: str) -> Row:
        """A mapping inside the row."""
        return self._as_mapping(key, self._required(key))

    def mappings(self, key: str) -> tuple[Row, ...]:
        """A list of mappings, or what the Hugging Face hub makes of one: a mapping of lists."""
        value = self._required(key)
        if isinstance(value, Mapping):
            columns = {str(name): column for name, column in value.items() if isinstance(column, list | tuple)}
            if len({len(column) for column in columns.values()}) > 1:
                raise self.error(f"{self.prefix}{key} has lists of different lengths")
            value = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        if not isinstance(value, list | tuple):
            raise self.error(f"{self.prefix}{key} must be a list, got {_described(value)}")
        return tuple(self._as_mapping(key, item) for item in value)

    def error(self, message: str) -> ConfigError:
        """An error that names this row."""
        return ConfigError(f"{self.place}: {message}")

    def _required(self, key: str) -> object:
        if not self.holds(key):
            raise self.error(f"{self.prefix}{key} is missing")
        return self.values[key]

    def _as_mapping(self, key: str, value: object) -> Row:
        if not isinstance(value, Mapping):
            raise self.error(f"{self.prefix}{key} must be a mapping, got {_described(value)}")
        return Row(values=value, place=self.place, prefix=f"{self.prefix}{key}.")

    def _checked_text(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            raise self.error(f"{self.prefix}{key} must be text, got {_described(value)}")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise self.error(f"{self.prefix}{key} holds a lone surrogate, which is half of a character") from error
        return value


def _described(value: object) -> str:
    """A value for a message: text and containers by their type, others as they are."""
    match value:
        case str():
            return "text"
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:
            return str(value)[:40]
