"""Samples of one length as evidence: the repeats of one question, or of one draw, are one piece of it, an item.

A question that is put three times at temperature 0 is answered the same three times, or nearly so; counted as three
samples it would make every interval too short. Its score, and each other figure of its answers, is the mean over its
repeats. How much the repeats differ is a measure of its own: near its limit a model becomes unstable.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from contextcliff.records.amounts import Quantity, SharedBy, Unit, counted
from contextcliff.records.analysis import Bin
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.statistics.clusters import Cluster, Evidence, are_clustered, clusters_from
from contextcliff.statistics.descriptive import mean_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One question or draw with its repeats, or a single sample."""

    cluster: str = ""
    """The shared text that its samples belong to; empty where they share none."""
    document: str = ""
    score: float | None
    """Mean score over the scored repeats; None where no repeat was scored."""
    repeats: tuple[float, ...]
    """The score of each scored repeat, ascending."""
    unscored: int = 0
    """Repeats without a score."""
    noun: Unit = "samples"
    """What items are called where they are counted: `questions` that are repeated, `distinct samples` of one draw."""
    details: Mapping[str, float] = field(default_factory=dict, repr=False)
    """The finite figures of `Score.details`, each its mean over the repeats that have it."""
    samples: tuple[ScoredSample, ...] = field(default=(), repr=False)
    """The repeats, scored or not; empty where only their figures are known."""

    @property
    def variance(self) -> float | None:
        """Variance of the score over the repeats (n − 1 in the denominator); None below two."""
        if len(self.repeats) < 2 or self.score is None:
            return None
        return math.fsum((value - self.score) ** 2 for value in self.repeats) / (len(self.repeats) - 1)

    def score_if(self, unscored_as: float) -> float:
        """The mean over all repeats if every unscored repeat had this score."""
        return (math.fsum(self.repeats) + unscored_as * self.unscored) / (len(self.repeats) + self.unscored)

    @property
    def if_scored_right(self) -> Item:
        """The same item if every scored repeat were right."""
        if all(score == 1.0 for score in self.repeats):
            return self
        return replace(self, repeats=(1.0,) * len(self.repeats), score=1.0)

    @property
    def if_right(self) -> Item:
        """The same item if every repeat were scored, and right."""
        return replace(self, repeats=(1.0,) * (len(self.repeats) + self.unscored), score=1.0, unscored=0)

    @property
    def is_right_or_wrong(self) -> bool:
        """Whether its score is 0 or 1, and stays so whether its unscored repeats are all wrong or all right."""
        scores = (self.score_if(0.0), self.score_if(1.0)) if self.unscored else (self.score,)
        return all(score in (0.0, 1.0) for score in scores)


def items_of(samples: Iterable[ScoredSample]) -> tuple[Item, ...]:
    """The items of samples, in the order in which they first occur."""
    return tuple(_alone(*group) if len(group) == 1 else _item(group) for group in by_item(samples))


def by_item(samples: Iterable[ScoredSample]) -> tuple[tuple[ScoredSample, ...], ...]:
    """The samples of each piece of evidence together, in the order in which the pieces first occur."""
    groups: dict[Hashable, list[ScoredSample]] = {}
    for position, scored in enumerate(samples):
        piece = scored.piece
        groups.setdefault(position if piece is None else piece, []).append(scored)
    return tuple(map(tuple, groups.values()))


def _alone(scored: ScoredSample) -> Item:
    """What `_item` makes of one sample, at a tenth of the time: most samples are alone."""
    sample = scored.sample
    return Item(
        cluster=sample.cluster, document=sample.document_id, score=scored.score,
        repeats=() if scored.score is None else (scored.score,), unscored=int(scored.score is None),
        noun="questions" if sample.repeat else "samples", samples=(scored,),
        details={name: value for name, value in scored.details.items() if math.isfinite(value)},
    )  # fmt: skip


def _item(group: tuple[ScoredSample, ...]) -> Item:
    repeats = tuple(sorted(scored.score for scored in group if scored.score is not None))
    sample = group[0].sample
    return Item(
        cluster=sample.cluster, document=sample.document_id, score=mean_of(repeats) if repeats else None,
        repeats=repeats, unscored=len(group) - len(repeats), samples=group,
        noun="questions" if any(scored.sample.repeat for scored in group) else "distinct samples",
        details=_mean_details(group),
    )  # fmt: skip


def _mean_details(group: Sequence[ScoredSample]) -> dict[str, float]:
    values: defaultdict[str, list[float]] = defaultdict(list)
    for scored in group:
        for name, value in scored.details.items():
            if math.isfinite(value):
                values[name].append(value)
    return {name: mean_of(taken) for name, taken in values.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Instability:
    """How much the repeats of items differ, over the `n_items` items with two scored repeats or more."""

    share: float
    """Share of these items whose repeats do not all score the same."""
    variance: float
    """Mean over these items of the variance within an item."""
    n_items: int


def instability_of(items: Iterable[Item]) -> Instability | None:
    """The instability of items; None where no item has two scored repeats."""
    variances = [item.variance for item in items if item.variance is not None]
    if not variances:
        return None
    return Instability(
        share=sum(variance > 0.0 for variance in variances) / len(variances),
        variance=math.fsum(variances) / len(variances),
        n_items=len(variances),
    )


def scores_of(items: Iterable[Item]) -> tuple[float, ...]:
    """The score of each item that has one, ascending."""
    return tuple(sorted(item.score for item in items if item.score is not None))


def clusters_of(items: Iterable[Item], *, unscored_as: float | None = None) -> tuple[Cluster, ...]:
    """The clusters of the items of one length, smallest first; none where the items are independent.

    `statistics.clusters.are_clustered` decides. With `unscored_as` every sample without a score counts as this score.
    """
    shared: defaultdict[str, list[Item]] = defaultdict(list)
    alone: list[list[Item]] = []
    for item in items:
        if item.cluster:
            shared[item.cluster].append(item)
        else:
            alone.append([item])
    if not are_clustered([[item.score for item in group] for group in shared.values()]):
        return ()
    return clusters_from(
        [item.score if unscored_as is None else item.score_if(unscored_as) for item in group]
        for group in (*shared.values(), *alone)
    )


def evidence_of(items: Sequence[Item], *, binary: bool) -> Evidence:
    """The evidence of what was scored.

    It has no clusters where only one text has scores: no variance between texts can be estimated.
    """
    scored = tuple(Cluster(total=c.total, scored=c.scored) for c in clusters_of(items) if c.scored)
    return Evidence(scores=scores_of(items), binary=binary, clusters=scored if len(scored) >= 2 else ())


def completed_evidence(items: Sequence[Item], unscored_as: float, *, binary: bool) -> Evidence:
    """The evidence with `unscored_as` for every repeat without a score; one repeat of three is a third of its item."""
    scores = tuple(sorted(item.score_if(unscored_as) for item in items))
    return Evidence(scores=scores, binary=binary, clusters=clusters_of(items, unscored_as=unscored_as))


def pooled_evidence(lengths: Sequence[Sequence[ScoredSample]], *, binary: bool) -> Evidence | None:
    """The evidence of all scored samples of several lengths together; None where nothing was scored.

    A text that recurs at several lengths is one cluster. As at a single length, a length at which all samples share
    one text has no clusters. The lengths are the same in every run, so what they differ by is no variance: a score
    counts for its cluster by how far it is from the mean of its length (the stratified variance of W. G. Cochran,
    "Sampling Techniques", 3rd ed. 1977, chapter 5).
    """
    scored = [[item for item in items_of(samples) if item.score is not None] for samples in lengths]
    scores = scores_of(item for items in scored for item in items)
    if not scores:
        return None
    return Evidence(scores=scores, binary=binary, clusters=_pooled_clusters(scored, mean_of(scores)))


def _pooled_clusters(lengths: Sequence[Sequence[Item]], overall: float) -> tuple[Cluster, ...]:
    """Clusters over all lengths, the scores of each length moved to the overall mean; none where independent."""
    shared: defaultdict[str, list[float]] = defaultdict(list)
    alone: list[list[float]] = []
    for samples in lengths:
        scores = [item.score for item in samples if item.score is not None]
        several = len({item.cluster for item in samples} - {""}) > 1
        for item, score in zip(samples, scores, strict=True):
            moved = score + overall - mean_of(scores)
            if several and item.cluster:
                shared[item.cluster].append(moved)
            else:
                alone.append([moved])
    if not are_clustered(shared.values()):
        return ()
    return clusters_from((*shared.values(), *alone))


_NOUNS: tuple[Unit, ...] = ("questions", "distinct samples", "samples")


@dataclass(frozen=True, kw_only=True)
class LengthResult:
    """The result of one length: its bin, and the items behind it.

    `binary` is whether every item of the whole run is right or wrong. It is not decided for each bin: fractional
    scores that happen to be all 1 are no binomial sample. It chooses the interval that is shown. The test is the same
    either way, since Gaffke's bound is Clopper and Pearson's where all scores are 0 or 1.
    """

    bin: Bin
    items: tuple[Item, ...]
    binary: bool

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """The score of each item that has one, ascending, so that nothing depends on the samples' order."""
        return scores_of(self.items)

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters of samples that share a text; none where the samples are independent."""
        return clusters_of(self.items)

    @property
    def planned(self) -> int:
        """Number of items, scored or not."""
        return len(self.items)

    @property
    def noun(self) -> Unit:
        """What its items are called: `samples`, repeated `questions`, or `distinct samples`."""
        return min((item.noun for item in self.items), key=_NOUNS.index)

    @property
    def texts(self) -> SharedBy:
        """What its samples share: whole `texts`, or several `contexts` of one text."""
        return "texts" if all(item.cluster in ("", item.document) for item in self.items) else "contexts"

    @cached_property
    def evidence(self) -> Evidence:
        """What was scored."""
        return evidence_of(self.items, binary=self.binary)

    @property
    def if_unscored_wrong(self) -> Evidence:
        """The worst case for "this length is good": every unscored sample would have scored 0."""
        return completed_evidence(self.items, 0.0, binary=self.binary)

    @property
    def if_unscored_right(self) -> Evidence:
        """The worst case for "this length is bad": every unscored sample would have scored 1."""
        return completed_evidence(self.items, 1.0, binary=self.binary)

    @property
    def if_scored_right(self) -> Evidence:
        """The best case for the scored samples: all of them right, and the unscored ones wrong."""
        return completed_evidence([item.if_scored_right for item in self.items], 0.0, binary=self.binary)

    @property
    def if_all_right(self) -> Evidence:
        """The best case for all samples: every one right, the unscored ones too."""
        return completed_evidence([item.if_right for item in self.items], 1.0, binary=self.binary)

    @property
    def sharing(self) -> int:
        """Number of texts of its planned samples, scored or not; 0 where no two samples share one."""
        names = Counter(item.cluster for item in self.items)
        alone = names.pop("", 0)
        return len(names) + alone if any(n > 1 for n in names.values()) else 0

    def texts_for(self, n: int) -> int:
        """Number of texts that `n` samples need with as many samples a text as now."""
        return min(n, max(2, round(n * self.sharing / self.planned)))

    def all_right(self, n: int) -> Evidence:
        """The evidence of `n` right samples; where samples share texts, in texts of as many samples as now."""
        shared: tuple[Cluster, ...] = ()
        if self.sharing:
            k = self.texts_for(n)
            sizes = (n // k + (i < n % k) for i in range(k))
            shared = tuple(Cluster(total=float(size), scored=size) for size in sizes)
        return Evidence(scores=(1.0,) * n, binary=self.binary, clusters=shared)


def if_perfect(result: LengthResult, quantity: Quantity) -> Note:
    """What the best answers of a length would be."""
    if quantity == "healthy":
        return Note("it is healthy") if result.planned == 1 else Note("all are healthy")
    perfect = Note("right") if result.binary else Note("as good as can be")
    if result.planned == 1:
        return Note("it is {perfect}", perfect=perfect)
    return Note("all are {perfect}", perfect=perfect)


def planned_at(result: LengthResult, *, each_length: bool = False) -> Note:
    """How many samples a length has, scored or not, and in how many texts where they share some."""
    return counted(result.planned, result.noun, result.sharing, result.texts, each_length=each_length)


def in_as_many_texts(result: LengthResult, n: int, *, scored: bool = False, each_length: bool = False) -> Note:
    """So many samples, in as many a text as now."""
    shared = result.texts_for(n) if result.sharing else 0
    return counted(n, result.noun, shared, result.texts, scored=scored, each_length=each_length)
