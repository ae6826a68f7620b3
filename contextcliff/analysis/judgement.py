"""A judge's ratings beside the exact scores: how often do the two disagree?

The repeats of a question are one piece of evidence here too, and questions on one text are clustered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from contextcliff.analysis.items import evidence_of, items_of
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.descriptive import mean_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A judge beside the exact score: how often the two disagree, with Wilson's interval.

    The judge counts as saying "right" from `right_from` of 10 up, the exact score from 0.5 up.
    """

    judge: str
    n_judged: int
    n_unjudged: int
    mean_rating: float | None
    right_from: int
    disagreements: int
    judge_only: int
    """The judge says right, the exact score wrong."""
    exact_only: int
    """The exact score says right, the judge wrong."""
    share: float | None
    ci_low: float | None
    ci_high: float | None


_EXACT_RIGHT_FROM = 0.5


def judgement_of(scored: Sequence[ScoredSample], *, judge: str, right_from: int, confidence: float) -> Judgement | None:
    """Compare ratings (1-10, right from `right_from` up) with scores. None where there was nothing to judge."""
    answered = [item for item in scored if item.score is not None]
    if not answered:
        return None
    ratings = [item.judge_rating for item in answered if item.judge_rating is not None]
    pairs = [_verdicts(item, right_from) for item in answered if item.judge_rating is not None]
    judge_only = sum(said and not exact for said, exact in pairs)
    exact_only = sum(exact and not said for said, exact in pairs)
    differing = _disagreement([item for item in answered if item.judge_rating is not None], right_from)
    low, high = (None, None) if differing is None else differing.shown(confidence)
    return Judgement(
        judge=judge,
        n_judged=len(pairs),
        n_unjudged=len(answered) - len(pairs),
        mean_rating=fmean(ratings) if ratings else None,
        right_from=right_from,
        disagreements=judge_only + exact_only,
        judge_only=judge_only,
        exact_only=exact_only,
        share=None if differing is None else mean_of(differing.scores),
        ci_low=low,
        ci_high=high,
    )


def _verdicts(item: ScoredSample, right_from: int) -> tuple[bool, bool]:
    """Whether the judge calls an answer right, and whether the exact score does."""
    return (item.judge_rating or 0) >= right_from, (item.score or 0.0) >= _EXACT_RIGHT_FROM


def _disagreement(judged: Sequence[ScoredSample], right_from: int) -> Evidence | None:
    """1 for each answer on which the two disagree, by item; None without an answer."""
    if not judged:
        return None
    differing = []
    for item in judged:
        said, exact = _verdicts(item, right_from)
        differing.append(replace(item, score=float(said != exact)))
    items = items_of(differing)
    return evidence_of(items, binary=all(item.is_right_or_wrong for item in items))
