"""G4: statistics of random samples, to a billionth. The samples are drawn by their number and not kept."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.paired import decide
from contextcliff.analysis.search import Path, StepScores
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.finding import findings_with
from contextcliff.records.comparison import Matching, ScoredPair
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.records.search_record import Key, SearchPlan, SearchRule
from contextcliff.statistics.intervals import mean_lower_bound, mean_upper_bound
from contextcliff.statistics.melding import p_at_least_share, p_at_most_share
from tests.make import scored_sample

Draw = random.Random
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
THRESHOLDS, CONFIDENCES, MARGINS = (0.5, 0.8, 0.9), (0.9, 0.95), (0.05, 0.1)
FEW, MORE = range(50), range(50, 500)


def curve(draw: Draw) -> Callable[[int], float]:
    """The chance of a right answer by length: flat, falling at any speed, or rising."""
    high, middle, steep = draw.uniform(0.3, 1.0), draw.uniform(300, 30_000), draw.choice((0.0, 1.0, 2.0, 8.0, -2.0))
    return lambda tokens: high / (1.0 + (tokens / middle) ** steep)


def score_of(draw: Draw, chance: float, *, graded: bool, unscored: float) -> float | None:
    if draw.random() < unscored:
        return None
    parts = 4 if graded else 1
    return sum(draw.random() < chance for _ in range(parts)) / parts


def samples_of(draw: Draw) -> list[ScoredSample]:
    right, graded, unscored = curve(draw), draw.random() < 0.3, draw.choice((0.0, 0.0, 0.1))
    texts, loss = draw.choice((0, 0, 4)), draw.choice((0.0, 0.0, 0.6))
    found = []
    for length in sorted(draw.sample(range(200, 20_000), draw.randint(2, 5))):
        for place in range(draw.randint(5, 25)):
            depth = DEPTHS[place % 5]
            chance = right(length) * (1.0 - loss * 4.0 * depth * (1.0 - depth))
            score = score_of(draw, chance, graded=graded, unscored=unscored)
            cluster = f"text {length} {place % texts}" if texts else ""
            found.append(scored_sample(length, score, depth=depth, measured=length - place % 3, cluster=cluster))
    return found


def studied(draw: Draw) -> Any:
    samples = samples_of(draw)
    settings = AnalysisSettings(
        threshold=draw.choice(THRESHOLDS), confidence=draw.choice(CONFIDENCES), relative_to_baseline=draw.random() < 0.3
    )
    return study_of(
        samples, settings, StudyFacts(max_context_tokens=32_768, designed_lengths=True, relative_by_default=False)
    )


def finding(key: str) -> Callable[[Draw], Any]:
    def found(draw: Draw) -> Any:
        (section,) = (each for each in findings_with() if each.key == key)
        return section.find(studied(draw))

    return found


def half_life(draw: Draw) -> Any:
    """Least squares, where a fall is shown, to four digits: else what they find depends on the machine."""
    found = finding("half_life")(draw)
    squares = found.half_life.tokens and found.half_life_lsq
    return [found.half_life, squares and float(f"{squares:.4g}")]


def walk(draw: Draw) -> Any:
    study = studied(draw)
    sequence = study.sequence
    assert sequence is not None
    bounds = [[each.tested_low, each.ci_low, each.ci_high] for each in study.bins]
    return [study.safe_cap, sequence.cleared, list(sequence.degraded), bounds]


def search(draw: Draw) -> Any:
    lengths = tuple(sorted(draw.sample(range(200, 20_000), draw.randint(1, 5))))
    plan = SearchPlan(lengths=lengths, most_steps=60, refine=draw.random() < 0.7)
    rule = SearchRule(
        threshold=draw.choice(THRESHOLDS), relative=draw.random() < 0.3, confidence=draw.choice(CONFIDENCES)
    )
    right, graded, unscored = curve(draw), draw.random() < 0.3, draw.choice((0.0, 0.05))
    path, steps = Path(plan, rule), dict[Key, StepScores]()
    while wanted := path.follow(steps):
        for key in wanted:
            steps[key] = StepScores(scores=(score_of(draw, right(key[0]), graded=graded, unscored=unscored),))
    return [len(steps), *path.search.tested]


def scores(draw: Draw) -> tuple[tuple[float, ...], bool]:
    graded, chance = draw.random() < 0.6, draw.random()
    drawn = (score_of(draw, chance, graded=graded, unscored=0.0) or 0.0 for _ in range(draw.randint(1, 40)))
    return tuple(sorted(drawn)), not graded


def melding(draw: Draw) -> Any:
    (one, binary), (other, other_binary), share = scores(draw), scores(draw), draw.uniform(0.5, 1.0)
    both = binary and other_binary
    return [p(one, other, share, binary=both) for p in (p_at_most_share, p_at_least_share)]


def gaffke(draw: Draw) -> Any:
    drawn, confidence = scores(draw)[0], draw.choice(CONFIDENCES)
    return [mean_lower_bound(drawn, confidence), mean_upper_bound(drawn, confidence)]


def comparison(draw: Draw) -> Any:
    def matching() -> Matching:
        baseline, shift, graded = curve(draw), draw.choice((0.0, 0.0, 0.1, -0.1)), draw.random() < 0.3
        texts = draw.choice((0, 0, 4))
        pairs = [
            ScoredPair(
                sample_id=f"{length}-{place}",
                context_tokens=length,
                baseline=score_of(draw, baseline(length), graded=graded, unscored=0.02),
                candidate=score_of(draw, baseline(length) + shift, graded=graded, unscored=0.02),
                cluster=f"{length} {place % texts}" if texts else "",
            )
            for length in (500, 1_000, 2_000)[: draw.randint(1, 3)]
            for place in range(draw.randint(3, 25))
        ]
        return Matching(pairs=tuple(pairs), only_baseline=0, only_candidate=0, other_prompt=0, searched=False)

    matchings = [matching() for _ in range(draw.randint(1, 3))]
    decisions = decide(matchings, confidence=draw.choice(CONFIDENCES), margin=draw.choice(MARGINS))
    return [None if each is None else replace(each, lengths=()) for each in decisions]


KINDS: dict[str, Callable[[Draw], Any]] = {
    "half-life": half_life,
    "fitted length": finding("fitted_length"),
    "position": lambda draw: finding("position")(draw).position,
    "cap walk": walk,
    "search": search,
    "melding": melding,
    "gaffke": gaffke,
    "comparison": comparison,
}


def figures(value: Any) -> Any:
    """Numbers, names and truths, in the order of their fields; what is said of them is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        held = [getattr(value, field.name) for field in fields(value)]
        return [figures(each) for each in held if not isinstance(each, Note)]
    return [figures(each) for each in value] if isinstance(value, list | tuple) else value


DEAR = ("fitted length", "position")
"""Whose findings have tests of their own beside them."""


@pytest.mark.parametrize(
    "kind", [pytest.param(each, marks=pytest.mark.slow) if each in DEAR else each for each in KINDS]
)
def test_fifty(kind: str, numbers: SnapshotAssertion) -> None:
    assert list(drawn(kind, FEW)) == numbers


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_five_hundred(kind: str, numbers: SnapshotAssertion) -> None:
    assert list(drawn(kind, MORE)) == numbers


def drawn(kind: str, seeds: range) -> Iterator[Any]:
    for seed in seeds:
        yield figures(KINDS[kind](Draw(f"{kind} {seed}")))
