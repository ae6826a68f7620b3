"""A published table and what it has to be: with a source, lengths that ascend, scores on its scale, a row a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.records.published import PublishedCurve, PublishedPoint
from contextcliff.settings import Name, PositiveFloat, settings
from contextcliff.statistics.descriptive import leading_above

MOST_SHOWN = 6
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
        """In a line."""
        paper = f"arXiv:{self.arxiv}" if self.arxiv else ""
        first = self.authors.partition(",")
        authors = f"{first[0]} et al." if first[1] else self.authors
        return ", ".join(part for part in (authors, self.title.rstrip("."), paper, self.url, self.read) if part)


@settings
class PublishedRow:
    """A model's scores, one a length of the table; None where the source has none."""

    model: Name
    scores: tuple[float | None, ...]
    key: str = ""
    """What it is chosen by; empty: made of the model's name."""
    by: str = ""
    """Who measured it, where that is not whose table it is."""
    effective: str = ""
    """Its effective length, as printed."""
    base: float | None = None
    """Its score at short lengths, where a threshold is a share of that."""
    threshold: float | None = None
    """Its own threshold, where each model has one."""

    @property
    def chosen_by(self) -> str:
        """`llama-3.1-70b`."""
        return self.key or key_of(self.model)


@settings
class PublishedTable:
    """What a file has to hold. Lengths are tokens, and the K of a source is 1,024 of them; scores are as printed."""

    title: Name
    source: Source
    metric: Name
    lengths: Annotated[tuple[int, ...], Field(min_length=1)]
    rows: Annotated[tuple[PublishedRow, ...], Field(min_length=1)]
    scale: PositiveFloat = 1.0
    """The highest score there can be: 100 for percent."""
    date: str = ""
    asked: str = ""
    threshold: float | None = None
    """What a score has to clear up to an effective length, on the table's scale."""
    threshold_is: Literal["exceeded", "reached"] = "exceeded"
    shown: tuple[str, ...] = ()
    """The models to draw where none is named; none: the best, the worst and some between them."""

    def __post_init__(self) -> None:
        for problem in self._problems():
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
            yield from self._problems_of(row)
        for key in self.shown:
            if key not in seen:
                yield f"shown: {key} is the key of no row; there are {', '.join(sorted(seen))}"

    def _problems_of(self, row: PublishedRow) -> Iterator[str]:
        if len(row.scores) != len(self.lengths):
            yield (
                f"rows: {row.model} has {len(row.scores)} scores for {len(self.lengths)} lengths; give null where "
                "there is none"
            )
            return
        if all(score is None for score in row.scores):
            yield f"rows: {row.model} has no score; leave it out"
        for tokens, score in zip(self.lengths, row.scores, strict=True):
            if score is not None and not 0.0 <= score <= self.scale:
                yield (
                    f"rows: {row.model} at {tokens:,} tokens: score {score:g} is outside 0 to {self.scale:g}; correct "
                    "it, or give the highest score there can be as scale"
                )

    def curve(self, row: PublishedRow) -> PublishedCurve:
        """A row as shares of 1."""
        points = tuple(
            PublishedPoint(tokens=tokens, score=score / self.scale)
            for tokens, score in zip(self.lengths, row.scores, strict=True)
            if score is not None
        )
        threshold = row.threshold if row.threshold is not None else self.threshold
        return PublishedCurve(
            table=self.title,
            model=row.model,
            points=points,
            source=self.source.said,
            date=self.date,
            metric=self.metric,
            asked=self.asked,
            effective_said=row.effective,
            effective_tokens=self._effective(row, threshold),
            threshold=None if threshold is None else threshold / self.scale,
        )

    def _effective(self, row: PublishedRow, threshold: float | None) -> int | None:
        """As printed, and so without rounding."""
        if threshold is None:
            return None
        above = leading_above(row.scores, threshold, reaching=self.threshold_is == "reached")
        return self.lengths[above - 1] if above else None


def key_of(model: str) -> str:
    """The name of a model as a key: lower case, hyphens for what is neither a letter, a digit nor a dot."""
    return re.sub(r"[^a-z0-9.]+", "-", model.lower()).strip("-")


def by_default(table: PublishedTable) -> tuple[PublishedRow, ...]:
    """The rows to draw where none is named: those of `shown`, or from the best to the worst in even steps, six at
    most."""
    if table.shown:
        return tuple(row for key in table.shown for row in table.rows if row.chosen_by == key)
    ranked = sorted(table.rows, key=lambda row: -table.curve(row).mean)
    if len(ranked) <= MOST_SHOWN:
        return tuple(ranked)
    last = len(ranked) - 1
    return tuple(ranked[round(place * last / (MOST_SHOWN - 1))] for place in range(MOST_SHOWN))
