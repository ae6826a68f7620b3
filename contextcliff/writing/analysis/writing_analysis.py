"""From the scored rounds of a continuation run to what is said of the writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextcliff.records.generation import ScoredSample
from contextcliff.writing.analysis.degradation_tests import (
    against_author,
    against_shortest,
    neighbour_steps,
    writing_trends,
)
from contextcliff.writing.analysis.draws import drawn_tiers
from contextcliff.writing.analysis.measured_lengths import health_at, measured_lengths, tests_at, tiers_at
from contextcliff.writing.analysis.power_warnings import power_warnings, some_in_reach
from contextcliff.writing.analysis.tier_summary import measured_names, writing_tier
from contextcliff.writing.analysis.verdict import verdict_of
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.prose_findings import Health, Writing


def writing_of(
    scored: Sequence[ScoredSample],
    *,
    confidence: float,
    document_id: str,
    continuation_point: int,
    author: Mapping[str, Sequence[float]],
    health: Health | None,
    settling_rounds: int | None,
    embeddings: str | None,
) -> Writing:
    """What is said of the prose at every length.

    `scored` are all planned rounds, unanswered ones included, in any order; controls count in nothing. `author` holds
    the z-scores of disjoint windows of the author's text, by measure. `health` and `settling_rounds` are those of the
    walk that gave the safe cap; the rank tests here are a diagnosis beside it. Nothing is drawn at random but by seeds
    from the rounds: the same rounds give the same record. Its sentences name measured prompts, as the cap's do; the
    figures stand by the context lengths that were asked for, by which runs are compared.
    """
    tiers = drawn_tiers(item for item in scored if item.sample.is_ordinary)
    measured = measured_names(tiers)
    by_shortest = against_shortest(tiers, confidence=confidence)
    by_author = against_author(tiers, author, confidence=confidence)
    tests = (*by_shortest, *by_author)
    lengths = measured_lengths(tiers)
    told = tiers_at(tiers, lengths)
    return Writing(
        document_id=document_id,
        continuation_point=continuation_point,
        tiers=tuple(writing_tier(tier, measured, confidence=confidence) for tier in tiers),
        tests=tests,
        trends=writing_trends(tiers),
        steps=neighbour_steps(tiers),
        verdict=verdict_of(
            told,
            tests_at(by_shortest, lengths),
            tests_at(by_author, lengths),
            health=health_at(health, lengths),
            settling_rounds=settling_rounds,
            in_reach=some_in_reach(by_shortest, confidence=confidence),
        ),
        settling_rounds=settling_rounds,
        health=health,
        warnings=power_warnings(told, tests_at(tests, lengths), confidence=confidence),
        embeddings=embeddings,
        unmeasured=tuple(measure.name for measure in MEASURES if measure.name not in measured),
        confidence=confidence,
    )
