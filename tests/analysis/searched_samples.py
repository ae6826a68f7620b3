"""Searches over simulated scores: a model that answers by depth and length, asked as a search asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.search import BlockKey, block_scores, complete_blocks, follow
from contextcliff.analysis.study import Finder, StudyFacts
from contextcliff.findings.finding import sections_with
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import ScoredSample
from contextcliff.records.search_record import SearchPlan
from tests.analysis.analysis_samples import scored_sample

DEPTHS = tuple(i / 10 for i in range(11))
ScoreAt = Callable[[int, float], float | None]
"""The score of a sample at a length and a depth; None: it has none."""


def plan_of(*lengths: int, depths: Sequence[float] = DEPTHS, most_blocks: int = 14, refine: bool = False) -> SearchPlan:
    block = len(depths)
    return SearchPlan(
        lengths=lengths, block=block, block_evidence=block, most_blocks=most_blocks, depths=block, refine=refine
    )


def coin(rate_at: Callable[[int, float], float], seed: int) -> ScoreAt:
    """A model that is right with a chance of its own at each length and depth."""
    rng = np.random.default_rng(seed)
    return lambda length, depth: float(rng.random() < rate_at(length, depth))


def searched(
    plan: SearchPlan,
    score_at: ScoreAt,
    settings: AnalysisSettings,
    *,
    depths: Sequence[float] = DEPTHS,
    most_asked: int = 1_000,
) -> list[ScoredSample]:
    """The samples that a search asks, up to `most_asked` blocks of them."""
    rule = settings.search_rule(relative=settings.is_relative(by_default=False))
    samples: list[ScoredSample] = []
    blocks: dict[BlockKey, object] = {}
    while len(blocks) < most_asked and (wanted := follow(plan, rule, complete_blocks(samples, plan)).wanted):
        for key in wanted:
            block = [
                _in_block(scored_sample(key.context_tokens, score_at(key.context_tokens, depth), depth=depth), key)
                for depth in depths
            ]
            samples += block
            blocks[key] = block_scores(block)
    return samples


def _in_block(item: ScoredSample, key: BlockKey) -> ScoredSample:
    return replace(item, sample=replace(item.sample, block=key.index, trial=key.index))


def analysed_search(
    plan: SearchPlan,
    scored: Sequence[ScoredSample],
    settings: AnalysisSettings | None = None,
    *,
    finders: Sequence[Finder] | None = None,
) -> Analysis:
    """The analysis of such a search, with every finding."""
    facts = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False, search=plan)
    study = study_of(scored, settings or AnalysisSettings(), facts)
    return analyse(study, sections_with() if finders is None else finders)
