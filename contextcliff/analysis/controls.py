"""Controls: whether a length can show a cliff at all.

A `ceiling` control asks with the evidence alone, a `floor` control with the text but without the evidence. A low
ceiling means that the question is too hard or that a right answer is not recognised; a high floor means that the
question can be answered without reading. Neither depends on the length, so a score there says nothing about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import Group
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import is_binary


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlLevel:
    """The controls of one length: `ceiling` (evidence alone) and `floor` (no evidence), means with intervals.

    `informative` is False where the ceiling is shown to be low or the floor to be high: no cliff can show there.
    """

    asked_tokens: int
    ceiling_n: int
    ceiling: float | None
    ceiling_ci_low: float | None
    ceiling_ci_high: float | None
    floor_n: int
    floor: float | None
    floor_ci_low: float | None
    floor_ci_high: float | None
    informative: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlResults:
    """The controls of every length, shortest first; none where the run has no controls."""

    controls: tuple[ControlLevel, ...]


_FLOOR_SHARE = 0.5
"""A floor above this share of the threshold is too high: guessing then reaches half of the threshold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Controls:
    """The scored controls of some samples, each counted once however many samples name it."""

    ceiling: Evidence | None
    floor: Evidence | None

    def informative(self, threshold: float | None, confidence: float) -> bool:
        """Whether a score here says something about the length.

        Not where the ceiling is shown to be below the threshold, or the floor to be above half of it.
        """
        if threshold is None:
            return True
        low_ceiling = self.ceiling is not None and self.ceiling.upper(confidence) < threshold
        high_floor = self.floor is not None and self.floor.lower(confidence) > _FLOOR_SHARE * threshold
        return not low_ceiling and not high_floor


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlBook:
    """All controls of a run by their `sample_id`. `binary` is whether every one of them scored 0 or 1."""

    by_id: Mapping[str, ScoredSample]
    binary: bool

    def of(self, samples: Iterable[ScoredSample]) -> Controls:
        """The scored controls that these samples name; names without a control are ignored."""
        named = sorted({name for item in samples for name in item.sample.controls} & self.by_id.keys())
        controls = [self.by_id[name] for name in named]
        return Controls(ceiling=self._evidence(controls, "ceiling"), floor=self._evidence(controls, "floor"))

    def _evidence(self, controls: Sequence[ScoredSample], kind: str) -> Evidence | None:
        scores = tuple(sorted(c.score for c in controls if c.sample.control == kind and c.score is not None))
        return Evidence(scores=scores, binary=self.binary) if scores else None


def control_book(controls: Iterable[ScoredSample]) -> ControlBook:
    """The controls of a run, in any order."""
    by_id = {item.sample.sample_id: item for item in controls}
    return ControlBook(by_id=by_id, binary=is_binary(c.score for c in by_id.values() if c.score is not None))


def control_levels(
    groups: Sequence[Group], book: ControlBook, *, threshold: float | None, confidence: float
) -> tuple[ControlLevel, ...]:
    """The controls of each length, shortest first; none where the run has no controls. Intervals are two-sided."""
    if not book.by_id:
        return ()
    return tuple(_level(group, book.of(group.samples), threshold, confidence) for group in groups)


def _level(group: Group, controls: Controls, threshold: float | None, confidence: float) -> ControlLevel:
    ceiling_low, ceiling_high = _interval(controls.ceiling, confidence)
    floor_low, floor_high = _interval(controls.floor, confidence)
    return ControlLevel(
        asked_tokens=group.asked_tokens, ceiling_n=0 if controls.ceiling is None else len(controls.ceiling.scores),
        ceiling=mean(controls.ceiling), ceiling_ci_low=ceiling_low, ceiling_ci_high=ceiling_high,
        floor_n=0 if controls.floor is None else len(controls.floor.scores), floor=mean(controls.floor),
        floor_ci_low=floor_low, floor_ci_high=floor_high, informative=controls.informative(threshold, confidence),
    )  # fmt: skip


def mean(evidence: Evidence | None) -> float | None:
    """The mean score; None without one."""
    return None if evidence is None else mean_of(evidence.scores)


def _interval(evidence: Evidence | None, confidence: float) -> tuple[float, float] | tuple[None, None]:
    return (None, None) if evidence is None else evidence.shown(confidence)
