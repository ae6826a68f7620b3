"""The tested range in up to three zones: stable, transition, degraded."""

from __future__ import annotations

from contextcliff.analysis.fixed_sequence import FixedSequenceTest
from contextcliff.records.analysis import Zone


def zones_of(sequence: FixedSequenceTest) -> tuple[Zone, ...]:
    """The zones of the range from 0 tokens (without a cap: from the shortest prompt) to the longest prompt, no gaps.

    Stable reaches up to the cap. Degraded starts with the shortest prompt of the first length after the cap whose shown
    interval lies below the threshold. Transition lies between them; after a cliff it is the untested gap between two
    lengths. A zone without a token in it is left out.
    """
    if not sequence.results:
        return ()
    longest = max(result.bin.max_tokens for result in sequence.results)
    cap = sequence.cap_tokens
    start = min(result.bin.min_tokens for result in sequence.results) if cap is None else cap + 1
    fall = longest + 1
    if sequence.degraded:
        # Measured lengths of neighbouring bins can overlap: the fall starts after the cap at the earliest.
        fall = max(start, sequence.results[sequence.degraded[0]].bin.min_tokens)
    zones = [] if cap is None else [Zone(name="stable", min_tokens=0, max_tokens=cap)]
    zones.append(Zone(name="transition", min_tokens=start, max_tokens=min(fall - 1, longest)))
    zones.append(Zone(name="degraded", min_tokens=fall, max_tokens=longest))
    return tuple(zone for zone in zones if zone.min_tokens <= zone.max_tokens)
