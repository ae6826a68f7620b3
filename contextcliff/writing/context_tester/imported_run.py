"""What another tool left of a continuation run: its figures as it stored them, before anything is made of them.

Frozen, plain data as in `records.py`. An absent measure was not stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRound:
    """One continuation: its measures by name, and its text where that was kept."""

    values: Mapping[str, float]
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedMeans:
    """What is left of rounds that were averaged: means by measure, and the few standard deviations that were kept."""

    values: Mapping[str, float]
    stds: Mapping[str, float]
    n: int
    """Rounds that went into them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedTier:
    """One context length, by its rounds or, where those were not kept, by their means."""

    context_tokens: int
    rounds: tuple[ImportedRound, ...] = ()
    means: ImportedMeans | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRun:
    """A run of another tool."""

    run_id: str
    """The name of its folder or file."""
    tool: str
    model: str
    text: str
    """What was continued; empty where it isn't said."""
    label: str
    parameters: Mapping[str, str]
    """How it was configured, under our keys where we have one."""
    tiers: tuple[ImportedTier, ...]
    """Shortest first."""
    original: Mapping[str, float]
    """The measures of the author's own next words."""
