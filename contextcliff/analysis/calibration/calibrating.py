"""A calibration: every law by every design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from contextcliff.analysis.calibration.laws import TEXT_SAMPLES, Law
from contextcliff.analysis.calibration.sequential_runs import SimulatedSearches
from contextcliff.analysis.calibration.simulated_runs import (
    Calibrated,
    Outcomes,
    SimulatedFixed,
    SimulatedNatural,
    calibrated,
)
from contextcliff.analysis.search import SearchRule
from contextcliff.records.search_record import SearchPlan

DesignName = Literal["walk", "refine", "fixed_40", "fixed_500"]
SEARCHES: dict[DesignName, bool] = {"walk": False, "refine": True}
"""Whether a search refines."""
FIXED: dict[DesignName, int] = {"fixed_40": 40, "fixed_500": 500}
"""Samples at each length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CalibrationPlan:
    """What is simulated."""

    lengths: tuple[int, ...]
    """Tokens, ascending, at least four."""
    threshold: float
    confidence: float
    block: int
    """Samples in a block of a search: one at each depth."""
    max_trials: int
    """Most samples of a length in a search."""
    max_text_trials: int
    """The same where a text, with five samples, is one piece of evidence."""
    resolution: int | None
    runs: int
    seed: int

    @property
    def alpha(self) -> float:
        return 1.0 - self.confidence

    def rule(self, law: Law) -> SearchRule:
        """What a length has to show."""
        relative = law.evidence in ("pairs", "natural")
        return SearchRule(threshold=self.threshold, relative=relative, confidence=self.confidence)

    def search_plan(self, law: Law, *, refine: bool) -> SearchPlan:
        """What a search of this law may ask. A block of shared texts is one text."""
        by_text = law.evidence == "texts"
        block = TEXT_SAMPLES if law.shares_text else self.block
        return SearchPlan(
            lengths=self.lengths, block=block, block_evidence=1 if by_text else block,
            most_blocks=(self.max_text_trials if by_text else self.max_trials) // block, refine=refine,
            resolution=self.resolution,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """A plan, and what came of it: law by law, each by every design that applies to it."""

    plan: CalibrationPlan
    results: tuple[Calibrated, ...]

    @property
    def laws(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(result.law for result in self.results))

    def of(self, law: str, design: str) -> Calibrated | None:
        """One result; None where the design does not apply to the law, or was not asked for."""
        return next((r for r in self.results if (r.law, r.design) == (law, design)), None)

    def fixed_tokens(self, law: str, design: DesignName) -> float:
        """Mean prompt tokens of a fixed design on a law, whether or not it was asked for."""
        for known, samples in ((design, FIXED[design]), *FIXED.items()):
            if (result := self.of(law, known)) is not None:
                return result.tokens * FIXED[design] / samples
        return float(FIXED[design] * sum(self.plan.lengths))


def calibrate_laws(
    plan: CalibrationPlan, laws: Sequence[Law], designs: Sequence[DesignName]
) -> Iterator[tuple[Calibrated, ...]]:
    """The results of each law in turn, by the designs that apply to it. The same plan gives the same results."""
    for law in laws:
        yield tuple(
            calibrated(law, design, simulate(plan, law, design))
            for design in designs
            if law.evidence != "natural" or design in FIXED
        )


def simulate(plan: CalibrationPlan, law: Law, design: DesignName) -> Outcomes:
    """All runs of one law by one design."""
    rule = plan.rule(law)
    if design in SEARCHES:
        search = plan.search_plan(law, refine=SEARCHES[design])
        return SimulatedSearches(law=law, plan=search, rule=rule, runs=plan.runs, seed=plan.seed).outcomes()
    runs_of = SimulatedNatural if law.evidence == "natural" else SimulatedFixed
    return runs_of(
        law=law, lengths=plan.lengths, samples=FIXED[design], rule=rule, runs=plan.runs, seed=plan.seed
    ).outcomes()
