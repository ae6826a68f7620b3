"""Simulated runs are decided as real ones: run for run, by the code that searches and analyses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.calibration.calibrating import (
    FIXED,
    DesignName,
    SimulatedSearches,
    fixed_outcomes,
    fixed_scores,
)
from contextcliff.analysis.calibration.laws import Law
from contextcliff.analysis.search import BlockKey, BlockScores, follow
from contextcliff.analysis.study import StudyFacts
from contextcliff.records.generation import ScoredSample
from tests.analysis.calibration_plans import LAWS, LENGTHS, plan_of
from tests.make import scored_sample

RUNS = [pytest.param(10, id="quick"), pytest.param(200, id="record", marks=pytest.mark.slow)]


class SimulatedBlocks(Mapping[BlockKey, BlockScores]):
    """The blocks of one simulated run, as a search that is followed looks them up."""

    def __init__(self, searches: SimulatedSearches, run: int, drawn: dict[int, list[list[list[float]]]]) -> None:
        self.searches, self.run, self.drawn = searches, run, drawn

    def __contains__(self, key: object) -> bool:
        return isinstance(key, BlockKey) and key.index < self.searches.plan.most_blocks

    def __getitem__(self, key: BlockKey) -> BlockScores:
        if key.context_tokens not in self.drawn:
            parts = self.searches.law.parts
            self.drawn[key.context_tokens] = (self.searches.scores(key.context_tokens) / parts).tolist()
        block = tuple(self.drawn[key.context_tokens][self.run][key.index])
        return BlockScores(texts=tuple((score,) for score in block))

    def __iter__(self) -> Iterator[BlockKey]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("refine", [False, True], ids=["walk", "refine"])
@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
def test_a_simulated_search_goes_the_way_that_the_real_one_goes(law: Law, refine: bool, runs: int) -> None:
    calibration = plan_of(runs)
    plan, rule = calibration.search_plan(refine=refine), calibration.rule(law)
    searches = SimulatedSearches(law=law, plan=plan, rule=rule, runs=runs, seed=calibration.seed)
    caps, _ = searches.outcomes()
    drawn: dict[int, list[list[list[float]]]] = {}
    for run in range(runs):
        tested = follow(plan, rule, SimulatedBlocks(searches, run, drawn)).search.tested
        assert searches.path(run) == [(each.context_tokens, each.decision, each.n_blocks) for each in tested]
        passed = [each.context_tokens for each in tested if each.decision == "passed"]
        assert caps[run] == max(passed, default=0)


@pytest.mark.parametrize("resolution", [1, 700, 5000])
def test_a_simulated_search_refines_to_the_resolution_that_the_real_one_refines_to(resolution: int) -> None:
    law = LAWS["slope_between"]
    calibration = plan_of(10, resolution=resolution)
    plan, rule = calibration.search_plan(refine=True), calibration.rule(law)
    searches = SimulatedSearches(law=law, plan=plan, rule=rule, runs=10, seed=calibration.seed)
    drawn: dict[int, list[list[list[float]]]] = {}
    for run in range(10):
        tested = follow(plan, rule, SimulatedBlocks(searches, run, drawn)).search.tested
        assert searches.path(run) == [(each.context_tokens, each.decision, each.n_blocks) for each in tested]


def _analysed_cap(samples: Sequence[ScoredSample], *, relative: bool) -> int:
    """The cap that the analysis of a run gives; 0 where no length beyond a baseline clears."""
    settings = AnalysisSettings(relative_to_baseline=relative)
    facts = StudyFacts(max_context_tokens=131_072, designed_lengths=True, relative_by_default=False)
    sequence = study_of(samples, settings, facts).sequence
    assert sequence is not None
    return (sequence.cap_tokens or 0) if sequence.cleared > int(relative) else 0


DESIGNS = [
    pytest.param("fixed_40", 4, id="fixed_40"),
    pytest.param("fixed_40", 40, id="fixed_40-record", marks=pytest.mark.slow),
    pytest.param("fixed_500", 4, id="fixed_500-record", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("design", "runs"), DESIGNS)
@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
def test_a_simulated_fixed_design_has_the_cap_that_its_analysis_gives(law: Law, design: DesignName, runs: int) -> None:
    plan, samples = plan_of(runs), FIXED[design]
    drawn = {tokens: (fixed_scores(plan, law, samples, tokens) / law.parts).reshape(runs, -1) for tokens in LENGTHS}
    analysed = [
        _analysed_cap(
            [scored_sample(tokens, float(score)) for tokens in LENGTHS for score in drawn[tokens][run]],
            relative=law.relative,
        )
        for run in range(runs)
    ]
    caps, _ = fixed_outcomes(plan, law, samples)
    assert caps.tolist() == analysed
