"""Do the intervals of x80, x50 and area cover what was planted? Simulated laws, from fixed seeds.

A cliff and a slope with 20, 40 and 100 samples at each of seven lengths, independent or in texts that recur at all
lengths. An end that is missing is beyond the range. What is planted of the area is that of the true scores at the
tested lengths.

In 2,000 runs a law the intervals covered (x80, x50, area): slope with 20 samples a length .984, .986, .957; with 40
.963, .968, .959; with 100 .958, .954, .945; gentle slope with 20 .990, .980, .951; steep slope with 20 .989, .987,
.965; with 100 .947, .959, .948.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.lengths import Item, LengthResult
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.fitted_length import FittedLength, estimates_of
from tests.make import coin, counted, known, plan_of, searched
from tests.statistics.simulated_walks import fewest_hits, simulated_runs

LENGTHS = np.array([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000])
DRAWS = 400
CONFIDENCE = 0.95
RECORD = simulated_runs(100)
CORRELATION = 0.2
"""Share of the variance of scores at a length that lies between texts (intra-class correlation)."""

Array = NDArray[np.float64]
Recorder = Callable[[str, object], None]


@dataclass(frozen=True, kw_only=True)
class Law:
    """True scores by length, and the lengths at which they fall to .8 and .5."""

    score: Callable[[Array], Array]
    x80: float
    x50: float


def logistic(top: float, bottom: float, middle: float, scale: float) -> Law:
    def at(score: float) -> float:
        left = (score - bottom) / (top - bottom)
        return middle * math.exp(scale * math.log((1.0 - left) / left))

    def score(lengths: Array) -> Array:
        return np.asarray(bottom + (top - bottom) / (1.0 + (lengths / middle) ** (1.0 / scale)))

    return Law(score=score, x80=at(0.8), x50=at(0.5))


def step(top: float, bottom: float, at: float) -> Law:
    return Law(score=lambda lengths: np.where(lengths <= at, top, bottom), x80=at, x50=at)


LAWS = {
    "cliff": step(0.97, 0.05, 11_000),
    "slope": logistic(1.0, 0.0, 12_000, 0.5),
    "gentle slope": logistic(0.97, 0.0, 20_000, 0.9),
    "steep slope": logistic(0.95, 0.1, 9_000, 0.25),
}


def area_of(scores: Array) -> float:
    at = np.log(LENGTHS)
    return float(np.trapezoid(scores, at) / (at[-1] - at[0]))


def covers(length: FittedLength, planted: float) -> bool:
    low = -math.inf if length.ci_low is None else length.ci_low
    high = math.inf if length.ci_high is None else length.ci_high
    return bool(low - 1 <= planted <= high + 1)  # ends are whole tokens


def covered(results: list[list[LengthResult]], law: Law, area: float, record_property: Recorder) -> dict[str, float]:
    hits = {"x80": 0, "x50": 0, "area": 0}
    for levels in results:
        found = known(estimates_of(levels, CONFIDENCE, draws=DRAWS))
        assert found.area is not None
        hits["x80"] += covers(found.x80, law.x80)
        hits["x50"] += covers(found.x50, law.x50)
        hits["area"] += found.area.ci_low - 1e-9 <= area <= found.area.ci_high + 1e-9
    shares = {name: count / len(results) for name, count in hits.items()}
    for name, share in shares.items():
        record_property(name, share)
    return shares


def least(runs: int) -> float:
    """Nominal − 2 points, less three standard errors of so few runs."""
    floor = CONFIDENCE - 0.02
    return floor - 3.0 * math.sqrt(floor * (1.0 - floor) / runs)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 40, 100])
@pytest.mark.parametrize("name", LAWS)
def test_the_intervals_cover_what_was_planted(name: str, n: int, record_property: Recorder) -> None:
    law, rng = LAWS[name], np.random.default_rng(n)
    scores = law.score(LENGTHS.astype(float))
    right = rng.binomial(n, scores, size=(RECORD, LENGTHS.size))
    results = [counted({int(at): (int(k), n) for at, k in zip(LENGTHS, row, strict=True)}) for row in right]
    for share in covered(results, law, area_of(scores), record_property).values():
        assert share >= least(RECORD)


def of_texts(rng: np.random.Generator, law: Law, texts: int, size: int) -> list[LengthResult]:
    """`size` samples of each text at each length. A text is as hard, among all texts, at every length."""
    rank, weight = rng.random(texts), (1.0 - CORRELATION) / CORRELATION
    made = []
    for level, mean in zip(counted({int(at): (0, 1) for at in LENGTHS}), law.score(LENGTHS.astype(float)), strict=True):
        rates = stats.beta.ppf(rank, mean * weight, (1.0 - mean) * weight)
        right = rng.random((texts, size)) < rates[:, None]
        items = [
            Item(cluster=f"text-{i}", document=f"text-{i}", score=float(one), repeats=(float(one),))
            for i, row in enumerate(right)
            for one in row
        ]
        made.append(LengthResult(bin=level.bin, items=tuple(items), binary=True))
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("texts", "size"), [(5, 8), (10, 4), (20, 5)])
@pytest.mark.parametrize("name", ["slope", "cliff"])
def test_the_intervals_cover_where_samples_share_texts(
    name: str, texts: int, size: int, record_property: Recorder
) -> None:
    law, rng = LAWS[name], np.random.default_rng(texts)
    results = [of_texts(rng, law, texts, size) for _ in range(RECORD)]
    for share in covered(results, law, area_of(law.score(LENGTHS.astype(float))), record_property).values():
        assert share >= least(RECORD)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["slope", "cliff"])
def test_on_stopped_data_the_intervals_of_fitted_lengths_cover_less(name: str, record_property: Recorder) -> None:
    """The shipped search refines between the last length that passed and the first that failed, and stops each length
    when it is decided: what the page marks. The area's range is the search's own."""
    law, runs, settings = LAWS[name], simulated_runs(60), AnalysisSettings()
    plan = plan_of(*(int(at) for at in LENGTHS), refine=True)
    hits = {"x80": 0, "x50": 0}
    for seed in range(runs):
        score_at = coin(lambda length, _: float(law.score(np.array(float(length)))), seed)
        facts = StudyFacts(max_context_tokens=64_000, designed_lengths=True, relative_by_default=False, search=plan)
        study = study_of(searched(plan, score_at, settings), settings, facts)
        found = known(estimates_of(study.results, CONFIDENCE, draws=DRAWS))
        hits["x80"] += covers(found.x80, law.x80)
        hits["x50"] += covers(found.x50, law.x50)
    for key, count in hits.items():
        record_property(key, count / runs)
        assert count >= fewest_hits(runs, 0.85)
