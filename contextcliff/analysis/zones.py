"""The zones of the tested range: stable up to the cap, degraded from where a fall is shown on, transition between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from contextcliff.analysis.fixed_sequence import FixedSequenceTest
from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.threshold import Threshold
from contextcliff.records.analysis import Zone, ZoneName
from contextcliff.statistics.descriptive import mean_of


def zones_of(sequence: FixedSequenceTest, threshold: Threshold) -> tuple[Zone, ...]:
    """The zones of the range from 0 tokens (without a cap: from the shortest prompt) to the longest prompt, no gaps.

    Stable reaches up to the cap. Degraded starts with the shortest prompt of the shortest length that the walk from the
    longest length down shows to be below. Transition lies between them; after a cliff it is the untested gap between
    two lengths. A zone without a token in it is left out.
    """
    results = sequence.results
    if not results:
        return ()
    longest = max(result.bin.max_tokens for result in results)
    cap, stable = sequence.cap_tokens, 0 if sequence.cap_tokens is None else sequence.cleared
    start = min(result.bin.min_tokens for result in results) if cap is None else cap + 1
    first_degraded = sequence.degraded[0] if sequence.degraded else len(results)
    fall = longest + 1
    if sequence.degraded:
        # Measured lengths of neighbouring bins can overlap: the fall starts after the cap at the earliest.
        fall = max(start, results[first_degraded].bin.min_tokens)
    zones = [
        *([] if cap is None else [_zone("stable", 0, cap, results[:stable])]),
        _zone("transition", start, min(fall - 1, longest), results[stable:first_degraded]),
        _zone("degraded", fall, longest, results[first_degraded:]),
    ]
    return _with_falls([zone for zone in zones if zone.min_tokens <= zone.max_tokens], threshold)


def _zone(name: ZoneName, low: int, high: int, results: Sequence[LengthResult]) -> Zone:
    scores = [score for result in results for score in result.scores]
    return Zone(name=name, min_tokens=low, max_tokens=high, mean=mean_of(scores) if scores else None)


def _with_falls(zones: Sequence[Zone], threshold: Threshold) -> tuple[Zone, ...]:
    """How far each zone's mean is below the baseline's, or else below that of the first zone with scores."""
    scored = [zone for zone in zones if zone.mean is not None]
    if threshold.relative is not None:
        reference, first = threshold.relative.baseline.bin.mean, None
    else:
        reference, first = (scored[0].mean, scored[0]) if scored else (None, None)
    return tuple(_with_fall(zone, None if zone is first else reference) for zone in zones)


def _with_fall(zone: Zone, reference: float | None) -> Zone:
    if zone.mean is None or not reference:
        return zone
    return replace(zone, fall=1.0 - zone.mean / reference)
