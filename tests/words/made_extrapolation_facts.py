"""What a report says of extrapolation, and the English sentence of each."""

from __future__ import annotations

from dataclasses import replace

from contextcliff.analysis.extrapolation import (
    ClearsBeyond,
    Extrapolation,
    FailsBeyond,
    FailsWithin,
    NeitherBeyond,
    NothingBeyond,
    PooledScore,
)
from contextcliff.records.fact import Fact, Said
from contextcliff.records.positions import Positions
from contextcliff.reporting.extrapolation_facts import ScoresByPlace, TrainedPositions

FOUND = Extrapolation(
    trained_tokens=8_192,
    positions=Positions(trained_tokens=8_192, source="gguf", scaling="yarn", factor=2.0),
    longest_tokens=16_000,
    within=PooledScore(n_lengths=2, n_samples=60, mean=0.98, ci_low=0.91, ci_high=0.99),
    beyond=PooledScore(n_lengths=1, n_samples=30, mean=0.1, ci_low=0.03, ci_high=0.26),
    fails_at_tokens=9_200,
    cleared_beyond_tokens=None,
    reason=Said(text=""),
    lengths=(),
)
_GIVEN = replace(FOUND, positions=Positions(trained_tokens=8_192, source="given"))

EXTRAPOLATION_SENTENCES: tuple[tuple[Fact, str], ...] = (
    (TrainedPositions(extrapolation=FOUND), "8,192 tokens (GGUF header), yarn x2; tested to 16,000"),
    (TrainedPositions(extrapolation=_GIVEN), "8,192 tokens (model.rope.trained_tokens); tested to 16,000"),
    (ScoresByPlace(extrapolation=FOUND), "within 0.98 (0.91-0.99, n 60), beyond 0.10 (0.03-0.26, n 30)"),
    (ScoresByPlace(extrapolation=replace(FOUND, beyond=None)), "within 0.98 (0.91-0.99, n 60), beyond none"),
    (
        FailsBeyond(tokens=9_200, times=1.123, cleared_tokens=8_100),
        "extrapolation begins to fail at 9,200 tokens (1.12 x trained), the first length shown below the threshold; "
        "8,100 tokens clear it",
    ),
    (
        FailsBeyond(tokens=9_200, times=1.123, cleared_tokens=None),
        "extrapolation begins to fail at 9,200 tokens (1.12 x trained), the first length shown below the threshold; "
        "no length clears it",
    ),
    (
        FailsWithin(tokens=512),
        "below the threshold from 512 tokens on, within the trained positions already: extrapolation is not what fails "
        "first",
    ),
    (
        ClearsBeyond(tokens=16_000, times=1.953, n_open=0),
        "no failure is shown beyond the trained positions: 16,000 tokens (1.95 x trained) clear the threshold",
    ),
    (
        ClearsBeyond(tokens=16_000, times=1.953, n_open=2),
        "no failure is shown beyond the trained positions: 16,000 tokens (1.95 x trained) clear the threshold; 2 "
        "longer lengths are not decided",
    ),
    (
        NeitherBeyond(n_lengths=1, n_samples=3),
        "the tests are too few to say whether extrapolation fails: 1 length beyond (3 samples), neither cleared nor "
        "below",
    ),
    (NothingBeyond(), "no tested length lies beyond the trained positions"),
)
