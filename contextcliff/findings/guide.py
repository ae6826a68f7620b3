"""An operating guide: which of the tested lengths can be used as they are, and what to do about the others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.study import Study
from contextcliff.analysis.walk import FixedSequenceTest
from contextcliff.findings.finding import Block, Finding, Lines, Text
from contextcliff.findings.half_life import DANGER_BELOW, HalfLife, half_life_of
from contextcliff.records.amounts import span
from contextcliff.records.note import Note
from contextcliff.records.report import Report

LevelName = Literal["safe", "limited", "caution", "danger"]
_LEVELS: Mapping[LevelName, tuple[Note, Note]] = {
    "safe": (Note("safe"), Note("use the text as it is")),
    "limited": (Note("too long"), Note("shorten the text: memory or time is not shown to allow so much")),
    "caution": (Note("caution"), Note("repeat or compress the key facts")),
    "danger": (Note("danger"), Note("use retrieval, a summary or chunking instead of the whole text")),
}
"""What each is called, and what to do there."""
RETRIEVE_BELOW = 4_000
"""Half-life in tokens under which the text should not be given whole."""
ROTATE_BELOW = 2_000
"""Half-life in tokens under which not even a few passages belong in one prompt."""
_SCALE = (
    "Safe: up to the safe cap. Too long: right answers, beyond the limit by memory or time. Else a mean score under 0.5"
    " is danger, any other caution; a rule of thumb."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class GuideRow:
    """What to do at one length. `sure` is whether the tests of the safe cap show it: that the length clears the
    threshold where it is `safe` or `limited` by memory or latency, and that it is below the threshold elsewhere."""

    asked_tokens: int
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float
    level: LevelName
    sure: bool
    max_tokens: int | None = None
    """Tokens of the prompt that the level is about: the median one. Of natural lengths it is the shortest where the
    length clears. None in older reports."""

    @property
    def tokens(self) -> int:
        return self.asked_tokens if self.max_tokens is None else self.max_tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Guide:
    """An operating guide: a row a length, and advice on ranges of them."""

    rows: tuple[GuideRow, ...]
    advice: tuple[Note, ...]


def operating_guide(sequence: FixedSequenceTest, half_life: HalfLife, *, cap: int | None) -> Guide:
    """A row for each length with scores, and advice for the ranges that were tested; `cap` is that by every limit."""
    cleared = 0 if sequence.is_withheld else sequence.cleared
    rated = [
        row
        for place, result in enumerate(sequence.results)
        if (row := _row(result, cap, is_cleared=place < cleared, is_degraded=place in sequence.degraded)) is not None
    ]
    return Guide(rows=tuple(rated), advice=(*_by_range(rated), *_by_half_life(half_life)))


def _row(result: LengthResult, cap: int | None, *, is_cleared: bool, is_degraded: bool) -> GuideRow | None:
    length = result.bin
    if length.mean is None or length.ci_low is None or length.ci_high is None:
        return None
    level: LevelName = "danger" if length.mean < DANGER_BELOW else "caution"
    if is_cleared:
        level = "safe" if length.clears_up_to <= (cap or 0) else "limited"
    return GuideRow(
        asked_tokens=length.asked_tokens, n_samples=length.n_samples, mean=length.mean, ci_low=length.ci_low,
        ci_high=length.ci_high, level=level, sure=is_cleared or is_degraded,
        max_tokens=length.clears_up_to if is_cleared else length.median_tokens,
    )  # fmt: skip


def _by_range(rated: Sequence[GuideRow]) -> Iterator[Note]:
    for level, run in itertools.groupby(rated, key=lambda row: row.level):
        rows, (name, use) = list(run), _LEVELS[level]
        means = [row.mean for row in rows]
        unsure = [f"{row.tokens:,}" for row in rows if not row.sure]
        lengths = Note("from {first:,} to {last:,} tokens", first=rows[0].tokens, last=rows[-1].tokens)
        yield Note(
            "{level} {lengths} (mean score {means}, n = {n:,}): {use}{doubt}",
            level=name, means=span(min(means), max(means), ".2f"), n=sum(row.n_samples for row in rows), use=use,
            lengths=Note("at {tokens:,} tokens", tokens=rows[0].tokens) if len(rows) == 1 else lengths,
            doubt=Note("; at {lengths:and} the tests of the safe cap do not show it", lengths=unsure) if unsure else "",
        )  # fmt: skip


def _by_half_life(half_life: HalfLife) -> Iterator[Note]:
    def short(below: int) -> Note:
        told = {"tokens": half_life.tokens, "below": below}
        if half_life.censored:
            return Note("the fitted half-life is {tokens:,} tokens, beyond the longest test, under {below:,}", **told)
        return Note("the fitted half-life is {tokens:,} tokens, under {below:,}", **told)

    tokens = math.inf if half_life.tokens is None else half_life.tokens
    if tokens < RETRIEVE_BELOW:
        yield Note("{short}: retrieval or chunking is advised for anything longer", short=short(RETRIEVE_BELOW))
    if tokens < ROTATE_BELOW:
        yield Note(
            "{short}: rotate the context (split it into short paragraphs, analyse each by itself, merge the results)",
            short=short(ROTATE_BELOW),
        )


class GuideFinding(Finding[Guide]):
    key = "guide"
    title = "Operating guide"
    record = Guide

    def find(self, study: Study) -> Guide | None:
        # The guide's limits are those of recall: how hard a question set is, and what prose is, would move them.
        facts = study.facts
        is_recall = facts.quantity == "score" and facts.designed_lengths and not facts.relative_by_default
        if study.sequence is None or not is_recall:
            return Guide(rows=(), advice=())
        return operating_guide(study.sequence, half_life_of(study), cap=study.safe_cap.tokens)

    def show(self, report: Report) -> tuple[Block, ...]:
        guide = self.of(report)
        lines = tuple(Text(text=line) for line in guide.advice)
        return (Text(text=_SCALE), Lines(lines=lines)) if lines else ()
