"""Measured prompts in the place of the context lengths that rounds were asked for: what the safe cap speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from contextcliff.writing.analysis.draws import DrawnTier
from contextcliff.writing.prose_findings import Health, HealthLevel, WritingTest

Lengths = Mapping[int, int]
"""Context length that was asked for to the length that is told."""


def measured_lengths(tiers: Sequence[DrawnTier]) -> Lengths:
    """Every tier's median prompt; the context lengths themselves where two tiers share a prompt's length."""
    measured = {tier.context_tokens: tier.prompt_tokens for tier in tiers}
    return measured if len(set(measured.values())) == len(tiers) else {asked: asked for asked in measured}


def tiers_at(tiers: Sequence[DrawnTier], lengths: Lengths) -> tuple[DrawnTier, ...]:
    """The tiers by the lengths that are told."""
    return tuple(replace(tier, context_tokens=lengths[tier.context_tokens]) for tier in tiers)


def tests_at(tests: Sequence[WritingTest], lengths: Lengths) -> tuple[WritingTest, ...]:
    """The tests by the lengths that are told."""
    return tuple(replace(test, context_tokens=lengths.get(test.context_tokens, test.context_tokens)) for test in tests)


def health_at(health: Health | None, lengths: Lengths) -> Health | None:
    """The healthy rounds by the lengths that are told."""
    if health is None:
        return None

    def told(level: HealthLevel) -> HealthLevel:
        return replace(level, context_tokens=lengths.get(level.context_tokens, level.context_tokens))

    at = None if health.at is None else told(health.at)
    return replace(health, at=at, levels=tuple(map(told, health.levels)))
