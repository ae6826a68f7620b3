"""Reports of simulated searches."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.records.report import Counts, Report
from tests.make import analysed_search, coin, plan_of, searched
from tests.simulated_reports import simulated

CLIFF_AT = 3_000


@cache
def search_report(
    *lengths: int, cliff_at: int = CLIFF_AT, before: float = 0.98, most_asked: int = 1_000, relative: bool = False
) -> Report:
    """A search of a model that falls from `before` to 0.05 beyond `cliff_at` tokens, up to `most_asked` blocks."""
    settings = AnalysisSettings(relative_to_baseline=relative)
    plan = plan_of(*(lengths or (512, 1_024, 2_048, 4_096, 8_192)), refine=True)
    score_at = coin(lambda length, _: before if length <= cliff_at else 0.05, seed=1)
    samples = searched(plan, score_at, settings, most_asked=most_asked)
    made = simulated()
    counts = Counts(planned=len(samples), completed=len(samples), reused=0, unscored=0, controls=0, errors={}, ahead=33)
    return replace(made, analysis=analysed_search(plan, samples, settings), counts=counts)
