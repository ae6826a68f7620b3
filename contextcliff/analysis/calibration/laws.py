"""The laws of simulated models that a calibration goes through.

Most of them are at the border of the null hypothesis or close to it: that is where a test errs most often. `name` is
the key of a law; `reporting/calibration_report.py` says what each is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

_PER_OCTAVE = 40.0
"""Steepness of a cliff: it falls from a tenth above its foot to a tenth below its top within 0.11 octaves."""


class TrueScore(Protocol):
    """The true mean score at each length, and where it crosses the threshold."""

    @property
    def crossing(self) -> float | None:
        """The first length in tokens whose mean is not above the threshold; 0 if every one's, None if none's."""
        ...

    def at(self, tokens: float) -> float:
        """The true mean score of prompts of this length."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class FlatScore:
    """The same at every length."""

    mean: float
    threshold: float

    @property
    def crossing(self) -> float | None:
        return None if self.mean > self.threshold else 0.0

    def at(self, tokens: float) -> float:  # noqa: ARG002 - the same at every length
        return self.mean


@dataclass(frozen=True, kw_only=True, slots=True)
class CliffScore:
    """A logistic fall over a tenth of an octave, with exactly the threshold at `crossing`."""

    high: float
    low: float
    threshold: float
    crossing: float

    def at(self, tokens: float) -> float:
        odds = (self.high - self.threshold) / (self.threshold - self.low)
        exponent = min(_PER_OCTAVE * math.log2(tokens / self.crossing), 700.0)
        return self.low + (self.high - self.low) / (1.0 + odds * math.exp(exponent))


@dataclass(frozen=True, kw_only=True, slots=True)
class SlopeScore:
    """A straight fall over `octaves` octaves of length, with exactly the threshold at `crossing`."""

    high: float
    low: float
    threshold: float
    crossing: float
    octaves: float

    def at(self, tokens: float) -> float:
        fallen = (self.high - self.low) / self.octaves * math.log2(tokens / self.crossing)
        return min(self.high, max(self.low, self.threshold - fallen))


@dataclass(frozen=True, kw_only=True, slots=True)
class SteppedScore:
    """`high` before `crossing`, exactly the threshold from there on, and `low` from `foot` on."""

    high: float
    low: float
    threshold: float
    crossing: float
    foot: float | None = None
    """None if it is at the threshold at every length from `crossing` on."""

    def at(self, tokens: float) -> float:
        if tokens < self.crossing:
            return self.high
        return self.threshold if self.foot is None or tokens < self.foot else self.low


Parts = NDArray[np.uint8]
Shape = tuple[int, int, int]


class ScoreDraw(Protocol):
    """A distribution of scores in [0, 1] with a given mean."""

    @property
    def parts(self) -> int:
        """The highest score, in parts."""
        ...

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        """Scores in parts; their mean over a block is `mean` times `parts` on average."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class RightOrWrong:
    """Independent 0/1 scores, equally often right at every depth."""

    parts: int = 1

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        return (rng.random(shape) < mean).astype(np.uint8)


@dataclass(frozen=True, kw_only=True, slots=True)
class OneDepthLow:
    """Independent 0/1 scores; the middle depth has a true score of `low`, and the others make up the mean."""

    low: float
    parts: int = 1

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        places = shape[-1]
        rates = np.full(places, (places * mean - self.low) / (places - 1))
        rates[places // 2] = self.low
        return (rng.random(shape) < rates).astype(np.uint8)


@dataclass(frozen=True, kw_only=True, slots=True)
class HopelessDepths:
    """0/1 scores; the first depths are always right and the last never, with one between that makes up the mean."""

    parts: int = 1

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        places = shape[-1]
        rates = np.asarray(np.clip(places * mean - np.arange(places), 0.0, 1.0))
        return (rng.random(shape) < rates).astype(np.uint8)


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedTexts:
    """0/1 scores whose samples of a block share a text. The true score of a text is drawn from a beta distribution."""

    correlation: float
    """Intra-class correlation: the variance between texts as a share of the whole."""
    parts: int = 1

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        runs, blocks, _ = shape
        if self.correlation == 0.0:
            return (rng.random(shape) < mean).astype(np.uint8)
        weight = (1.0 - self.correlation) / self.correlation
        rates = np.asarray(rng.beta(weight * mean, weight * (1.0 - mean), (runs, blocks, 1)))
        return (rng.random(shape) < rates).astype(np.uint8)


@dataclass(frozen=True, kw_only=True, slots=True)
class Graded:
    """Graded scores: the share of `parts` parts that are right, by a beta distribution of this weight (a + b)."""

    weight: float
    parts: int = 20

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        rates = rng.beta(self.weight * mean, self.weight * (1.0 - mean), shape)
        right: Parts = rng.binomial(self.parts, rates).astype(np.uint8)
        return right


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
            name=f"texts_{name}", true_score=null, draw=SharedTexts(correlation=correlation), evidence="texts",
            shares_text=True,
        )
        for name, correlation in _CORRELATIONS.items()
    ]  # fmt: skip
    ignored = [
        Law(
            name=f"ignored_{name}", true_score=null, draw=SharedTexts(correlation=correlation), shares_text=True,
            is_valid=False,
        )
        for name, correlation in _CORRELATIONS.items()
        if correlation
    ]  # fmt: skip
    power = Law(
        name="texts_95", true_score=FlatScore(mean=0.95, threshold=threshold),
        draw=SharedTexts(correlation=_CORRELATIONS["15"]), evidence="texts", shares_text=True,
    )  # fmt: skip
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
            name=name, true_score=SteppedScore(high=base, low=LOW, threshold=share * base, crossing=lengths[0] + 1.0),
            draw=_RIGHT_OR_WRONG, evidence="pairs",
        )
        for name, base in _BASELINES.items()
    )  # fmt: skip
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
