"""Simulated comparisons of two runs whose true difference is known, decided as a comparison decides.

    .venv/bin/python -m tests.analysis.paired_laws [RUNS]

prints the table of `docs/comparison.md`.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from contextcliff.analysis.paired import decide
from contextcliff.analysis.search import Path, StepScores
from contextcliff.records.comparison import Matching, PairedDecision, ScoredPair
from contextcliff.records.search_record import Key, SearchPlan, SearchRule
from contextcliff.statistics.pairs import Units, p_worse
from contextcliff.statistics.ranks import holm
from tests.make import known

LENGTHS = (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
CONFIDENCE, MARGIN = 0.95, 0.05
PAIRS = 40
MOST = 160
Curve = Callable[[float], float]
Array = NDArray[np.float64]


def slope(middle: float) -> Curve:
    """A score that falls from .98, to half of it at `middle` tokens."""
    return lambda tokens: 0.98 / (1.0 + (tokens / middle) ** 2)


def flat(score: float) -> Curve:
    return lambda _: score


def shifted(curve: Curve, octaves: float) -> Curve:
    return lambda tokens: curve(tokens * 2.0**octaves)


def lower(curve: Curve, points: float, *, at: int | None = None) -> Curve:
    """Lower by so much at every length, or at one."""
    return lambda tokens: max(0.0, curve(tokens) - points * (at is None or tokens == at))


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedLaw:
    """Two models. `together`: how far questions are hard for both (correlation behind the answers)."""

    name: str
    baseline: Curve
    candidate: Curve
    together: float = 0.6
    parts: int = 1
    """A score is the share of so many answers: 1 for right or wrong."""
    texts: int = 0
    """Texts a length, each with as many pairs; 0: every pair has its own."""
    text_correlation: float = 0.0
    """Between the answers of one run on one text, beside what both runs share."""
    candidates: int = 1
    replayed: bool = False
    """Whether the baseline searched, and the candidate replays its steps."""
    looks: int = 1
    """How often a fixed design is looked at, each time with as many pairs more."""
    lost: tuple[float, float] = (0.0, 0.0)
    """Shares of the wrong answers that have no score, of the baseline's and the candidate's."""

    @property
    def is_equal(self) -> bool:
        return all(self.candidate(tokens) >= self.baseline(tokens) for tokens in LENGTHS)


_SLOPE = slope(8_192)
_HIGH = flat(0.95)


def _CLIFF(tokens: float) -> float:  # noqa: N802 - a curve like the others
    return 0.98 if tokens <= 4_096 else 0.75 if tokens < 9_000 else 0.12


LAWS = (
    PairedLaw(name="equal, slope", baseline=_SLOPE, candidate=_SLOPE),
    PairedLaw(name="equal, flat .95", baseline=_HIGH, candidate=_HIGH),
    PairedLaw(name="equal, slope, answers independent", baseline=_SLOPE, candidate=_SLOPE, together=0.0),
    PairedLaw(name="equal, graded (5 parts)", baseline=_SLOPE, candidate=_SLOPE, parts=5),
    PairedLaw(name="equal, 8 texts, ICC .15", baseline=_SLOPE, candidate=_SLOPE, texts=8, text_correlation=0.15),
    PairedLaw(name="equal, 8 texts, ICC .3", baseline=_SLOPE, candidate=_SLOPE, texts=8, text_correlation=0.3),
    PairedLaw(name="equal, three candidates", baseline=_SLOPE, candidate=_SLOPE, candidates=3),
    PairedLaw(name="half an octave", baseline=_SLOPE, candidate=shifted(_SLOPE, 0.5)),
    PairedLaw(name="five points everywhere", baseline=_HIGH, candidate=flat(0.90), together=0.8),
    PairedLaw(name="twenty points at 8,192", baseline=flat(0.9), candidate=lower(flat(0.9), 0.2, at=8_192)),
    PairedLaw(name="half an octave, graded", baseline=_SLOPE, candidate=shifted(_SLOPE, 0.5), parts=5),
    PairedLaw(
        name="half an octave, 8 texts, ICC .15",
        baseline=_SLOPE, candidate=shifted(_SLOPE, 0.5), texts=8, text_correlation=0.15,
    ),
    PairedLaw(name="half an octave, three candidates", baseline=_SLOPE, candidate=shifted(_SLOPE, 0.5), candidates=3),
    PairedLaw(name="ten points worse, loses all that is wrong", baseline=_HIGH, candidate=flat(0.85), lost=(0.0, 1.0)),
    PairedLaw(name="equal, the candidate loses half", baseline=flat(0.8), candidate=flat(0.8), lost=(0.0, 0.5)),
    PairedLaw(name="equal, the baseline loses half", baseline=flat(0.8), candidate=flat(0.8), lost=(0.5, 0.0)),
    PairedLaw(name="equal, four looks", baseline=_HIGH, candidate=_HIGH, looks=4),
    PairedLaw(name="five points everywhere, four looks", baseline=_HIGH, candidate=flat(0.90), looks=4, together=0.8),
    PairedLaw(name="nothing right", baseline=flat(0.0), candidate=flat(0.0)),
    PairedLaw(name="search replayed: equal, flat .95", baseline=_HIGH, candidate=_HIGH, replayed=True),
    PairedLaw(name="search replayed: equal, flat .88", baseline=flat(0.88), candidate=flat(0.88), replayed=True),
    PairedLaw(
        name="search replayed: ten points worse, loses all that is wrong", baseline=_HIGH, candidate=flat(0.85),
        lost=(0.0, 1.0), replayed=True,
    ),
    PairedLaw(
        name="search replayed: equal, the candidate loses half", baseline=flat(0.9), candidate=flat(0.9),
        lost=(0.0, 0.5), replayed=True,
    ),
    PairedLaw(name="search replayed: equal, slope", baseline=_SLOPE, candidate=_SLOPE, replayed=True),
    PairedLaw(
        name="search replayed: five points", baseline=_HIGH, candidate=flat(0.90), together=0.8, replayed=True
    ),
    PairedLaw(
        name="search replayed: five points, cliff", baseline=_CLIFF, candidate=lower(_CLIFF, 0.05), replayed=True
    ),
    PairedLaw(
        name="search replayed: half an octave", baseline=_SLOPE, candidate=shifted(_SLOPE, 0.5), replayed=True
    ),
    PairedLaw(name="search replayed: an octave", baseline=_SLOPE, candidate=shifted(_SLOPE, 1.0), replayed=True),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulated:
    """Shares of runs."""

    worse: float
    """In which some candidate was found worse."""
    better: float
    not_worse: float
    holm_alone: float
    """In which the sign test of each length with Holm's correction, and nothing else, finds some candidate worse."""
    covers_overall: float
    covers_lengths: float
    covers_area: float
    pairs: float
    """Mean number of pairs."""


def simulated(law: PairedLaw, runs: int, *, seed: int = 1) -> Simulated:
    rng = np.random.default_rng(seed)
    counts = np.zeros(8)
    for _ in range(runs):
        matchings = list(_replayed(law, rng) if law.replayed else _fixed(law, rng))
        decisions = [each for look in _looks(law, matchings) for each in _decided(look)]
        verdicts = [each.verdict for each in decisions]
        counts += (
            "worse" in verdicts,
            "better" in verdicts,
            "not_worse" in verdicts,
            any(_holm_alone(each) for each in matchings),
            _covered(decisions[0], law),
            _covered_lengths(decisions[0], law),
            _covered_area(decisions[0], law),
            decisions[0].overall.n_pairs,
        )
    return Simulated(**dict(zip(Simulated.__slots__, (counts / runs).tolist(), strict=True)))


def _looks(law: PairedLaw, matchings: Sequence[Matching]) -> Iterator[Sequence[Matching]]:
    """What the last and each earlier look have of the pairs, tested at its share of the error."""
    for look in reversed(range(law.looks)):
        seen = PAIRS * (look + 1) // law.looks
        yield [
            replace(
                each,
                pairs=tuple(p for p in each.pairs if law.looks == 1 or int(p.sample_id.partition("-")[2]) < seen),
                error_share=0.5**look,
            )
            for each in matchings
        ]


def _decided(matchings: Sequence[Matching]) -> list[PairedDecision]:
    return [each for each in decide(matchings, confidence=CONFIDENCE, margin=MARGIN) if each is not None]


def _answers(law: PairedLaw, tokens: int, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Scores of both runs on `n` questions of a length, five to a text where texts are shared."""
    shape = (n, law.parts)
    common = rng.standard_normal(shape)

    def run(curve: Curve) -> Array:
        own = rng.standard_normal(shape)
        if law.texts:
            of_text = np.repeat(rng.standard_normal((law.texts, 1)), n // law.texts, axis=0)
            own = math.sqrt(law.text_correlation) * of_text + math.sqrt(1.0 - law.text_correlation) * own
        latent = math.sqrt(law.together) * common + math.sqrt(1.0 - law.together) * own
        return np.asarray((latent < stats.norm.ppf(curve(tokens))).mean(axis=1))

    return run(law.baseline), run(law.candidate)


def _kept(score: float, lost: float, rng: np.random.Generator) -> float | None:
    return None if lost and score < 1.0 and rng.random() < lost else float(score)


def _fixed(law: PairedLaw, rng: np.random.Generator) -> Iterator[Matching]:
    for _ in range(law.candidates):
        pairs = [
            ScoredPair(
                sample_id=f"{tokens}-{k}",
                context_tokens=tokens,
                baseline=_kept(b, law.lost[0], rng),
                candidate=_kept(c, law.lost[1], rng),
                cluster=f"{tokens}-{k * law.texts // PAIRS}" if law.texts else "",
            )
            for tokens in LENGTHS
            for k, (b, c) in enumerate(zip(*_answers(law, tokens, PAIRS, rng), strict=True))
        ]
        yield Matching(pairs=tuple(pairs), only_baseline=0, only_candidate=0, other_prompt=0, searched=False)


def _replayed(law: PairedLaw, rng: np.random.Generator) -> Iterator[Matching]:
    plan = SearchPlan(lengths=LENGTHS, most_steps=MOST, refine=True)
    path = Path(plan, SearchRule(threshold=0.8, relative=False, confidence=CONFIDENCE))
    answers: dict[Key, tuple[float | None, float | None]] = {}
    steps: dict[Key, StepScores] = {}
    while wanted := path.follow(steps):
        for key in wanted:
            (b,), (c,) = _answers(law, key[0], 1, rng)
            answers[key] = _kept(b, law.lost[0], rng), _kept(c, law.lost[1], rng)
            steps[key] = StepScores(scores=(answers[key][0],))
    refined = [each.context_tokens for each in path.search.tested if each.refined]
    pairs = [
        ScoredPair(sample_id=f"{tokens}-{number}", context_tokens=tokens, baseline=b, candidate=c, step=number)
        for (tokens, number), (b, c) in answers.items()
    ]
    yield Matching(
        pairs=tuple(pairs),
        only_baseline=0,
        only_candidate=0,
        other_prompt=0,
        searched=True,
        lengths=(*LENGTHS, *refined),
        n_walk_lengths=len(LENGTHS),
        step_samples=1,
    )


def _holm_alone(matching: Matching) -> bool:
    by_length = [
        Units.single(_of(pair) for pair in pairs)
        for _, pairs in itertools.groupby(
            sorted(matching.scored, key=lambda p: p.context_tokens), key=lambda p: p.context_tokens
        )
    ]
    return min(holm([p_worse(units) for units in by_length])) <= 1.0 - CONFIDENCE


def _of(pair: ScoredPair) -> float:
    return known(pair.candidate) - known(pair.baseline)


def _true(law: PairedLaw, tokens: int) -> float:
    return law.candidate(tokens) - law.baseline(tokens)


def _covered(decision: PairedDecision, law: PairedLaw) -> bool:
    true = float(np.mean([_true(law, each.context_tokens) for each in decision.lengths]))
    return decision.overall.low <= true <= decision.overall.high


def _covered_lengths(decision: PairedDecision, law: PairedLaw) -> float:
    inside = [
        each.difference.low <= _true(law, each.context_tokens) <= each.difference.high for each in decision.lengths
    ]
    return float(np.mean(inside))


def _covered_area(decision: PairedDecision, law: PairedLaw) -> bool:
    if decision.area is None:
        return True
    tokens = [each.context_tokens for each in decision.lengths]
    at = np.log(tokens)
    true = float(np.trapezoid([_true(law, each) for each in tokens], at) / (at[-1] - at[0]))
    return decision.area.low <= true <= decision.area.high


def table(results: Sequence[tuple[PairedLaw, Simulated]]) -> str:
    """The results as a Markdown table."""
    lines = [
        "| law | worse | lengths with Holm alone | better | not worse | covered: all | each length | area | pairs |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    lines += [
        f"| {law.name} | {r.worse:.1%} | {r.holm_alone:.1%} | {r.better:.1%} | {r.not_worse:.0%} |"
        f" {r.covers_overall:.1%} | {r.covers_lengths:.1%} | {r.covers_area:.1%} | {r.pairs:.0f} |"
        for law, r in results
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    print(table([(law, simulated(law, RUNS)) for law in LAWS]))
