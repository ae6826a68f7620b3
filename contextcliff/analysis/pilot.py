"""Which bins to fill after a pilot: those around the suspected transition.

Two-stage sampling, as the blueprint proposes to save cost: first a few questions of every bin. Their scores choose the
bins and nothing else. The cap is tested on the fresh samples alone, so that the choice does not affect its confidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from contextcliff.analysis.items import items_of
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.descriptive import mean_of


def bins_to_fill(pilot: Iterable[ScoredSample], *, threshold: float, relative: bool) -> tuple[int, ...]:
    """The bins to fill, ascending: the last good one, the first bad one and the one after, and the baseline.

    A bin is good if its mean is at the threshold or above (`relative`: at this share of the shortest bin's mean), and
    bad otherwise, or if nothing in it was scored. If no bin is bad, or the first one is, the bins at that end are
    filled.
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
