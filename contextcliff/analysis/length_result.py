"""What was measured at one length: its bin in the report, and the items behind it that the tests need."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from contextcliff.analysis.items import Item, clusters_of, completed_evidence, evidence_of, scores_of
from contextcliff.records.amounts import SharedBy, Unit
from contextcliff.records.analysis import Bin
from contextcliff.statistics.clusters import Cluster, Evidence

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
