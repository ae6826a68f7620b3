"""The other cap rules, for comparison with `walk_up`. None of them has a confidence.

Each takes the lengths from the shortest up and gives tokens, or None where no length passes. A length at which nothing
was scored fails every rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contextcliff.records.analysis import Bin

EFFECTIVE_SHARE = 0.85
"""Share of the baseline of an "effective length": NoLiMa's (arXiv 2502.05167), and near RULER's, which
takes a fixed score of 85.6 (arXiv 2404.06654)."""

RULES = ("walk_up", "any_depth", "blueprint", "absolute", "relative", "half_life", "writing", "memory", "latency")
"""Every rule of `caps`, in the order of the report."""

_SPREAD_FACTOR = 2.0
_MEAN_SHARE = 0.7
_FAILURE_FACTOR = 2.0
_FAILURE_STEP = 0.1


def absolute(bins: Sequence[Bin], score: float | None) -> int | None:
    """The length up to which the last one clears before the first whose mean is below `score`.

    `score` is the run's threshold as one: of a relative threshold its share of the baseline's mean. None where there is
    none.
    """
    return None if score is None else _before_first(bins, lambda b: b.mean is None or b.mean < score)


def relative(bins: Sequence[Bin], share: float = EFFECTIVE_SHARE) -> int | None:
    """Longest prompt before the first length whose mean is below `share` of the shortest length's.

    None where the shortest length has no score, or scores 0.
    """
    if not bins or not bins[0].mean:
        return None
    return absolute(bins, share * bins[0].mean)


def blueprint(bins: Sequence[Bin]) -> int | None:
    """Shortest prompt of the first failing length, by spread, mean or failures against the shortest length.

    A length fails where its standard deviation is at least twice the baseline's (any spread at all, where
    the baseline has none), its mean is down by more than 30%, or its failures spike: more than twice
    the baseline's rate and at least 10 points above it. Where none fails: all of them. None where
    the shortest length has no score, or scores 0.
    """
    if not bins or not bins[0].mean:
        return None
    baseline = bins[0]
    failing = (b for b in bins[1:] if _fails_blueprint(b, baseline))
    first = next(failing, None)
    return bins[-1].clears_up_to if first is None else first.min_tokens


def _fails_blueprint(length: Bin, baseline: Bin) -> bool:
    if length.mean is None or baseline.mean is None:
        return True
    return (
        _spread_jumps(length.std, baseline.std)
        or length.mean < _MEAN_SHARE * baseline.mean
        or _failures_spike(length.failure_rate, baseline.failure_rate)
    )


def _spread_jumps(std: float | None, baseline: float | None) -> bool:
    if std is None or baseline is None:
        return False
    return std > 0.0 and std >= _SPREAD_FACTOR * baseline


def _failures_spike(rate: float | None, baseline: float | None) -> bool:
    if rate is None or baseline is None:
        return False
    # Rounded, since 0.15 − 0.05 is a little less than 0.1 in binary.
    return rate > _FAILURE_FACTOR * baseline and round(rate - baseline, 9) >= _FAILURE_STEP


def _before_first(bins: Sequence[Bin], fails: Callable[[Bin], bool]) -> int | None:
    last = None
    for length in bins:
        if fails(length):
            break
        last = length.clears_up_to
    return last
