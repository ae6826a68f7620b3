"""What sending takes: samples, and tokens with every answer as long as it may be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextcliff.execution.budget import answer_tokens
from contextcliff.execution.schedule import shared_tokens
from contextcliff.execution.store import PlannedSample
from contextcliff.models.sampling import Sampling
from contextcliff.records.sample import Sample


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Numbers to send; fractions where they are expectations."""

    samples: float
    controls: float
    prompt_tokens: float
    cached_tokens: float
    """The part of `prompt_tokens` that a prefix cache can save."""
    completion_tokens: float

    @property
    def computed_tokens(self) -> float:
        """Prompt tokens that are left to compute."""
        return self.prompt_tokens - self.cached_tokens

    def __add__(self, other: Load) -> Load:
        return Load(**{name: getattr(self, name) + getattr(other, name) for name in _FIELDS})


_FIELDS = ("samples", "controls", "prompt_tokens", "cached_tokens", "completion_tokens")


def load_of(planned: Sequence[PlannedSample], sampling: Sampling) -> Load:
    """That of samples and controls which are sent in this order."""
    samples = [item.sample for item in planned]
    ordinary = sum(sample.is_ordinary for sample in samples)
    return Load(
        samples=ordinary,
        controls=len(samples) - ordinary,
        prompt_tokens=sum(sample.built_tokens for sample in samples),
        cached_tokens=shared_tokens(samples),
        completion_tokens=answer_tokens(samples, sampling),
    )


def load_of_blocks(
    blocks: Mapping[int, float], built: Sequence[PlannedSample], *, block: int, sampling: Sampling
) -> Load:
    """That of so many blocks of `block` samples at each length.

    `built` are whole blocks of some lengths. A block of a length between two of them takes what lies between theirs.
    """
    import numpy as np

    at_length: defaultdict[int, list[PlannedSample]] = defaultdict(list)
    for item, asked in with_what_they_go(built):
        at_length[asked.context_tokens].append(item)
    lengths = sorted(at_length)
    loads = [load_of(_by_block(at_length[length]), sampling) for length in lengths]

    def total(name: str) -> float:
        each = [getattr(load, name) * block / load.samples for load in loads]
        return sum(count * float(np.interp(length, lengths, each)) for length, count in blocks.items())

    return Load(**{name: total(name) for name in _FIELDS})


def with_what_they_go(planned: Sequence[PlannedSample]) -> list[tuple[PlannedSample, Sample]]:
    """Each with its own sample, and a control with one that it is a control of: it can be shorter than that."""
    controlled = {control: item.sample for item in planned for control in item.sample.controls}
    return [(item, controlled.get(item.sample.sample_id, item.sample)) for item in planned]


def _by_block(planned: Sequence[PlannedSample]) -> list[PlannedSample]:
    """A block after the other, each in the order of sending."""
    return sorted(planned, key=lambda item: item.sample.block or 0)
