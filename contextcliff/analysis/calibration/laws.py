"""The laws of simulated models that a calibration goes through.

Most of them are at the border of the null hypothesis or close to it: that is where a test errs most often. `name` is
the key of a law; `reporting/calibration_report.py` says what each is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from contextcliff.analysis.calibration.score_draws import (
    Graded,
    HopelessDepths,
    OneDepthLow,
    RightOrWrong,
    ScoreDraw,
    SharedTexts,
)
from contextcliff.analysis.calibration.true_scores import CliffScore, FlatScore, SlopeScore, SteppedScore, TrueScore

HIGH, LOW = 0.98, 0.05
"""True scores before and after a fall."""
LOWEST, HIGHEST = 0.5, 0.94
"""Thresholds that lie between the two, whatever the law."""
FEWEST_LENGTHS = 4
FEWEST_PLACES = 10
"""Fewest depths at which one of them can be low and the mean still be 0.94."""
TEXT_SAMPLES = 5
"""Samples that share a text."""
NATURAL_BINS = 10
_OCTAVES = 3.0
_FLAT = {"flat_98": 0.98, "flat_95": 0.95, "flat_90": 0.90, "flat_85": 0.85}
_BASELINES = {"relative_95": 0.95, "relative_70": 0.70, "relative_50": 0.50}
_CORRELATIONS = {"0": 0.0, "05": 0.05, "15": 0.15, "30": 0.30}
_GRADED_WEIGHT = 4.0
_RIGHT_OR_WRONG = RightOrWrong()

Evidence = Literal["samples", "texts", "pairs", "natural"]
"""What counts as one piece of evidence: a sample, a text with all its samples, or a pair of a sample and one of the
baseline; `natural` are samples of documents that have their own lengths."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Law:
    """A simulated model, and how its samples are made."""

    name: str
    true_score: TrueScore
    draw: ScoreDraw
    evidence: Evidence = "samples"
    shares_text: bool = False
    """Whether the samples of a block share a text, counted as such (`evidence`) or not."""
    is_valid: bool = True
    """Whether the error is expected to be at most alpha. False where samples of a text are counted as independent."""

    def is_error(self, cap: int) -> bool:
        """Whether a cap claims a length whose true score is not above the threshold."""
        crossing = self.true_score.crossing
        return crossing is not None and cap >= crossing


def laws_of(lengths: Sequence[int], threshold: float) -> tuple[Law, ...]:
    """Every law, for at least four ascending lengths and a threshold from `LOWEST` to `HIGHEST`."""
    return (
        *_cliffs(lengths, threshold),
        *_slopes(lengths, threshold),
        *_steps(lengths, threshold),
        *_flat(threshold),
        *_uneven_depths(threshold),
        *_shared_texts(threshold),
        *_graded(lengths, threshold),
        *_relative(lengths, threshold),
        *_natural(lengths, threshold),
    )


def _between(lengths: Sequence[int], index: int, share: float) -> float:
    """A length after the one at `index`, at this share of the octaves to the next."""
    return float(lengths[index] * (lengths[index + 1] / lengths[index]) ** share)


def _cliffs(lengths: Sequence[int], threshold: float) -> tuple[Law, ...]:
    middle = len(lengths) // 2
    crossings = {
        "cliff_early": _between(lengths, 1, 0.5),
        "cliff_at_length": float(lengths[middle]),
        "cliff_after_length": _between(lengths, middle, 0.05),
        "cliff_between": _between(lengths, middle, 0.5),
        "cliff_before_length": _between(lengths, middle, 0.95),
        "cliff_late": _between(lengths, len(lengths) - 2, 0.5),
    }
    return tuple(
        Law(
            name=name,
            true_score=CliffScore(high=HIGH, low=LOW, threshold=threshold, crossing=crossing),
            draw=_RIGHT_OR_WRONG,
        )
        for name, crossing in crossings.items()
    )


def _slopes(lengths: Sequence[int], threshold: float) -> tuple[Law, ...]:
    middle = len(lengths) // 2
    crossings = {"slope_at_length": float(lengths[middle]), "slope_between": _between(lengths, middle, 0.5)}
    return tuple(
        Law(name=name, true_score=_slope(threshold, crossing), draw=_RIGHT_OR_WRONG)
        for name, crossing in crossings.items()
    )


def _slope(threshold: float, crossing: float) -> SlopeScore:
    return SlopeScore(high=HIGH, low=LOW, threshold=threshold, crossing=crossing, octaves=_OCTAVES)


def _steps(lengths: Sequence[int], threshold: float) -> tuple[Law, ...]:
    """Exactly the threshold where a walk, or the bisection after it, tests: there each test errs most often."""
    crossing, next_length = lengths[len(lengths) // 2] + 1.0, float(lengths[len(lengths) // 2 + 1])
    feet = {"step_to_threshold": None, "threshold_between": next_length}
    return tuple(
        Law(
            name=name,
            true_score=SteppedScore(high=HIGH, low=LOW, threshold=threshold, crossing=crossing, foot=foot),
            draw=_RIGHT_OR_WRONG,
        )
        for name, foot in feet.items()
    )


def _flat(threshold: float) -> tuple[Law, ...]:
    means = {**_FLAT, "flat_threshold": threshold}
    return tuple(
        Law(name=name, true_score=FlatScore(mean=mean, threshold=threshold), draw=_RIGHT_OR_WRONG)
        for name, mean in means.items()
    )


def _uneven_depths(threshold: float) -> tuple[Law, ...]:
    dip, hopeless = OneDepthLow(low=0.4), HopelessDepths()
    return (
        Law(name="dip_94", true_score=FlatScore(mean=0.94, threshold=threshold), draw=dip),
        Law(name="dip_threshold", true_score=FlatScore(mean=threshold, threshold=threshold), draw=dip),
        Law(name="hopeless_threshold", true_score=FlatScore(mean=threshold, threshold=threshold), draw=hopeless),
    )


def _shared_texts(threshold: float) -> tuple[Law, ...]:
    null = FlatScore(mean=threshold, threshold=threshold)
    by_text = [
        Law(
            name=f"texts_{name}",
            true_score=null,
            draw=SharedTexts(correlation=correlation),
            evidence="texts",
            shares_text=True,
        )
        for name, correlation in _CORRELATIONS.items()
    ]
    ignored = [
        Law(
            name=f"ignored_{name}",
            true_score=null,
            draw=SharedTexts(correlation=correlation),
            shares_text=True,
            is_valid=False,
        )
        for name, correlation in _CORRELATIONS.items()
        if correlation
    ]
    power = Law(
        name="texts_95",
        true_score=FlatScore(mean=0.95, threshold=threshold),
        draw=SharedTexts(correlation=_CORRELATIONS["15"]),
        evidence="texts",
        shares_text=True,
    )
    return (*by_text, power, *ignored)


def _graded(lengths: Sequence[int], threshold: float) -> tuple[Law, ...]:
    draw = Graded(weight=_GRADED_WEIGHT)
    crossing = _between(lengths, len(lengths) // 2, 0.5)
    return (
        Law(name="graded_threshold", true_score=FlatScore(mean=threshold, threshold=threshold), draw=draw),
        Law(name="graded_90", true_score=FlatScore(mean=0.9, threshold=threshold), draw=draw),
        Law(name="graded_slope", true_score=_slope(threshold, crossing), draw=draw),
    )


def _relative(lengths: Sequence[int], share: float) -> tuple[Law, ...]:
    """Against a share of the shortest length's score; at the null exactly that share from the second length on."""
    nulls = tuple(
        Law(
            name=name,
            true_score=SteppedScore(high=base, low=LOW, threshold=share * base, crossing=lengths[0] + 1.0),
            draw=_RIGHT_OR_WRONG,
            evidence="pairs",
        )
        for name, base in _BASELINES.items()
    )
    base = _BASELINES["relative_95"]
    crossing = _between(lengths, len(lengths) // 2, 0.5)
    fall = CliffScore(high=base, low=LOW, threshold=share * base, crossing=crossing)
    return (*nulls, Law(name="relative_cliff", true_score=fall, draw=_RIGHT_OR_WRONG, evidence="pairs"))


def _natural(lengths: Sequence[int], share: float) -> tuple[Law, ...]:
    """Documents of any length, in bins, against a share of the shortest bin's score.

    The crossing lies late in a bin, whose mean is then above the threshold although its longest documents are below.
    """
    base = _BASELINES["relative_95"]
    threshold = share * base
    crossing = float(lengths[0] * (lengths[-1] / lengths[0]) ** ((NATURAL_BINS // 2 + 0.85) / NATURAL_BINS))
    falls: dict[str, TrueScore] = {
        "slope": SlopeScore(high=base, low=LOW, threshold=threshold, crossing=crossing, octaves=_OCTAVES),
        "cliff": CliffScore(high=base, low=LOW, threshold=threshold, crossing=crossing),
    }
    return tuple(
        Law(name=f"natural_{name}", true_score=fall, draw=_RIGHT_OR_WRONG, evidence="natural")
        for name, fall in falls.items()
    )
