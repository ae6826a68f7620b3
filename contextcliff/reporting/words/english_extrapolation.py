"""Where extrapolation begins to fail, in English."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.analysis.extrapolation import (
    ClearsBeyond,
    FailsBeyond,
    FailsWithin,
    NeitherBeyond,
    NothingBeyond,
    PooledScore,
)
from contextcliff.findings import phrases
from contextcliff.records.positions import PositionSource
from contextcliff.reporting.extrapolation_facts import ScoresByPlace, TrainedPositions
from contextcliff.reporting.words.english_say import say

_SOURCES: Mapping[PositionSource, str] = {
    "given": "model.rope.trained_tokens",
    "gguf": "GGUF header",
    "config": "config.json",
    "server": "as the server tells",
}


@say.register
def _trained(fact: TrainedPositions) -> str:
    found = fact.extrapolation
    positions = found.positions
    source = "" if positions.source is None else f" ({_SOURCES[positions.source]})"
    factor = "" if positions.factor is None else f" x{positions.factor:g}"
    scaled = f", {positions.scaling}{factor}" if positions.scaling else ""
    return f"{found.trained_tokens:,} tokens{source}{scaled}; tested to {found.longest_tokens:,}"


@say.register
def _scores(fact: ScoresByPlace) -> str:
    found = fact.extrapolation
    return f"within {_score(found.within)}, beyond {_score(found.beyond)}"


def _score(pooled: PooledScore | None) -> str:
    if pooled is None:
        return "none"
    return f"{pooled.mean:.2f} ({phrases.interval(pooled.ci_low, pooled.ci_high)}, n {pooled.n_samples:,})"


@say.register
def _fails_beyond(fact: FailsBeyond) -> str:
    cleared = "no length clears it" if fact.cleared_tokens is None else f"{fact.cleared_tokens:,} tokens clear it"
    return (
        f"extrapolation begins to fail at {fact.tokens:,} tokens ({fact.times:.2f} x trained), the first length shown "
        f"below the threshold; {cleared}"
    )


@say.register
def _fails_within(fact: FailsWithin) -> str:
    return (
        f"below the threshold from {fact.tokens:,} tokens on, within the trained positions already: extrapolation is "
        "not what fails first"
    )


@say.register
def _clears_beyond(fact: ClearsBeyond) -> str:
    at = f"{fact.tokens:,} tokens ({fact.times:.2f} x trained)"
    cleared = f"no failure is shown beyond the trained positions: {at} clear the threshold"
    if not fact.n_open:
        return cleared
    lengths = "length is" if fact.n_open == 1 else "lengths are"
    return f"{cleared}; {fact.n_open} longer {lengths} not decided"


@say.register
def _neither(fact: NeitherBeyond) -> str:
    lengths = "1 length" if fact.n_lengths == 1 else f"{fact.n_lengths} lengths"
    samples = "1 sample" if fact.n_samples == 1 else f"{fact.n_samples:,} samples"
    return (
        f"the tests are too few to say whether extrapolation fails: {lengths} beyond ({samples}), neither cleared nor "
        "below"
    )


@say.register
def _nothing(_: NothingBeyond) -> str:
    return "no tested length lies beyond the trained positions"
