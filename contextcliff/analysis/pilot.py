"""Where a pilot says that the rest of the samples belong: round the suspected transition.

Two-stage sampling as the blueprint has it (cost against power): a few questions of every bin first. Their scores choose
the bins and nothing else; the cap is tested on the fresh samples alone, so that the choice costs no confidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from contextcliff.analysis.items import items_of
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.descriptive import mean_of


def bins_to_fill(pilot: Iterable[ScoredSample], *, threshold: float, relative: bool) -> tuple[int, ...]:
    """The bins to fill, ascending: the last good one, the first bad one and the one after, and the baseline.

    Good is a mean at the threshold or above (`relative`: of the shortest bin's mean). Where none is bad, or the first
    is, these are the bins at that end. A bin of which nothing was scored is bad.
    """
    by_bin: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in pilot:
        if item.sample.bin is not None:
            by_bin[item.sample.bin].append(item)
    order = sorted(by_bin)
    if not order:
        return ()
    means = [_mean(by_bin[position]) for position in order]
    limit = threshold * (means[0] or 0.0) if relative else threshold
    bad = next((rank for rank, mean in enumerate(means) if mean is None or mean < limit), len(order))
    wanted = {rank for rank in (bad - 1, bad, bad + 1) if 0 <= rank < len(order)}
    if bad == len(order):
        wanted.add(max(0, bad - 2))
    if relative:
        wanted.add(0)
    return tuple(order[rank] for rank in sorted(wanted))


def _mean(samples: Sequence[ScoredSample]) -> float | None:
    scores = [item.score for item in items_of(samples) if item.score is not None]
    return mean_of(scores) if scores else None
