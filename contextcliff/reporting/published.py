"""Tables that others have published: YAML as in `conf/published/`, or a CSV with a row for each model and length."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml  # type: ignore[import-untyped]
from pydantic import Field, TypeAdapter, ValidationError

from contextcliff import conf_dir
from contextcliff.datasets.local_files import UnreadableFile, opened, whole
from contextcliff.errors import ConfigError
from contextcliff.records.published import PublishedCurve, PublishedPoint
from contextcliff.settings import Float, Int, Name, PositiveFloat, settings
from contextcliff.statistics.descriptive import leading_above

_MOST_SHOWN = 6
"""More lines can't be told apart behind a curve."""


@settings
class Source:
    """Where the figures were read."""

    title: Name
    authors: str = ""
    arxiv: str = ""
    url: str = ""
    read: str = ""
    """Which part or version of it."""

    @property
    def said(self) -> str:
        paper = f"arXiv:{self.arxiv}" if self.arxiv else ""
        first = self.authors.partition(",")
        authors = f"{first[0]} et al." if first[1] else self.authors
        return ", ".join(part for part in (authors, self.title.rstrip("."), paper, self.url, self.read) if part)


@settings
class PublishedRow:
    """A model's scores, one a length of the table; None where the source has none."""

    model: Name
    scores: tuple[Float | None, ...]
    key: str = ""
    """What it is chosen by; empty: made of the model's name."""
    by: str = ""
    """Who measured it, where that is not whose table it is."""
    effective: str = ""
    """Its effective length, as printed."""
    base: Float | None = None
    """Its score at short lengths, where a threshold is a share of that."""
    threshold: Float | None = None
    """Its own threshold, where each model has one."""

    @property
    def chosen_by(self) -> str:
        """`llama-3.1-70b`."""
        return self.key or re.sub(r"[^a-z0-9.]+", "-", self.model.lower()).strip("-")


@settings
class PublishedTable:
    """What a file has to hold. Lengths are tokens, and the K of a source is 1,024 of them; scores are as printed."""

    title: Name
    source: Source
    metric: Name
    lengths: Annotated[tuple[Int, ...], Field(min_length=1)]
    rows: Annotated[tuple[PublishedRow, ...], Field(min_length=1)]
    scale: PositiveFloat = 1.0
    """The highest score there can be: 100 for percent."""
    date: str = ""
    asked: str = ""
    threshold: Float | None = None
    """What a score has to clear up to an effective length, on the table's scale."""
    threshold_is: Literal["exceeded", "reached"] = "exceeded"
    shown: tuple[str, ...] = ()
    """The models to draw where none is named; none: the best, the worst and some between them."""

    def __post_init__(self) -> None:
        if problem := next(self._problems(), None):
            raise ValueError(problem)

    def _problems(self) -> Iterator[str]:
        if self.lengths[0] < 1 or any(later <= earlier for earlier, later in pairwise(self.lengths)):
            shown = ", ".join(f"{tokens:,}" for tokens in self.lengths)
            yield f"lengths: {shown}: have to ascend from 1 or more; sort them, each once"
        seen: set[str] = set()
        for row in self.rows:
            if row.chosen_by in seen:
                yield f"rows: {row.model} stands twice; give a model one row, or each row a key of its own"
            seen.add(row.chosen_by)
            if len(row.scores) != len(self.lengths):
                yield (
                    f"rows: {row.model} has {len(row.scores)} scores for {len(self.lengths)} lengths; give null where "
                    "there is none"
                )
            if all(score is None for score in row.scores):
                yield f"rows: {row.model} has no score; leave it out"
            for tokens, score in zip(self.lengths, row.scores, strict=True):
                if score is not None and not 0.0 <= score <= self.scale:
                    yield (
                        f"rows: {row.model} at {tokens:,} tokens: score {score:g} is outside 0 to {self.scale:g}; "
                        "correct it, or give the highest score there can be as scale"
                    )
        for key in self.shown:
            if key not in seen:
                yield f"shown: {key} is the key of no row; there are {', '.join(sorted(seen))}"

    def curve(self, row: PublishedRow) -> PublishedCurve:
        """A row as shares of 1."""
        scores = zip(self.lengths, row.scores, strict=True)
        threshold = row.threshold if row.threshold is not None else self.threshold
        above = 0
        if threshold is not None:  # by scores as they are printed, and so without rounding
            above = leading_above(row.scores, threshold, reaching=self.threshold_is == "reached")
        return PublishedCurve(
            table=self.title, model=row.model, source=self.source.said, date=self.date, metric=self.metric,
            points=tuple(PublishedPoint(tokens=at, score=each / self.scale) for at, each in scores if each is not None),
            asked=self.asked, effective_said=row.effective, effective_tokens=self.lengths[above - 1] if above else None,
            threshold=None if threshold is None else threshold / self.scale,
        )  # fmt: skip


def by_default(table: PublishedTable) -> tuple[PublishedRow, ...]:
    """The rows to draw where none is named: those of `shown`, or six from the best to the worst in even steps."""
    if table.shown:
        return tuple(row for key in table.shown for row in table.rows if row.chosen_by == key)
    ranked = sorted(table.rows, key=lambda row: -table.curve(row).mean)
    few = min(_MOST_SHOWN, len(ranked))
    return tuple(ranked[round(place * (len(ranked) - 1) / max(1, few - 1))] for place in range(few))


COLUMNS = ("model", "length", "score", "source")
"""What a CSV has to have; `scale`, `metric`, `asked`, `date` and `title` may stand beside them."""
_OF_THE_TABLE = ("source", "scale", "metric", "asked", "date", "title")
_LONGEST, _LONGEST_NUMBER = 1 << 20, 100
_ALL = "all"
_N = TypeVar("_N")
_table = TypeAdapter(PublishedTable)


class _WithoutAliases(yaml.SafeLoader):  # type: ignore[misc]
    """A few aliases of aliases stand for a text of any length."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias is no value of a table")
        return super().compose_node(parent, index)

    def compose_scalar_node(self, anchor: Any) -> Any:
        node = super().compose_scalar_node(anchor)
        if len(node.value) > _LONGEST_NUMBER and not node.tag.endswith(":str"):
            raise yaml.YAMLError("a number is too long")
        return node


def published_curves(chosen: Sequence[str], *, key: str) -> tuple[PublishedCurve, ...]:
    """The curves that a list of names asks for, each once: `TABLE` is a table's own choice, `TABLE:MODEL` one,
    `TABLE:all` every one; a table is a name or a file. Raises `ConfigError`, whose line begins with `key`."""
    curves: dict[tuple[str, str], PublishedCurve] = {}
    for name in chosen:
        shown = f"{key}={name}"
        place, model = _parted(name)
        table = read_table(place, shown=shown)
        rows = table.rows if model == _ALL else by_default(table)
        if model not in ("", _ALL):
            rows = tuple(row for row in table.rows if model in (row.chosen_by, row.model))
        if not rows:
            keys = ", ".join(sorted(row.chosen_by for row in table.rows))
            raise ConfigError(f"{shown}: {table.title} has no such model; there are {keys}, and {_ALL}")
        for row in rows:
            curves.setdefault((place, row.chosen_by), table.curve(row))
    return tuple(curves.values())


def _parted(name: str) -> tuple[str, str]:
    """Table and model; the colon of a drive (`C:\\mine.csv`) parts nothing."""
    place, colon, model = name.rpartition(":")
    return (place, model) if colon and len(place) > 1 and not model.endswith((".csv", ".yaml", ".yml")) else (name, "")


def known_tables() -> tuple[str, ...]:
    """The names of the shipped tables."""
    return tuple(sorted(file.stem for file in (conf_dir() / "published").glob("*.yaml")))


def read_table(name: str, *, shown: str) -> PublishedTable:
    """A table by name, or by the path of a CSV or YAML file. Raises `ConfigError`, whose line begins with `shown`."""
    if name in known_tables():
        return _checked(_from_yaml(conf_dir() / "published" / f"{name}.yaml", shown), shown)
    path = Path(name).expanduser()
    if path.suffix not in (".csv", ".yaml", ".yml"):
        raise ConfigError(
            f"{shown}: no published table has that name; choose one of {', '.join(known_tables())}, or give a file of "
            "your own that ends in .csv or .yaml"
        )
    if not path.is_file():
        raise ConfigError(f"{shown}: there is no such file; give the path of a CSV or YAML table")
    return _checked(_from_csv(path, shown) if path.suffix == ".csv" else _from_yaml(path, shown), shown)


def _text(path: Path, shown: str) -> str:
    try:
        with opened(path, most=_LONGEST) as stream:
            return whole(stream).decode("utf-8-sig")
    except UnreadableFile as error:
        raise ConfigError(f"{shown}: {error}; give a table in UTF-8 of up to 1 MiB") from error


def _from_yaml(path: Path, shown: str) -> Mapping[str, Any]:
    """A date is a text here, whatever YAML takes it for."""
    try:
        values = yaml.load(_text(path, shown), Loader=_WithoutAliases)  # noqa: S506 - a safe one
    except (yaml.YAMLError, RecursionError, ValueError, TypeError, OverflowError) as error:
        raise ConfigError(f"{shown}: is no YAML ({' '.join(str(error).split())}); correct it") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{shown}: is no table; give title, source, metric, lengths and rows")
    return {**values, **({"date": str(values["date"])} if "date" in values else {})}


def _from_csv(path: Path, shown: str) -> Mapping[str, Any]:
    reader = csv.DictReader(io.StringIO(_text(path, shown)))
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise ConfigError(
            f"{shown}: has no column {' and no '.join(missing)}; a table has the columns {', '.join(COLUMNS)}"
        )
    scores: dict[str, dict[int, float]] = {}
    about: dict[str, str] = {}
    try:
        for line in reader:
            where = f"{shown}, line {reader.line_num}"
            cells = {str(name): (cell or "").strip() for name, cell in line.items() if isinstance(cell, str | None)}
            if not cells["source"]:
                raise ConfigError(f"{where}: source is empty; say where the figure can be read")
            of_model, tokens = scores.setdefault(cells["model"], {}), _number(cells["length"], where, "length", of=int)
            if of_model and tokens <= (last := max(of_model)):
                raise ConfigError(
                    f"{where}: length {tokens:,} comes after {last:,}; a model's lengths have to ascend, each once"
                )
            of_model[tokens] = _number(cells["score"], where, "score", of=float)
            for name in _OF_THE_TABLE:
                if about.setdefault(name, cells.get(name, "")) != cells.get(name, ""):
                    raise ConfigError(f"{where}: {name} is not that of the first line; give one {name} a file")
    except csv.Error as error:
        raise ConfigError(f"{shown}: is no CSV ({' '.join(str(error).split())}); correct it") from error
    lengths = sorted({tokens for of_model in scores.values() for tokens in of_model})
    table: dict[str, Any] = {name: said for name, said in about.items() if said}
    return {
        **{"title": path.stem, "metric": "score"},
        **table,
        "source": {"title": about["source"]} if about else None,
        "scale": _number(table.get("scale", "1"), shown, "scale", of=float),
        "lengths": lengths,
        "rows": [{"model": name, "scores": [each.get(tokens) for tokens in lengths]} for name, each in scores.items()],
    }


def _checked(values: Mapping[str, Any], shown: str) -> PublishedTable:
    if not values.get("source"):
        raise ConfigError(f"{shown}: source is missing; say where the figures can be read")
    try:
        return _table.validate_python(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place, said = ".".join(map(str, first["loc"])), str(first["msg"])
        own = said.removeprefix("Value error, ")
        raise ConfigError(f"{shown}: {own}" if own != said else f"{shown}: {place}: {said}; correct it") from error


def _number(text: str, where: str, name: str, *, of: Callable[[str], _N]) -> _N:
    try:
        return of(text)
    except ValueError as error:
        wrong = "is no number; leave the line out where there is none"
        wrong = "is no whole number of tokens; write 4096 for 4K" if name == "length" else wrong
        raise ConfigError(f"{where}: {name}={text}: {wrong}") from error
