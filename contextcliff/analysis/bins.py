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
from dataclasses import dataclass, replace
from functools import cached_property

from contextcliff.analysis.items import Item, instability_of, items_of
from contextcliff.records.analysis import Bin
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.bimodality import bimodality, rolling_variances
from contextcliff.statistics.clusters import Cluster, clusters_of
from contextcliff.statistics.evidence import Evidence
from contextcliff.statistics.quantiles import quantile_classes


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """The samples of one length, before anything is computed of them."""

    asked_tokens: int
    samples: tuple[ScoredSample, ...]


_NOUNS = ("questions", "distinct samples", "samples")


@dataclass(frozen=True, kw_only=True)
class LengthResult:
    """A bin with the items behind it, which the tests need, as `items.py` has them.

    `binary` is whether every item is right or wrong, of the whole run and not of the bin: a bin of fractional scores
    which happen to be all 1 is no binomial sample. It chooses the interval that is shown; what is tested is the
    same either way, since Gaffke's bound is Clopper and Pearson's where all scores are 0 or 1.
    """

    bin: Bin
    items: tuple[Item, ...]
    binary: bool

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """One of each item that has one, sorted: nothing that is computed of them depends on the samples' order."""
        return tuple(sorted(item.score for item in self.items if item.score is not None))

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """The texts that samples share; none where they are independent."""
        return clusters_of(self.items)

    @property
    def planned(self) -> int:
        """Number of items, scored or not."""
        return len(self.items)

    @property
    def noun(self) -> str:
        """What its items are called: `samples`, repeated `questions`, or `distinct samples`."""
        return min((item.noun for item in self.items), key=_NOUNS.index)

    @property
    def texts(self) -> str:
        """What its samples share: whole `texts`, or several `contexts` of one text."""
        return "texts" if all(item.cluster in ("", item.document) for item in self.items) else "contexts"

    @property
    def evidence(self) -> Evidence:
        """What was scored. Where only one text was, there is no variance between texts to allow for."""
        found = tuple(Cluster(total=c.total, scored=c.scored) for c in self.clusters if c.scored)
        return Evidence(scores=self.scores, binary=self.binary, clusters=found if len(found) >= 2 else ())

    @property
    def if_unscored_wrong(self) -> Evidence:
        """The worst case for "this length is good": every unscored sample would have scored 0."""
        return self._completed(self.items, 0.0)

    @property
    def if_unscored_right(self) -> Evidence:
        """The worst case for "this length is bad": every unscored sample would have scored 1."""
        return self._completed(self.items, 1.0)

    @property
    def if_scored_right(self) -> Evidence:
        """The best that could have been: every scored sample right, and the unscored ones still wrong."""
        return self._completed([item.if_scored_right for item in self.items], 0.0)

    @property
    def if_all_right(self) -> Evidence:
        """Every sample right, the unscored ones too: the most that so many samples can show."""
        return self._completed([item.if_right for item in self.items], 1.0)

    @property
    def sharing(self) -> int:
        """Texts that its planned samples share, scored or not; 0 where each has one of its own."""
        names = Counter(item.cluster for item in self.items)
        alone = names.pop("", 0)
        return len(names) + alone if any(n > 1 for n in names.values()) else 0

    def texts_for(self, n: int) -> int:
        """In how many texts `n` samples lie, if in as many a text as now."""
        return min(n, max(2, round(n * self.sharing / self.planned)))

    def all_right(self, n: int) -> Evidence:
        """`n` scored samples here, all right; where they share texts, in texts of as many samples as now."""
        shared: tuple[Cluster, ...] = ()
        if self.sharing:
            k = self.texts_for(n)
            sizes = (n // k + (i < n % k) for i in range(k))
            shared = tuple(Cluster(total=float(size), scored=size) for size in sizes)
        return Evidence(scores=(1.0,) * n, binary=self.binary, clusters=shared)

    def _completed(self, items: Sequence[Item], unscored_as: float) -> Evidence:
        """With a score for every repeat; one of three that is missing is a third of its item."""
        scores = tuple(sorted(item.score_if(unscored_as) for item in items))
        return Evidence(scores=scores, binary=self.binary, clusters=clusters_of(items, unscored_as=unscored_as))


def group(scored: Iterable[ScoredSample], *, designed_lengths: bool, bins: int) -> tuple[Group, ...]:
    """Group samples by designed length, by the bin they were drawn for, or into quantile bins; shortest first."""
    samples = tuple(scored)
    if designed_lengths:
        return _by_design(samples)
    if all(item.sample.bin is not None for item in samples):
        return _by_draw(samples)
    return _by_quantile(samples, bins)


def _by_draw(scored: tuple[ScoredSample, ...]) -> tuple[Group, ...]:
    by_bin: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in scored:
        by_bin[item.sample.bin or 0].append(item)
    return tuple(Group(asked_tokens=_median_tokens(by_bin[k]), samples=tuple(by_bin[k])) for k in sorted(by_bin))


def _by_design(scored: Iterable[ScoredSample]) -> tuple[Group, ...]:
    by_length: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in scored:
        by_length[item.sample.context_tokens].append(item)
    return tuple(Group(asked_tokens=k, samples=tuple(by_length[k])) for k in sorted(by_length))


def _by_quantile(scored: tuple[ScoredSample, ...], bins: int) -> tuple[Group, ...]:
    by_length: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in scored:
        by_length[item.measured_tokens].append(item)
    classes = quantile_classes([item.measured_tokens for item in scored], bins)
    groups = [[item for length in lengths for item in by_length[length]] for lengths in classes]
    return tuple(Group(asked_tokens=_median_tokens(group), samples=tuple(group)) for group in groups)


def summarise(groups: Sequence[Group], confidence: float, *, binary: bool | None = None) -> tuple[LengthResult, ...]:
    """What the analysis says of each group, with intervals at `confidence`.

    `binary` is whether the whole run's items are right or wrong; None: these groups are the whole run.
    """
    if binary is None:
        binary = all(item.is_right_or_wrong for g in groups for item in items_of(g.samples))
    results = [_level(g, binary=binary, confidence=confidence) for g in groups]
    rolling = rolling_variances([result.scores for result in results])
    return tuple(
        replace(result, bin=replace(result.bin, rolling_variance=variance))
        for result, variance in zip(results, rolling, strict=True)
    )


def _level(found: Group, *, binary: bool, confidence: float) -> LengthResult:
    lengths = [s.measured_tokens for s in found.samples]
    n_scored = sum(s.score is not None for s in found.samples)
    items = items_of(found.samples)
    scores = tuple(sorted(item.score for item in items if item.score is not None))
    changes = instability_of(items)
    summary = Bin(
        asked_tokens=found.asked_tokens,
        min_tokens=min(lengths),
        median_tokens=_median_tokens(found.samples),
        max_tokens=max(lengths),
        n_samples=n_scored,
        n_unscored=len(found.samples) - n_scored,
        mean=mean_of(scores) if scores else None,
        ci_low=None,
        ci_high=None,
        tested_low=None,
        std=standard_deviation(scores),
        failure_rate=sum(_is_failure(s) for s in found.samples) / n_scored if n_scored else None,
        failures=_failures(found.samples),
        ttft_ms_median=_median(s.generation.ttft_ms for s in found.samples if s.generation is not None),
        latency_ms_median=_median(s.generation.latency_ms for s in found.samples if s.generation is not None),
        n_clusters=len(clusters_of(items)) or None,
        n_items=len(items),
        n_documents=len({s.sample.document_id for s in found.samples}),
        instability=None if changes is None else changes.share,
        within_item_variance=None if changes is None else changes.variance,
        latency_ms_std=standard_deviation([s.generation.latency_ms for s in found.samples if s.generation is not None]),
        bimodality=bimodality(scores),
    )
    result = LengthResult(bin=summary, items=items, binary=binary)
    return _with_bounds(result, confidence) if scores else result


def _with_bounds(result: LengthResult, confidence: float) -> LengthResult:
    low, high = result.evidence.shown(confidence)
    tested = result.if_unscored_wrong.lower(confidence)
    return replace(result, bin=replace(result.bin, ci_low=low, ci_high=high, tested_low=tested))


def _is_failure(item: ScoredSample) -> bool:
    """A scored sample that is not wholly right: exact match 0 where that was measured, else any score below 1.

    Where scores are graded it is a sample with a failure tag: even a good one scores below 1.
    """
    if item.score is None:
        return False
    if item.graded:
        return item.failure is not None
    return item.details.get("em", item.score) < 1.0


def mean_of(scores: Sequence[float]) -> float:
    """The mean, exactly rounded: the same whatever the order of the scores."""
    return math.fsum(scores) / len(scores)


def standard_deviation(scores: Sequence[float]) -> float | None:
    """Sample standard deviation (n − 1 in the denominator); None below two scores."""
    if len(scores) < 2:
        return None
    if min(scores) == max(scores):
        return 0.0  # and not what rounding the mean leaves
    centre = mean_of(scores)
    return math.sqrt(math.fsum((score - centre) ** 2 for score in scores) / (len(scores) - 1))


def _failures(samples: Iterable[ScoredSample]) -> dict[str, int]:
    """How often each tag occurs among imperfect and unscored samples, most frequent first."""
    return counted(
        s.failure for s in samples if s.failure is not None and (s.score is None or s.score < 1.0 or s.graded)
    )


def counted(words: Iterable[str]) -> dict[str, int]:
    """How often each occurs, most frequent first."""
    return dict(sorted(Counter(words).items(), key=lambda entry: (-entry[1], entry[0])))


def _median(values: Iterable[float]) -> float | None:
    found = list(values)
    return statistics.median(found) if found else None


def _median_tokens(samples: Iterable[ScoredSample]) -> int:
    return round(statistics.median(s.measured_tokens for s in samples))
