"""Searches for one threshold whose answers are judged by another: how often that errs, and what it still shows.

    .venv/bin/python benchmarks/another_rule.py [RUNS]

Simulated searches at 0.8 come to their end, and what they asked is judged as `analysis.search.judged_again` does, for
all runs of a law as arrays (`tests/analysis/test_another_rule.py` compares run for run, and runs a part of this). Laws
that can err have exactly the other threshold as their true score from some length on: there a test errs most often. An
error is a cap at such a length, or a length that is not below the threshold among the degraded ones. Prints the tables
of `docs/simulations.md`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from contextcliff.analysis.calibration.calibrating import SimulatedSearches
from contextcliff.analysis.calibration.laws import HIGH, Law, Parts, Shape, laws_of
from contextcliff.records.search_record import PASSED, SearchPlan, SearchRule
from contextcliff.statistics.sequential import refine_alpha

LENGTHS = (512, 1_024, 2_048, 4_096, 8_192, 16_384)
ASKED, JUDGED = 0.8, (0.7, 0.75, 0.85, 0.9)
ALPHA = 0.05
BLOCK, MOST_BLOCKS = 11, 14
SEED = 0
_ERRING = (
    *("flat_threshold", "graded_threshold", "step_to_threshold", "threshold_between"),
    *("relative_95", "relative_50"),
)
_SHOWING = ("flat_98", "flat_95", "cliff_between")

Path = list[tuple[int, str, int]]
"""The lengths that a search tested, in this order, with the decision and the blocks that counted."""
Decided = list[tuple[int, bool, bool]]
"""Lengths, in any order: whether each passed, and whether it is below."""


def laws(threshold: float) -> dict[str, Law]:
    """Those that can err and then those that show something, by name."""
    known = {law.name: law for law in laws_of(LENGTHS, threshold)}
    last = LENGTHS[-1]
    at_last = Law(
        name="last_at_threshold", title="the threshold at the longest length alone", crossing=float(last),
        true_score=lambda tokens: HIGH if tokens < last else threshold,
    )  # fmt: skip
    half = Law(
        name="half_threshold", title="half the depths always right, mean the threshold", crossing=0.0,
        true_score=lambda _: threshold, draw=_half_sure,
    )  # fmt: skip
    perfect = Law(name="perfect", title="always right", true_score=lambda _: 1.0, crossing=None)
    chosen = (*(known[name] for name in _ERRING), at_last, half, perfect, *(known[name] for name in _SHOWING))
    return {law.name: law for law in chosen}


def _half_sure(rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
    sure = shape[-1] // 2
    rates = np.full(shape[-1], (shape[-1] * mean - sure) / (shape[-1] - sure))
    rates[:sure] = 1.0
    return (rng.random(shape) < rates).astype(np.uint8)


def searches(law: Law, threshold: float, *, refine: bool, runs: int) -> SimulatedSearches:
    """The searches at a threshold; those of one law have the same answers, whatever it is."""
    plan = SearchPlan(
        lengths=LENGTHS, block=BLOCK, block_evidence=BLOCK, most_blocks=MOST_BLOCKS, refine=refine, depths=BLOCK
    )
    rule = SearchRule(threshold=threshold, relative=law.relative, confidence=1.0 - ALPHA)
    return SimulatedSearches(law=law, plan=plan, rule=rule, runs=runs, seed=SEED)


def judged(asked: Path, run: int, by: SimulatedSearches) -> Decided:
    """What a run asked, by another threshold."""
    decided: Decided = []
    failures = 0
    for m, (tokens, kind, blocks) in enumerate(asked, start=1):
        passed, below = kind == "baseline", False
        if not passed:
            seen = by.evidence(tokens)
            passes = -math.log(refine_alpha(ALPHA, failures) if by.plan.refine else ALPHA)
            for above, under, expected in zip(
                *(each[run, :blocks] for each in (seen.above, seen.below, seen.above_expected)), strict=True
            ):
                passed, below = above >= passes, above < passes and under >= math.log(m * (m + 1) / ALPHA)
                if passed or below or (failures and expected < passes):
                    break
        decided.append((tokens, bool(passed), bool(below)))
        failures += kind not in PASSED
    return decided


Right = Callable[[int], NDArray[np.int64]]
"""At a length, the right answers up to the end of each block, of shape (runs, blocks)."""


def _ways(asked: Path, run: int, by: SimulatedSearches, right: Right) -> Iterator[tuple[str, Decided]]:
    """The stored answers judged again; asked on by the new rule; and what would be wrong."""
    again = judged(asked, run, by)
    path = by.path(run)
    on = [(tokens, kind in PASSED, kind == "below") for tokens, kind, _ in path]
    yield "stored", again
    yield "asked on", on
    # A store that does not know the rule: the search for the new one, where its answers are all there.
    stored = {tokens: blocks for tokens, _, blocks in asked}
    yield "rule not stored", on if all(blocks <= stored.get(tokens, 0) for tokens, _, blocks in path) else again
    yield "whole α", [(tokens, _ever(by, tokens, run, blocks), False) for tokens, _, blocks in asked]
    if not by.rule.relative and by.law.parts == 1:
        # As if the number of samples had been fixed.
        needed = {blocks: _fewest_right(blocks * BLOCK, by.rule.threshold) for _, _, blocks in asked}
        passes = [(tokens, right(tokens)[run, blocks - 1] >= needed[blocks]) for tokens, _, blocks in asked]
        yield "binomial", [(tokens, bool(passed), False) for tokens, passed in passes]


def _ever(by: SimulatedSearches, tokens: int, run: int, blocks: int) -> bool:
    """Wrong: every length, refined ones too, at the whole of α."""
    if by.rule.relative and tokens == LENGTHS[0]:
        return True
    return bool((by.evidence(tokens).above[run, :blocks] >= -math.log(ALPHA)).any())


@cache
def _fewest_right(n: int, threshold: float) -> int:
    return int(stats.binom.isf(ALPHA, n, threshold)) + 1


@dataclass(kw_only=True)
class Counts:
    """Of so many runs judged in one way."""

    wrong_cap: int = 0
    wrong_below: int = 0
    with_cap: int = 0
    best: int = 0
    """With the longest cap that the lengths of the walk allow."""


def simulate(law: Law, threshold: float, *, refine: bool, runs: int) -> dict[str, Counts]:
    """Every run, by each way of judging it."""
    old, new = (searches(law, each, refine=refine, runs=runs) for each in (ASKED, threshold))
    bar = threshold * (law.true_score(LENGTHS[0]) if law.relative else 1.0) - 1e-9
    best = max((length for length in LENGTHS if not law.is_error(length)), default=math.inf)
    right = cache(lambda tokens: new.scores(tokens).sum(axis=2, dtype=np.int64).cumsum(axis=1))
    counts: dict[str, Counts] = {}
    for run in range(runs):
        for way, decided in _ways(old.path(run), run, new, right):
            cap, degraded = cap_and_degraded(decided)
            if law.relative and cap == LENGTHS[0]:
                cap = 0
            count = counts.setdefault(way, Counts())
            count.wrong_cap += cap > 0 and law.is_error(cap)
            count.wrong_below += any(law.true_score(tokens) >= bar for tokens in degraded)
            count.with_cap += cap > 0
            count.best += cap >= best
    return counts


def cap_and_degraded(decided: Iterable[tuple[int, bool, bool]]) -> tuple[int, list[int]]:
    """The longest length up to which each passed, 0 if none, and those from which on each is below."""
    ordered = sorted(decided)
    cleared = next((place for place, (_, passed, _) in enumerate(ordered) if not passed), len(ordered))
    first = len(ordered)
    while first > cleared and ordered[first - 1][2]:
        first -= 1
    return ordered[cleared - 1][0] if cleared else 0, [tokens for tokens, _, _ in ordered[first:]]


def tables(runs: int) -> Iterator[str]:
    """The lines of the tables: errors by law, the worst of each way of judging, and what is shown where there is."""
    names = list(laws(ASKED))
    found = {
        (name, refine): [simulate(laws(each)[name], each, refine=refine, runs=runs) for each in JUDGED]
        for name in names
        for refine in (True, False)
    }

    def share(count: int) -> str:
        return f"{100 * count / runs:.1f}"

    def line(*cells: str) -> str:
        return f"| {' | '.join(cells)} |"

    def rows(cell: Callable[[dict[str, Counts]], str], names: Sequence[str]) -> Iterator[str]:
        yield line("law", "search", *(f"{each:g}" for each in JUDGED))
        yield line("---", "---", *("--:" for _ in JUDGED))
        for (name, refine), counts in found.items():
            if name in names:
                yield line(laws(ASKED)[name].title, "refine" if refine else "walk", *map(cell, counts))
        yield ""

    erring = names[: len(_ERRING) + 2]
    yield from rows(
        lambda each: " · ".join(
            (share(each["stored"].wrong_cap), share(each["stored"].wrong_below), share(each["asked on"].wrong_cap))
        ),
        erring,
    )
    yield line("judged", "search", *(f"{each:g}" for each in JUDGED))
    yield line("---", "---", *("--:" for _ in JUDGED))
    for way in found["flat_threshold", True][0]:
        for refine in (True, False):
            of_way = [
                [found[name, refine][place].get(way, Counts()) for name in erring] for place in range(len(JUDGED))
            ]
            worst = (share(max(count.wrong_cap for count in counts)) for counts in of_way)
            yield line(way, "refine" if refine else "walk", *worst)
    yield ""
    yield from rows(
        lambda each: " · ".join(
            f"{100 * count / runs:.0f}"
            for way in ("stored", "asked on")
            for count in (each[way].with_cap, each[way].best)
        ),
        names[len(erring) :],
    )


if __name__ == "__main__":
    for line in tables(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000):
        print(line, flush=True)
