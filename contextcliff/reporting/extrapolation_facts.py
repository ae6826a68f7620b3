"""What a report shows of extrapolation that takes a sentence, as facts."""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.analysis.extrapolation import Extrapolation
from contextcliff.records.fact import Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainedPositions(Fact):
    """How many positions the model was trained on, who says so, how they are scaled, and the longest test."""

    extrapolation: Extrapolation


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoresByPlace(Fact):
    """The mean scores within the trained positions and beyond them."""

    extrapolation: Extrapolation
