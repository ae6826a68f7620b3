"""The rounds of one context length as draws: what is counted, averaged and tested.

At temperature 0, or where `sampling.seed` is set, all rounds of a length give one text, or nearly so. Rounds with the
same `Sample.item` are one draw: an item, as in every other task. Its measures are means over its rounds, and n counts
draws."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import median_tokens
from contextcliff.analysis.items import Item, items_of, scores_of
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.descriptive import mean_of
from contextcliff.writing.measures.measure import CLASSIC_COMPOSITE, COMPOSITE, Measure, Z
from contextcliff.writing.prose_findings import CompositeLevel, MeasureLevel, Scale, WritingTier


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnTier:
    """One context length: its draws, each with a score, and the rounds that were not answered."""

    context_tokens: int
    draws: tuple[Item, ...]
    unscored: tuple[ScoredSample, ...] = ()

    @property
    def rounds(self) -> tuple[ScoredSample, ...]:
        """The answered rounds of all draws."""
        return tuple(scored for draw in self.draws for scored in draw.samples)

    @property
    def prompt_tokens(self) -> int:
        """The measured prompt, median over all rounds, as bins have it."""
        return median_tokens((*self.rounds, *self.unscored))

    @property
    def scores(self) -> tuple[float, ...]:
        """The score of each draw, ascending."""
        return scores_of(self.draws)

    def values(self, key: str) -> tuple[float, ...]:
        """A detail of every draw that has it, in the order of the draws."""
        return tuple(draw.details[key] for draw in self.draws if key in draw.details)

    def mean(self, key: str) -> float | None:
        """Mean of a detail over the draws that have it; None where no draw has it."""
        values = self.values(key)
        return mean_of(values) if values else None


def drawn_tiers(scored: Iterable[ScoredSample]) -> tuple[DrawnTier, ...]:
    """The draws of every length, shortest first; the order of the samples does not matter."""
    by_length: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for sample in sorted(scored, key=lambda s: (s.sample.trial, s.sample.sample_id)):
        by_length[sample.sample.context_tokens].append(sample)
    return tuple(
        DrawnTier(
            context_tokens=tokens,
            draws=items_of(s for s in by_length[tokens] if s.score is not None),
            unscored=tuple(s for s in by_length[tokens] if s.score is None),
        )
        for tokens in sorted(by_length)
    )


_NOTHING = CompositeLevel(n=0, mean=None, std=None, ci_low=None, ci_high=None)


def level_of(tier: WritingTier, name: str) -> MeasureLevel:
    """The level of a measure or composite; without figures where the record has none.

    A composite has no figures of the original and of the author.
    """
    measured = next((level for level in tier.measures if level.name == name), None)
    if measured is not None:
        return measured
    composites = {COMPOSITE: tier.composite, CLASSIC_COMPOSITE: tier.composite_classic}
    level = composites.get(name, _NOTHING)
    return MeasureLevel(
        name=name, n=level.n, mean=level.mean, std=level.std, ci_low=level.ci_low, ci_high=level.ci_high, cv=None,
        original=None, author_mean=None, author_std=None, z=None, converged=None,
    )  # fmt: skip


Values = tuple[float, ...]


def worsening(measure: Measure, tiers: Sequence[DrawnTier]) -> tuple[Values, ...]:
    """The measure's values at each of `tiers`, on one scale for all of them, signed so that up is worse.

    A measure without a worse direction keeps its sign.
    """
    key = Z + measure.name if scale_of(measure, tiers) == "z" else measure.name
    sign = measure.worse or 1
    return tuple(tuple(sign * value for value in tier.values(key)) for tier in tiers)


def scale_of(measure: Measure, tiers: Sequence[DrawnTier]) -> Scale:
    """The scale that `tiers` are compared on."""
    return "z" if all(has_every_z(measure, tier) for tier in tiers) else "raw"


def has_every_z(measure: Measure, tier: DrawnTier) -> bool:
    """Whether every draw with a value of this measure has a z-score of it."""
    return all(Z + measure.name in draw.details for draw in tier.draws if measure.name in draw.details)
