"""What a tracker keeps of a comparison: a verdict and figures for each candidate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from contextcliff.reporting.comparison.comparison import Comparison, DecidedRun
from contextcliff.seeding import digest_of
from contextcliff.tracking.tracker import TrackedComparison


def tracked_comparison(comparison: Comparison, *, folder: Path) -> TrackedComparison:
    """The comparison as it is tracked. A candidate goes by its place, from 1: names can be alike."""
    figures = dict(
        figure for place, each in enumerate(comparison.decided, 1) for figure in _figures(each, f"candidate_{place}")
    )
    tags = {
        f"candidate_{place}.verdict": each.decision.verdict if each.decision else "none"
        for place, each in enumerate(comparison.decided, 1)
    }
    names = {f"candidate_{place}.name": each.run.name for place, each in enumerate(comparison.decided, 1)}
    base = {} if comparison.baseline is None else {"baseline.name": comparison.baseline.name}
    run_ids = tuple(run.run_id for run in comparison.runs)
    return TrackedComparison(
        name=comparison.name,
        folder=folder,
        digest=digest_of(repr((run_ids, sorted(figures.items()), sorted(tags.items())))),
        run_ids=run_ids,
        tags={**base, **names, **tags},
        metrics=figures,
    )


def _figures(decided: DecidedRun, prefix: str) -> Iterator[tuple[str, float]]:
    decision = decided.decision
    if decision is None:
        return
    yield f"{prefix}/difference", decision.overall.mean
    yield f"{prefix}/difference_low", decision.overall.low
    yield f"{prefix}/difference_high", decision.overall.high
    yield f"{prefix}/p_worse", decision.worse.p_of_all
    yield f"{prefix}/p_better", decision.better.p_of_all
    yield f"{prefix}/pairs", float(decision.overall.n_pairs)
