"""The scores of one length as an interval or a test takes them: independent, or clustered by shared texts.

Independent scores go to `intervals.py` and `melding.py` as they are. Clustered ones go there as the effective
counts of `clusters.py`: to Clopper and Pearson's bound and to melding for what is tested, and to Wilson's
interval for what is shown. Of the two-sided intervals that one covers best: between 0.95 and 1 at a nominal
0.95, for 4 to 16 texts of 5 to 10 samples and correlations from 0 to 0.3, where Clopper and Pearson's is wider.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from contextcliff.statistics import clusters as sharing
from contextcliff.statistics import intervals, melding
from contextcliff.statistics.clusters import Cluster, Effective


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """At least one score, sorted, and the clusters they come in; none where they are independent."""

    scores: tuple[float, ...]
    binary: bool
    clusters: tuple[Cluster, ...] = ()

    def lower(self, confidence: float) -> float:
        """One-sided lower bound at `confidence` of the mean."""
        if not self.clusters:
            return intervals.lower_bound(self.scores, confidence)
        worth = self.effective(confidence)
        return intervals.clopper_pearson_low(worth.right, worth.n, confidence)

    def upper(self, confidence: float) -> float:
        """One-sided upper bound at `confidence` of the mean."""
        if not self.clusters:
            return intervals.upper_bound(self.scores, confidence)
        worth = self.effective(confidence)
        return 1.0 - intervals.clopper_pearson_low(worth.n - worth.right, worth.n, confidence)

    def shown(self, confidence: float) -> tuple[float, float]:
        """The two-sided interval at `confidence` that is shown beside the mean."""
        if not self.clusters:
            return intervals.shown_interval(self.scores, confidence, binary=self.binary)
        worth = self.effective(0.5 * (1.0 + confidence))
        return intervals.wilson_of_share(sharing.mean_of_clusters(self.clusters), worth.n, confidence)

    def effective(self, confidence: float) -> Effective:
        """What the scores are worth as 0/1 scores for a one-sided statement at `confidence`."""
        if not self.clusters:
            return Effective(right=math.fsum(self.scores), n=len(self.scores))
        return sharing.effective(self.clusters, confidence)

    def samples_worth(self, needed: int | None, confidence: float, *, most: int) -> int | None:
        """Samples of this kind that are worth `needed` independent ones; None above `most`, or of None."""
        if needed is None or not self.clusters:
            return needed
        return sharing.samples_worth(needed, self.clusters, confidence, most=most)


def p_at_most_share(here: Evidence, baseline: Evidence, share: float, confidence: float) -> float:
    """One-sided p-value of "the mean `here` is at most `share` × the baseline's".

    It is to be held against 1 − `confidence`, which the effective counts of clustered scores depend on.
    """
    if here.clusters or baseline.clusters:
        found, base = here.effective(confidence), baseline.effective(confidence)
        return melding.binary_p_at_most_share(found.right, found.n, base.right, base.n, share)
    return melding.p_at_most_share(here.scores, baseline.scores, share, binary=here.binary)


def p_at_least_share(here: Evidence, baseline: Evidence, share: float, confidence: float) -> float:
    """One-sided p-value of "the mean `here` is at least `share` × the baseline's", likewise."""
    if here.clusters or baseline.clusters:
        found, base = here.effective(confidence), baseline.effective(confidence)
        return melding.binary_p_at_least_share(found.right, found.n, base.right, base.n, share)
    return melding.p_at_least_share(here.scores, baseline.scores, share, binary=here.binary)
