"""A judge's ratings beside the exact scores: how often do the two disagree?"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from contextcliff.analysis.intervals import wilson
from contextcliff.records import Judgement, ScoredSample

_EXACT_RIGHT_FROM = 0.5


def judgement_of(scored: Sequence[ScoredSample], *, judge: str, right_from: int, confidence: float) -> Judgement | None:
    """Compare ratings (1-10, right from `right_from` up) with scores. None where there was nothing to judge."""
    answered = [item for item in scored if item.score is not None]
    if not answered:
        return None
    judged = [(item.judge_rating, item.score) for item in answered if item.judge_rating is not None]
    pairs = [(rating >= right_from, (score or 0.0) >= _EXACT_RIGHT_FROM) for rating, score in judged]
    judge_only = sum(said and not exact for said, exact in pairs)
    exact_only = sum(exact and not said for said, exact in pairs)
    low, high = wilson(judge_only + exact_only, len(pairs), confidence) if pairs else (None, None)
    return Judgement(
        judge=judge,
        n_judged=len(pairs),
        n_unjudged=len(answered) - len(pairs),
        mean_rating=fmean(rating for rating, _ in judged) if judged else None,
        right_from=right_from,
        disagreements=judge_only + exact_only,
        judge_only=judge_only,
        exact_only=exact_only,
        share=(judge_only + exact_only) / len(pairs) if pairs else None,
        ci_low=low,
        ci_high=high,
    )
