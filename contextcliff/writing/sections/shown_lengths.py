"""On which axis the lengths of a run's prose are shown: prompts as measured, as the safe cap is, where they are known.

Rounds are asked for by context length, which holds the answer too, and runs are compared by it. The cap is a prompt: in
one report, 1,015 tokens of the one were 2,048 of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from contextcliff.writing.analysis.measured_lengths import Lengths, health_at, tests_at
from contextcliff.writing.prose_findings import Writing


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownLengths:
    """What the axis of lengths is called, and which length stands for a context length that was asked for."""

    name: str
    column: str
    """Heading of a column."""
    of_asked: Lengths


def shown_lengths(writing: Writing) -> ShownLengths:
    """Measured prompts; context lengths where a tier has none (another tool's run, or an earlier version's)."""
    measured = {tier.context_tokens: tier.prompt_tokens for tier in writing.tiers if tier.prompt_tokens is not None}
    if len(set(measured.values())) < len(writing.tiers):
        asked = {tier.context_tokens: tier.context_tokens for tier in writing.tiers}
        return ShownLengths(name="context length in tokens, as asked", column="context", of_asked=asked)
    return ShownLengths(name="prompt length in tokens, as measured", column="prompt", of_asked=measured)


def as_shown(writing: Writing) -> Writing:
    """The same with the shown lengths in the place of those that were asked for, for tables and figures alone.

    What is shown already stays as it is.
    """
    lengths = shown_lengths(writing).of_asked
    return replace(
        writing,
        tiers=tuple(replace(tier, context_tokens=lengths[tier.context_tokens]) for tier in writing.tiers),
        tests=tests_at(writing.tests, lengths),
        steps=tuple(replace(s, context_tokens=lengths.get(s.context_tokens, s.context_tokens)) for s in writing.steps),
        health=health_at(writing.health, lengths),
    )
