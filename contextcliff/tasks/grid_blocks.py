"""The samples of a grid in blocks: each block has one sample of each kind, and none of another block."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Protocol

from contextcliff.records.sample import Sample
from contextcliff.tasks.task import TaskPlan


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A sample with its controls."""

    sample: Sample
    controls: tuple[Sample, ...] = ()


class Maker(Protocol):
    """Makes the samples of a task, each from its coordinates alone."""

    def make(self, *, context_tokens: int, depth: float | None, trial: int) -> Asked:
        """The sample of one length, depth and trial, and its controls."""
        ...

    def notes(self, sample_ids: Collection[str]) -> tuple[str, ...]:
        """What a reader has to know of how these of the samples made so far were made."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class GridBlocks:
    """The blocks of a search over a grid: every place, with trials that no other block of the length has."""

    maker: Maker
    places: tuple[float | None, ...]
    trials: int
    """In a block."""
    built: dict[tuple[int, int], TaskPlan] = field(default_factory=dict)
    """By length and index: a block is built once, whoever asks for it."""

    def block(self, context_tokens: int, index: int) -> TaskPlan:
        if (context_tokens, index) not in self.built:
            self.built[context_tokens, index] = self._build(context_tokens, index)
        return self.built[context_tokens, index]

    def _build(self, context_tokens: int, index: int) -> TaskPlan:
        asked = [
            self.maker.make(context_tokens=context_tokens, depth=depth, trial=trial)
            for trial in range(index * self.trials, (index + 1) * self.trials)
            for depth in self.places
        ]
        controls = {control.sample_id: control for item in asked for control in item.controls}
        return TaskPlan(
            samples=tuple(replace(item.sample, block=index) for item in asked), controls=tuple(controls.values())
        )

    def notes(self, sample_ids: Collection[str]) -> tuple[str, ...]:
        return self.maker.notes(sample_ids)
