"""How often a search claims something where many samples share few prompts: only what differs may count.

    .venv/bin/python benchmarks/evidence_once.py [RUNS]

Runs are followed by `analysis.search.Path`, as those of the command line are. At each sample one of so many prompts of
the length is drawn. A greedy model, or a server that ignores the seed, gives each prompt one answer. One that draws
says what is right in the same words and what is wrong in others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from search_simulated import ALPHA, LENGTHS, MOST, THRESHOLD, line

from contextcliff.analysis.search import Path, StepScores
from contextcliff.records.search_record import Key, Search, SearchPlan, SearchRule
from contextcliff.statistics.intervals import wilson

PLAN = SearchPlan(lengths=LENGTHS, refine=True, most_steps=MOST)
RULE = SearchRule(threshold=THRESHOLD, relative=False, confidence=1.0 - ALPHA)
CELLS = ((1.0, 1, True), (0.8, 11, True), (0.9, 11, True), (0.8, 11, False), (0.9, 11, False), (0.9, 110, False))
"""True score, prompts of a length, and whether a prompt has one answer."""


@dataclass(kw_only=True)
class Answers:
    """What a model says in one run."""

    rate: float
    prompts: int
    is_fixed: bool
    rng: np.random.Generator
    said: dict[tuple[int, int], bool] = field(default_factory=dict)

    def __call__(self, key: Key) -> StepScores:
        prompt = key[0], int(self.rng.integers(self.prompts))
        is_right = bool(self.rng.random() < self.rate)
        if self.is_fixed:
            is_right = self.said.setdefault(prompt, is_right)
        words = "right" if is_right else "wrong" if self.is_fixed else f"wrong in the way {key}"
        return StepScores(scores=(float(is_right),), pieces=((prompt, words),))


def rows(runs: int) -> Iterator[str]:
    yield line("true score", "prompts of a length", "answers to a prompt", "a cap", "below")
    yield line("--:", "--:", "---", "--:", "--:")
    for rate, prompts, is_fixed in CELLS:
        found: list[Search] = []
        for run in range(runs):
            rng = np.random.default_rng([run, prompts, int(100 * rate), is_fixed])
            answers = Answers(rate=rate, prompts=prompts, is_fixed=is_fixed, rng=rng)
            found.append(Path(PLAN, RULE).played({}, answers)[0].search)
        claims = (
            sum(any(each.decision == said for each in one.tested) for one in found) for said in ("passed", "below")
        )
        words = "one" if is_fixed else "drawn anew"
        yield line(f"{rate:.2f}", str(prompts), words, *(share(claimed, runs) for claimed in claims))


def share(n: int, runs: int) -> str:
    low, high = wilson(n, runs, 0.95)
    return f"{100 * n / runs:.1f}% ({100 * low:.1f}–{100 * high:.1f})"


if __name__ == "__main__":
    for row in rows(*map(int, sys.argv[1:] or ["2000"])):
        print(row, flush=True)
