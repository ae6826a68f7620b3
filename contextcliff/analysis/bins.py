"""Samples grouped by length, and what is said of each group.

Where a task designs its lengths, a designed length is a bin. Where documents have their natural
length, bins are quantiles of the measured prompt length: about equally many samples in each, so that
no bin is too thin to say anything, and equal lengths never in two bins.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contextcliff.analysis.intervals import is_binary, lower_bound, shown_interval
from contextcliff.records import Bin, ScoredSample


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """The samples of one length, before anything is computed of them."""

    asked_tokens: int
    samples: tuple[ScoredSample, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Level:
    """A bin with the scores behind it, which the tests need.

    `scores` are sorted: nothing that is computed from them depends on the order of the samples.
    `binary` holds for the whole run, not for the bin: a bin of fractional scores which happen to be
    all 1 is no binomial sample.
    """

    bin: Bin
    scores: tuple[float, ...]
    binary: bool

    @property
    def unscored(self) -> int:
        """Number of samples without a score."""
        return self.bin.n_unscored

    @property
    def planned(self) -> int:
        """Number of samples, scored or not."""
        return self.bin.n_samples + self.bin.n_unscored

    @property
    def if_unscored_wrong(self) -> tuple[float, ...]:
        """The worst case for "this length is good": every unscored sample would have scored 0."""
        return (0.0,) * self.unscored + self.scores

    @property
    def if_unscored_right(self) -> tuple[float, ...]:
        """The worst case for "this length is bad": every unscored sample would have scored 1."""
        return self.scores + (1.0,) * self.unscored


def group(scored: Iterable[ScoredSample], *, designed_lengths: bool, bins: int) -> tuple[Group, ...]:
    """Group samples by designed length, or into at most `bins` quantile bins; shortest first."""
    return _by_design(scored) if designed_lengths else _by_quantile(tuple(scored), bins)


def _by_design(scored: Iterable[ScoredSample]) -> tuple[Group, ...]:
    by_length: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in scored:
        by_length[item.sample.context_tokens].append(item)
    return tuple(Group(asked_tokens=k, samples=tuple(by_length[k])) for k in sorted(by_length))


def _by_quantile(scored: tuple[ScoredSample, ...], bins: int) -> tuple[Group, ...]:
    """Put each distinct length where the middle of its ranks falls, so that ties stay together."""
    by_length: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in scored:
        by_length[item.measured_tokens].append(item)
    groups: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    shorter = 0
    for length in sorted(by_length):
        here = by_length[length]
        groups[(2 * shorter + len(here)) * bins // (2 * len(scored))].extend(here)
        shorter += len(here)
    return tuple(Group(asked_tokens=_median_tokens(groups[k]), samples=tuple(groups[k])) for k in sorted(groups))


def summarise(groups: Sequence[Group], confidence: float) -> tuple[Level, ...]:
    """What the analysis says of each group, with intervals at `confidence`."""
    binary = is_binary(s.score for g in groups for s in g.samples if s.score is not None)
    return tuple(_level(g, binary=binary, confidence=confidence) for g in groups)


def _level(found: Group, *, binary: bool, confidence: float) -> Level:
    lengths = [s.measured_tokens for s in found.samples]
    scores = tuple(sorted(s.score for s in found.samples if s.score is not None))
    n_unscored = len(found.samples) - len(scores)
    mean = ci_low = ci_high = tested_low = failure_rate = None
    if scores:
        mean = mean_of(scores)
        ci_low, ci_high = shown_interval(scores, confidence, binary=binary)
        tested_low = lower_bound((0.0,) * n_unscored + scores, confidence, binary=binary)
        failure_rate = sum(score < 1.0 for score in scores) / len(scores)
    summary = Bin(
        asked_tokens=found.asked_tokens,
        min_tokens=min(lengths),
        median_tokens=_median_tokens(found.samples),
        max_tokens=max(lengths),
        n_samples=len(scores),
        n_unscored=n_unscored,
        mean=mean,
        ci_low=ci_low,
        ci_high=ci_high,
        tested_low=tested_low,
        std=_standard_deviation(scores),
        failure_rate=failure_rate,
        failures=_failures(found.samples),
        ttft_ms_median=_median(s.generation.ttft_ms for s in found.samples if s.generation is not None),
        latency_ms_median=_median(s.generation.latency_ms for s in found.samples if s.generation is not None),
    )
    return Level(bin=summary, scores=scores, binary=binary)


def mean_of(scores: Sequence[float]) -> float:
    """The mean, exactly rounded: the same whatever the order of the scores."""
    return math.fsum(scores) / len(scores)


def _standard_deviation(scores: Sequence[float]) -> float | None:
    """Sample standard deviation (n − 1 in the denominator); None below two scores."""
    if len(scores) < 2:
        return None
    centre = mean_of(scores)
    return math.sqrt(math.fsum((score - centre) ** 2 for score in scores) / (len(scores) - 1))


def _failures(samples: Iterable[ScoredSample]) -> dict[str, int]:
    """How often each tag occurs among imperfect and unscored samples, most frequent first."""
    counts = Counter(s.failure for s in samples if s.failure is not None and (s.score is None or s.score < 1.0))
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _median(values: Iterable[float]) -> float | None:
    found = list(values)
    return statistics.median(found) if found else None


def _median_tokens(samples: Iterable[ScoredSample]) -> int:
    return round(statistics.median(s.measured_tokens for s in samples))
