"""The laws of simulated models that a calibration goes through.

Most of them are at the border of the null hypothesis or close to it: that is where a test errs most often."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

Parts = NDArray[np.uint8]
Shape = tuple[int, int, int]
TrueScore = Callable[[float], float]
"""The true mean score of prompts of so many tokens."""
Draw = Callable[[np.random.Generator, float, Shape], Parts]
"""Scores about a true mean, in parts. The last axis of the shape is the depths of a block."""

HIGH, LOW = 0.98, 0.05
"""True scores before and after a fall."""
LOWEST, HIGHEST = 0.5, 0.94
"""Thresholds that lie between the two, whatever the law."""
FEWEST_LENGTHS = 4
FEWEST_PLACES = 10
"""Fewest depths at which one of them can be low and the mean still be 0.94."""
_PER_OCTAVE = 40.0
"""Steepness of a cliff: it falls from a tenth above its foot to a tenth below its top within 0.11 octaves."""
_OCTAVES = 3.0
_LOW_DEPTH = 0.4
_GRADED_PARTS, _GRADED_WEIGHT = 20, 4.0


def cliff(threshold: float, crossing: float, *, high: float = HIGH) -> TrueScore:
    """A logistic fall over a tenth of an octave, with exactly the threshold at `crossing`."""
    odds = (high - threshold) / (threshold - LOW)

    def at(tokens: float) -> float:
        exponent = min(_PER_OCTAVE * math.log2(tokens / crossing), 700.0)
        return LOW + (high - LOW) / (1.0 + odds * math.exp(exponent))

    return at


def slope(threshold: float, crossing: float, *, high: float = HIGH) -> TrueScore:
    """A straight fall over three octaves of length, with exactly the threshold at `crossing`."""

    def at(tokens: float) -> float:
        fallen = (high - LOW) / _OCTAVES * math.log2(tokens / crossing)
        return min(high, max(LOW, threshold - fallen))

    return at


def _step(threshold: float, crossing: float, *, high: float = HIGH, foot: float = math.inf) -> TrueScore:
    """`high` before `crossing`, exactly the threshold from there on, and `LOW` from `foot` on."""
    return lambda tokens: high if tokens < crossing else threshold if tokens < foot else LOW


def _right_or_wrong(rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
    """Independent 0/1 scores, equally often right at every depth."""
    return (rng.random(shape) < mean).astype(np.uint8)


def _one_depth_low(rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
    """Independent 0/1 scores; the middle depth has a low true score, and the others make up the mean."""
    places = shape[-1]
    rates = np.full(places, (places * mean - _LOW_DEPTH) / (places - 1))
    rates[places // 2] = _LOW_DEPTH
    return (rng.random(shape) < rates).astype(np.uint8)


def _hopeless_depths(rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
    """0/1 scores; the first depths are always right and the last never, with one between that makes up the mean."""
    places = shape[-1]
    rates = np.asarray(np.clip(places * mean - np.arange(places), 0.0, 1.0))
    return (rng.random(shape) < rates).astype(np.uint8)


def _graded(rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
    """The share of the parts that are right, by a beta distribution."""
    rates = rng.beta(_GRADED_WEIGHT * mean, _GRADED_WEIGHT * (1.0 - mean), shape)
    right: Parts = rng.binomial(_GRADED_PARTS, rates).astype(np.uint8)
    return right


@dataclass(frozen=True, kw_only=True, slots=True)
class Law:
    """A simulated model, and how its samples are made."""

    name: str
    title: str
    true_score: TrueScore
    crossing: float | None
    """The first length in tokens whose mean is not above the threshold; 0 if every one's, None if none's."""
    draw: Draw = _right_or_wrong
    relative: bool = False
    """Whether a length is compared with the shortest one."""

    @property
    def parts(self) -> int:
        """The highest score, in parts."""
        return _GRADED_PARTS if self.draw is _graded else 1

    def is_error(self, cap: int) -> bool:
        """Whether a cap claims a length whose true score is not above the threshold."""
        return self.crossing is not None and cap >= self.crossing


def laws_of(lengths: Sequence[int], threshold: float) -> tuple[Law, ...]:
    """Every law, for at least four ascending lengths and a threshold from `LOWEST` to `HIGHEST`."""
    middle = len(lengths) // 2
    between = _between(lengths, middle, 0.5)
    at_length, beyond = float(lengths[middle]), lengths[middle] + 1.0
    # Exactly the threshold where the bisection after a walk tests: there each test errs most often.
    down_again = partial(_step, foot=float(lengths[middle + 1]))
    falls: dict[str, tuple[str, Callable[..., TrueScore], float]] = {
        "cliff_early": ("cliff early, halfway between lengths", cliff, _between(lengths, 1, 0.5)),
        "cliff_at_length": ("cliff, the threshold at a length", cliff, at_length),
        "cliff_after_length": ("cliff just after a length", cliff, _between(lengths, middle, 0.05)),
        "cliff_between": ("cliff halfway between lengths", cliff, between),
        "cliff_before_length": ("cliff just before a length", cliff, _between(lengths, middle, 0.95)),
        "cliff_late": ("cliff before the longest length", cliff, _between(lengths, len(lengths) - 2, 0.5)),
        "slope_at_length": ("slope, the threshold at a length", slope, at_length),
        "slope_between": ("slope, crossing between lengths", slope, between),
        "step_to_threshold": ("step down to the threshold", _step, beyond),
        "threshold_between": ("at the threshold between lengths", down_again, beyond),
    }
    flat = {"flat_98": 0.98, "flat_95": 0.95, "flat_90": 0.90, "flat_85": 0.85}
    return (
        *(
            Law(name=name, title=title, true_score=fall(threshold, crossing), crossing=crossing)
            for name, (title, fall, crossing) in falls.items()
        ),
        *(_flat(name, f"flat at {mean:.2f}", mean, threshold) for name, mean in flat.items()),
        _flat("flat_threshold", "flat at the threshold", threshold, threshold),
        _flat("dip_94", "one depth at 0.4, mean 0.94", 0.94, threshold, _one_depth_low),
        _flat("dip_threshold", "one depth at 0.4, mean the threshold", threshold, threshold, _one_depth_low),
        _flat("hopeless_threshold", "hopeless depths, mean the threshold", threshold, threshold, _hopeless_depths),
        _flat("graded_threshold", "graded, flat at the threshold", threshold, threshold, _graded),
        _flat("graded_90", "graded, flat at 0.90", 0.9, threshold, _graded),
        Law(
            name="graded_slope",
            title="graded slope",
            true_score=slope(threshold, between),
            crossing=between,
            draw=_graded,
        ),
        *_relative(lengths, threshold, between),
    )


def _between(lengths: Sequence[int], index: int, share: float) -> float:
    """A length after the one at `index`, at this share of the octaves to the next."""
    return float(lengths[index] * (lengths[index + 1] / lengths[index]) ** share)


def _flat(name: str, title: str, mean: float, threshold: float, draw: Draw = _right_or_wrong) -> Law:
    crossing = None if mean > threshold else 0.0
    return Law(name=name, title=title, true_score=lambda _: mean, crossing=crossing, draw=draw)


def _relative(lengths: Sequence[int], share: float, between: float) -> tuple[Law, ...]:
    """Against a share of the shortest length's score; at the null exactly that share from the second length on."""
    crossing = lengths[0] + 1.0
    nulls = (
        Law(
            name=f"relative_{100 * base:.0f}", title=f"share of a baseline of {base:.2f}",
            true_score=_step(share * base, crossing, high=base), crossing=crossing, relative=True,
        )
        for base in (0.95, 0.70, 0.50)
    )  # fmt: skip
    fall = cliff(share * 0.95, between, high=0.95)
    title = "cliff from a baseline of 0.95"
    return (*nulls, Law(name="relative_cliff", title=title, true_score=fall, crossing=between, relative=True))
