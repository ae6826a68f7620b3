"""Sample size for scores like those that were observed at a length, whatever kind they are of.

Fractional scores are planned with the spread that they have, where there are two or more; 0/1 scores, single ones and
those of shared texts with the spread of right and wrong answers. Where samples share texts, the figures are samples in
texts of as many samples as now, and as different.
"""

from __future__ import annotations

from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.evidence import Evidence
from contextcliff.statistics.sample_size.baseline_share import to_show_above_share
from contextcliff.statistics.sample_size.fixed_threshold import MOST, cautious_rate, to_show_above
from contextcliff.statistics.sample_size.fractional_scores import scores_to_settle


def to_show_above_as_observed(
    evidence: Evidence, threshold: float, confidence: float, *, has_spread: bool
) -> int | None:
    """Samples with which a score like the observed one is shown above `threshold` with 80% power; None above `MOST`.

    `has_spread`: the scores are fractions, and independent.
    """
    if has_spread and len(evidence.scores) >= 2:
        # A baseline that is known to be 1 makes the share a fixed threshold.
        return scores_to_settle(evidence.scores, (1.0, 1.0), threshold, confidence, most=MOST)
    needed = to_show_above(cautious_rate(evidence.scores, threshold), threshold, confidence)
    return evidence.samples_worth(needed, confidence, most=MOST)


def to_show_above_share_as_observed(
    evidence: Evidence, baseline: Evidence, share: float, confidence: float, *, has_spread: bool, least: int
) -> int | None:
    """Samples at each of two lengths with which a score like the observed one is shown above `share` × the baseline's.

    With 80% power; None above `MOST`, or without a score at the baseline. More samples at one length alone would leave
    the error of the other. `has_spread`: the scores of both are fractions, and independent. `least` is the smallest
    size that makes a baseline.
    """
    if not baseline.scores:
        return None
    if has_spread and min(len(evidence.scores), len(baseline.scores)) >= 2:
        return scores_to_settle(evidence.scores, baseline.scores, share, confidence, most=MOST, least=least)
    mean = mean_of(baseline.scores)
    needed = to_show_above_share(cautious_rate(evidence.scores, share * mean), mean, share, confidence)
    return evidence.samples_worth(needed, confidence, most=MOST)
