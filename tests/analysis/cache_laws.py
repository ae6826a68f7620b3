"""`experiment=kv_quantization` on planted caches, asked as its runs ask and decided as its comparison decides.

    python -m tests.analysis.cache_laws [RUNS]

prints the table of `docs/simulations.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from contextcliff.analysis.paired import MARGIN, decide, is_settled
from contextcliff.records.comparison import CandidateVerdict, Matching, PairedDecision, ScoredPair

LENGTHS = (512, 1_024, 2_048, 4_096, 7_992)
STEPS, MOST = 20, 120
"""Pairs of each length, by a search of a baseline that passes; and the most at the longest."""
AT_ONCE = 10
"""Pairs between two looks: requests in flight."""
LONGEST = LENGTHS[-1]
SHOWN: frozenset[CandidateVerdict] = frozenset({"not_worse", "better"})


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheLaw:
    """A baseline that is right with one chance at every length, and a cache that is right less often beyond some."""

    name: str
    score: float = 0.95
    loss: float = 0.0
    beyond: int = 0
    """Tokens up to which the cache loses nothing."""
    together: float = 1.0
    """Correlation behind the answers: at 1 equal caches give equal answers."""
    crashes: bool = False
    """Whether the cache gives no answer beyond."""
    most: int = MOST
    caches: int = 1
    """How many such caches there are, from the largest to the smallest."""


LAWS = (
    CacheLaw(name="equal"),
    CacheLaw(name="equal, one answer in fifty differs", score=0.9, together=0.997),
    CacheLaw(name="equal, answers independent", together=0.0),
    CacheLaw(name="equal, answers independent, up to 440 pairs", together=0.0, most=440),
    CacheLaw(name="five points worse everywhere", loss=0.05),
    CacheLaw(name="five points worse everywhere, answers independent", loss=0.05, together=0.0),
    CacheLaw(name="five points worse everywhere, up to 440 pairs", loss=0.05, together=0.0, most=440),
    CacheLaw(name="five points worse beyond 4,096", loss=0.05, beyond=4_096),
    CacheLaw(name="twenty points worse beyond 4,096", loss=0.2, beyond=4_096),
    CacheLaw(name="no answer beyond 4,096", beyond=4_096, crashes=True),
    CacheLaw(name="eight caches, each five points worse", loss=0.05, together=0.0, caches=8),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    recommended: bool
    """Whether a cache is recommended, looking from the largest on, up to the first that is not shown."""
    any_shown: bool
    """Whether any of them is shown, the largest or not."""
    by_mean: bool
    """Whether the mean over lengths would have shown any, 22 pairs a length."""
    pairs: int
    """At the longest length."""


def played(law: CacheLaw, rng: np.random.Generator) -> Played:
    there = {tokens: rng.standard_normal(max(law.most if tokens == LONGEST else 0, 22)) for tokens in LENGTHS}
    pairs = [{tokens: _pairs_at(law, tokens, there[tokens], rng) for tokens in LENGTHS} for _ in range(law.caches)]
    found = _decided([_searched(law, each) for each in pairs])
    by_mean = _decided([_fixed(each) for each in pairs])
    longest = found[0].longest
    return Played(
        recommended=found[0].verdict in SHOWN, any_shown=any(each.verdict in SHOWN for each in found),
        by_mean=any(each.verdict in SHOWN for each in by_mean), pairs=0 if longest is None else longest.n_pairs,
    )  # fmt: skip


def _pairs_at(law: CacheLaw, tokens: int, there: np.ndarray, rng: np.random.Generator) -> list[ScoredPair]:
    loses = tokens > law.beyond
    latent = np.sqrt(law.together) * there + np.sqrt(1.0 - law.together) * rng.standard_normal(len(there))
    right = there < stats.norm.ppf(law.score)
    here = latent < stats.norm.ppf(law.score - law.loss * loses)
    return [
        ScoredPair(
            sample_id=f"{tokens}-{k}", context_tokens=tokens, step=k, baseline=float(one),
            candidate=None if law.crashes and loses else float(other),
        )
        for k, (one, other) in enumerate(zip(right, here, strict=True))
    ]  # fmt: skip


def _searched(law: CacheLaw, at: dict[int, list[ScoredPair]]) -> Matching:
    asked = STEPS
    while asked < law.most and not is_settled([[pair] for pair in at[LONGEST][:asked]], confidence=0.95):
        asked += AT_ONCE
    pairs = [*(pair for tokens in LENGTHS[:-1] for pair in at[tokens][:STEPS]), *at[LONGEST][:asked]]
    return Matching(
        pairs=tuple(pairs), only_baseline=0, only_candidate=0, other_prompt=0, searched=True, lengths=LENGTHS,
        n_walk_lengths=len(LENGTHS), step_samples=1, longest=(LONGEST, LONGEST),
    )  # fmt: skip


def _fixed(at: dict[int, list[ScoredPair]]) -> Matching:
    pairs = tuple(pair for each in at.values() for pair in each[:22])
    return Matching(pairs=pairs, only_baseline=0, only_candidate=0, other_prompt=0, searched=False)


def _decided(matchings: Sequence[Matching]) -> list[PairedDecision]:
    return [each for each in decide(matchings, confidence=0.95, margin=MARGIN) if each is not None]


FIGURES = ("recommended", "any_shown", "by_mean", "pairs")


def simulated(law: CacheLaw, runs: int, *, seed: int = 1) -> dict[str, float]:
    """The mean of each figure of `Played`."""
    rng = np.random.default_rng(seed)
    found = [played(law, rng) for _ in range(runs)]
    return {name: float(np.mean([getattr(each, name) for each in found])) for name in FIGURES}


if __name__ == "__main__":
    RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    print("| planted caches | recommended | any shown | by the mean over lengths | pairs at the longest |")
    print("| --- | --: | --: | --: | --: |")
    for law in LAWS:
        of = simulated(law, RUNS)
        shares = " | ".join(f"{of[name]:.1%}" for name in FIGURES[:-1])
        print(f"| {law.name} | {shares} | {of['pairs']:.0f} |", flush=True)
