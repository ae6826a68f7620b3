"""Half-life, area and the mean over tasks after a search, which ends at the first length that looks bad.

Simulated searches of the product's own; the shares are those of docs/simulations.md, with fewer runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.task_means import task_means
from contextcliff.findings.fitted_length import FittedLengthFinding, FittedLengths
from contextcliff.findings.half_life import HalfLifeFinding, HalfLifeFits
from contextcliff.records.analysis import Analysis
from contextcliff.records.sweep import SweepRow, curve_of
from tests.make import analysed_search, coin, plan_of, searched
from tests.statistics.simulated_walks import most_errors

pytestmark = pytest.mark.slow

RUNS = int(os.environ.get("SIMULATED_RUNS", "40"))
SIX = (4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
SEVEN = (1_024, 2_048, *SIX[:5])
EIGHT = (*SEVEN, 131_072)
FLATS = [(0.95, EIGHT), (0.92, EIGHT), (0.9, EIGHT), (0.9, SIX)]
Recorder = Callable[[str, object], None]


@cache
def analysed(rate: float, halves_at: float, cliff_at: float, lengths: tuple[int, ...]) -> tuple[Analysis, ...]:
    """Searches of a model of this score at length 0, which halves every so many tokens, and is .05 from a cliff on."""

    def score(tokens: int, _: float) -> float:
        return 0.05 if tokens >= cliff_at else rate * 0.5 ** (tokens / halves_at)

    plan, found = plan_of(*lengths, refine=True), (FittedLengthFinding(), HalfLifeFinding())
    return tuple(
        analysed_search(plan, searched(plan, coin(score, seed), AnalysisSettings()), finders=found)
        for seed in range(RUNS)
    )


def shown(analyses: tuple[Analysis, ...]) -> list[int]:
    fits = [each.finding(HalfLifeFits) for each in analyses]
    return [fit.half_life.tokens for fit in fits if fit is not None and fit.half_life.tokens is not None]


@pytest.mark.parametrize(("rate", "lengths"), FLATS)
def test_a_flat_model_has_a_half_life_no_more_often_than_its_interval_errs(
    rate: float, lengths: tuple[int, ...], record_property: Recorder
) -> None:
    found = shown(analysed(rate, 1e12, 1e12, lengths))
    record_property("shown", len(found) / RUNS)
    assert len(found) <= most_errors(RUNS, 0.05)


@pytest.mark.parametrize("rate", [1.0, 0.98])
def test_a_decay_over_five_lengths_has_one_near_the_planted(rate: float, record_property: Recorder) -> None:
    found = shown(analysed(rate, 256_000, 1e12, SEVEN))
    record_property("shown", len(found) / RUNS)
    assert len(found) >= 0.75 * RUNS
    assert float(np.median(found)) == pytest.approx(256_000, rel=0.4)


def test_a_cliff_has_none(record_property: Recorder) -> None:
    found = shown(analysed(0.98, 1e12, 9_000, SEVEN))
    record_property("shown", len(found) / RUNS)
    assert len(found) <= 0.2 * RUNS


@pytest.mark.parametrize(("rate", "halves_at"), [(0.9, 1e12), (1.0, 256_000)])
def test_the_area_s_interval_holds_over_the_lengths_that_it_names(
    rate: float, halves_at: float, record_property: Recorder
) -> None:
    missed = told = 0
    for analysis in analysed(rate, halves_at, 1e12, SEVEN):
        fitted = analysis.finding(FittedLengths)
        if fitted is None or (area := fitted.area) is None:
            continue
        told += 1
        at = np.geomspace(area.min_tokens, area.max_tokens, 400)
        truth = float(np.trapezoid(rate * 0.5 ** (at / halves_at), np.log(at)) / np.log(at[-1] / at[0]))
        missed += not area.ci_low <= truth <= area.ci_high
    record_property("missed", missed / max(told, 1))
    assert told
    assert missed <= most_errors(told, 0.05)


@pytest.mark.parametrize("rate", [0.9, 0.95])
def test_the_mean_over_thirteen_searched_tasks_lies_in_its_interval(rate: float, record_property: Recorder) -> None:
    searches = analysed(rate, 1e12, 1e12, SIX)
    points = missed = 0
    for start in range(0, RUNS - 12, 13):
        rows = [row_of(job, each) for job, each in enumerate(searches[start : start + 13])]
        for found in task_means(rows):
            points += len(found.points)
            missed += sum(not point.low <= rate <= point.high for point in found.points)
    record_property("missed", missed / max(points, 1))
    assert points
    assert missed <= most_errors(points, 0.05)


def row_of(job: int, analysis: Analysis) -> SweepRow:
    curve = curve_of(each for each in analysis.bins if each.asked_tokens in SIX)
    return SweepRow(
        job=job, model="m", task=f"task {job}", kv_policy="none", state="done", curve=curve, threshold_score=0.8,
        confidence=0.95, searched=True,
    )  # fmt: skip
