"""How many rounds of each length are healthy, why the others are not, and what the safe cap makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from contextcliff.analysis.items import Item
from contextcliff.analysis.length_result import LengthResult
from contextcliff.records.analysis import SafeCap
from contextcliff.writing.healthy_rounds import fault_of
from contextcliff.writing.prose_findings import Health, HealthLevel


def health_of(results: Sequence[LengthResult], cap: SafeCap) -> Health | None:
    """The health of the lengths of the walk, shortest first, on which `cap` rests; None where it rests on another
    quantity, or where nothing was scored."""
    if cap.quantity != "healthy" or not any(result.scores for result in results):
        return None
    levels = tuple(_level(result) for result in results)
    longest = results[-1].bin.max_tokens
    below = (
        level
        for level, result in zip(levels, results, strict=True)
        if cap.ci_high is not None and result.bin.min_tokens >= cap.ci_high
    )
    beyond = (
        level
        for level, result in zip(levels, results, strict=True)
        if cap.tokens is None or result.bin.max_tokens > cap.tokens
    )
    if cap.tokens is not None and cap.tokens >= longest:
        return Health(threshold=cap.threshold, relative=cap.relative_to_baseline, outcome="cleared", levels=levels)
    return Health(
        threshold=cap.threshold,
        relative=cap.relative_to_baseline,
        outcome="open" if cap.ci_high is None else "below",
        at=next(beyond, None) if cap.ci_high is None else next(below, levels[-1]),
        levels=levels,
    )


def _level(result: LengthResult) -> HealthLevel:
    tested = result.bin
    draws = [item for item in result.items if item.score is not None]
    faults = Counter(fault for draw in draws if (fault := _fault(draw)) is not None)
    return HealthLevel(
        context_tokens=tested.asked_tokens,
        n=len(draws),
        n_unscored=len(result.items) - len(draws),
        healthy=len(draws) - faults.total(),
        share=tested.mean,
        ci_low=tested.ci_low,
        ci_high=tested.ci_high,
        tested_low=tested.tested_low,
        faults=dict(faults.most_common()),
    )


def _fault(draw: Item) -> str | None:
    """What is wrong with a draw: with the first of its rounds in which something is."""
    return next(
        (
            fault
            for scored in draw.samples
            if scored.score is not None and (fault := fault_of(scored.details, scored.failure)) is not None
        ),
        None,
    )
