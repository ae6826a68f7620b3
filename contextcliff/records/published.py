"""Scores that others have published: a model's curve, to look at beside one's own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedPoint:
    """The score of a length in tokens, as its source has it, as a share."""

    tokens: int
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedCurve:
    """One model of a published table. Nothing is tested against it, and no sample of it is known."""

    table: str
    """What the table goes by: `RULER`."""
    model: str
    points: tuple[PublishedPoint, ...]
    """By length, ascending."""
    source: str
    """Title and address, in a line."""
    date: str
    """Of the source, ISO 8601."""
    metric: str
    """What a score is."""
    asked: str
    """Of what, and of how many samples."""
    effective_said: str = ""
    """The effective length as the source has it; empty where it has none."""
    effective_tokens: int | None = None
    """The last length, from the shortest up, with a score that clears the source's threshold; None: no length does,
    or the source has no threshold."""
    threshold: float | None = None

    @property
    def name(self) -> str:
        """What it goes by where the user's own runs stand beside it."""
        return f"published: {self.model} ({self.table})"

    @property
    def mean(self) -> float:
        """Over its lengths."""
        return sum(point.score for point in self.points) / len(self.points)
