"""From the scored rounds of a continuation run to what is said of the writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextcliff.analysis.search import BASELINE_SAMPLES
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.observed_sample_size import rounds_to_settle
from contextcliff.writing.analysis.degradation_tests import (
    against_author,
    against_shortest,
    neighbour_steps,
    writing_trends,
)
from contextcliff.writing.analysis.draws import DrawnTier, drawn_tiers
from contextcliff.writing.analysis.power_warnings import power_warnings
from contextcliff.writing.analysis.tier_summary import measured_names, writing_tier
from contextcliff.writing.analysis.verdict import verdict_of
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.prose_findings import Writing


def writing_of(
    scored: Sequence[ScoredSample],
    *,
    confidence: float,
    document_id: str,
    continuation_point: int,
    author: Mapping[str, Sequence[float]],
    share: float | None,
    cleared: bool,
    embeddings: str | None,
) -> Writing:
    """What is said of the prose at every length.

    `scored` are all planned rounds, unanswered ones included, in any order; controls count in nothing. `author` holds
    the z-scores of disjoint windows of the author's text, by measure. `share` is the part of the shortest length's
    score that a length has to clear (None: the threshold is a score, and there is no margin), and `cleared` whether
    the safe cap reaches the longest one. Nothing is drawn at random but by seeds from the rounds: the same rounds give
    the same record.
    """
    tiers = drawn_tiers(item for item in scored if item.sample.is_ordinary)
    measured = measured_names(tiers)
    by_shortest = against_shortest(tiers, confidence=confidence)
    by_author = against_author(tiers, author, confidence=confidence)
    tests = (*by_shortest, *by_author)
    settling = None if cleared or share is None else _settling(tiers, share, confidence)
    return Writing(
        document_id=document_id,
        continuation_point=continuation_point,
        tiers=tuple(writing_tier(tier, measured, confidence=confidence) for tier in tiers),
        tests=tests,
        trends=writing_trends(tiers),
        steps=neighbour_steps(tiers),
        verdict=verdict_of(tiers, by_shortest, by_author, share=share, cleared=cleared, settling_rounds=settling),
        settling_rounds=settling,
        warnings=power_warnings(tiers, tests, confidence=confidence),
        embeddings=embeddings,
        unmeasured=tuple(measure.name for measure in MEASURES if measure.name not in measured),
        confidence=confidence,
    )


def _settling(tiers: Sequence[DrawnTier], share: float, confidence: float) -> int | None:
    """Every length above the shortest has to clear for the cap to reach the longest."""
    if len(tiers) < 2:
        return None
    longer = [tier.scores for tier in tiers[1:]]
    if not all(longer) or not tiers[0].scores:
        return None
    return rounds_to_settle(longer, tiers[0].scores, share, confidence, least=BASELINE_SAMPLES)
