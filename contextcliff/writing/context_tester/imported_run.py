"""A continuation run of another tool, with its figures as they were stored. A measure that is absent was not stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRound:
    """One continuation."""

    values: Mapping[str, float]
    """The measures by name."""
    text: str = ""
    """Empty where it was not stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedMeans:
    """The averages of rounds that were not stored one by one."""

    values: Mapping[str, float]
    """The means by measure."""
    stds: Mapping[str, float]
    """The standard deviations, of the few measures that have one."""
    n: int
    """Number of rounds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedTier:
    """One context length, with its rounds or, where those were not stored, with their means."""

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
    """The name of the continued text; empty where it is unknown."""
    label: str
    parameters: Mapping[str, str]
    """The settings, under this project's keys."""
    tiers: tuple[ImportedTier, ...]
    """Shortest first."""
    original: Mapping[str, float]
    """The measures of the author's own next words."""
