"""Whether the score holds at every depth: each third of the depths is tested by itself.

A mean over depths hides a bad one: nine depths at 1.0 and one at 0.4 have a mean of 0.94. The cap rule `any_depth` asks
that each third clears the threshold. Its error is that of one test, without a correction: where some third does not
clear, that one has to err (intersection-union; R. L. Berger, Technometrics 24 (1982) 295-300).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from contextcliff.analysis.analyse import sequence_of
from contextcliff.analysis.bins import Group
from contextcliff.analysis.depth_thirds import CLAIMS, depth_thirds
from contextcliff.analysis.items import items_of
from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.search import BlockKey, complete_blocks, gains_by_third
from contextcliff.analysis.study import Study
from contextcliff.records.fact import Fact
from contextcliff.records.generation import ScoredSample
from contextcliff.records.search_record import THIRDS, Search, TestedLength, ThirdName
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.sequential import ABOVE, BELOW, SHARE_ABOVE, SHARE_BELOW, Block, Kind, decision_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ThirdOfLength:
    """A third of the depths at one length: what was scored, and what its test shows of it."""

    name: ThirdName
    low: float
    """Its shallowest and deepest depth."""
    high: float
    n_samples: int
    """Scored ones."""
    mean: float | None
    shown: Kind
    """`above` the threshold, `below` it, or `open`: neither."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthByThird:
    """The thirds of one length; `context_tokens` as asked."""

    context_tokens: int
    thirds: tuple[ThirdOfLength, ...]

    @property
    def clears(self) -> bool:
        return all(third.shown == "above" for third in self.thirds)


@dataclass(frozen=True, kw_only=True, slots=True)
class ThirdsBelow(Fact):
    """At this length (median measured) these thirds of the depths are shown to be below the threshold."""

    tokens: int
    thirds: tuple[ThirdOfLength, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ThirdsNotShown(Fact):
    """At this length (median measured) the samples of a third, fewest and most, don't show that each third clears.

    `can_ask_on`: a search stopped there, since the mean was decided.
    """

    tokens: int
    samples: tuple[int, int]
    can_ask_on: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class EveryDepth:
    """The cap up to which each third of the depths clears the threshold, and every length by its thirds."""

    tokens: int | None
    reason: Fact | None
    """Why it is not the safe cap; None where it is, or where there is no safe cap."""
    lengths: tuple[LengthByThird, ...]


def every_depth(study: Study) -> EveryDepth | None:
    """The thirds of the depths at every length; None where fewer than three depths were asked."""
    sequence = study.sequence
    if sequence is None or not study.facts.designed_lengths:
        return None
    thirds = depth_thirds(item.sample.depth for item in study.scored)
    if not thirds:
        return None
    shown = _by_search(study, study.search) if study.search is not None else _by_fixed_test(study, thirds)
    lengths = tuple(
        LengthByThird(
            context_tokens=group.asked_tokens,
            thirds=tuple(_third(group, *each) for each in zip(THIRDS, thirds, by_third, strict=True)),
        )
        for group, by_third in zip(study.groups, shown, strict=True)
    )
    cleared = next((i for i, each in enumerate(lengths[: sequence.cleared]) if not each.clears), sequence.cleared)
    beyond = 0 if study.threshold is None else _baseline_lengths(study)
    if sequence.cap_tokens is None:
        return EveryDepth(tokens=None, reason=None, lengths=lengths)
    tokens = study.results[cleared - 1].bin.clears_up_to if cleared > beyond else None
    reason = _reason(study.results[cleared], lengths[cleared], study) if cleared < sequence.cleared else None
    return EveryDepth(tokens=tokens, reason=reason, lengths=lengths)


def _baseline_lengths(study: Study) -> int:
    """Number of lengths that are compared with no other."""
    return len(study.threshold.relative.members) if study.threshold and study.threshold.relative else 0


def _third(group: Group, name: ThirdName, depths: frozenset[float], shown: Kind) -> ThirdOfLength:
    items = items_of(item for item in group.samples if item.sample.depth in depths)
    scores = [item.score for item in items if item.score is not None]
    return ThirdOfLength(
        name=name,
        low=min(depths),
        high=max(depths),
        n_samples=len(scores),
        mean=mean_of(scores) if scores else None,
        shown=shown,
    )


def _reason(result: LengthResult, length: LengthByThird, study: Study) -> Fact:
    tokens = result.bin.median_tokens
    below = tuple(third for third in length.thirds if third.shown == "below")
    if below:
        return ThirdsBelow(tokens=tokens, thirds=below)
    counts = [third.n_samples for third in length.thirds]
    can_ask_on = study.search is not None and not study.settings.every_depth
    return ThirdsNotShown(tokens=tokens, samples=(min(counts), max(counts)), can_ask_on=can_ask_on)


def _by_fixed_test(study: Study, thirds: Sequence[frozenset[float]]) -> list[tuple[Kind, ...]]:
    """What the exact test of each third shows, by length."""
    per_third = [_shown_of(study, [_within(group, depths) for group in study.groups]) for depths in thirds]
    return list(zip(*per_third, strict=True))


def _within(group: Group, depths: frozenset[float]) -> Group:
    def is_in(item: ScoredSample) -> bool:
        return item.sample.depth in depths

    return replace(group, samples=tuple(filter(is_in, group.samples)))


def _shown_of(study: Study, groups: Sequence[Group]) -> list[Kind]:
    """What one third shows at each length; `open` at a length that has no sample of it."""
    settings = study.settings
    strict = replace(settings, confidence=1.0 - (1.0 - settings.confidence) / CLAIMS)
    full = [group for group in groups if group.samples]
    sequence, threshold = sequence_of(full, settings, relative=study.relative)
    stricter, strict_threshold = sequence_of(full, strict, relative=study.relative)
    baseline = _baseline_lengths(study)
    shown: dict[int, Kind] = {}
    for place, (result, by_strict) in enumerate(zip(sequence.results, stricter.results, strict=True)):
        is_above = place < baseline or threshold.is_shown_above(result)
        is_below = strict_threshold.is_shown_below(by_strict)
        shown[result.bin.asked_tokens] = "above" if is_above else "below" if is_below else "open"
    return [shown.get(group.asked_tokens, "open") for group in groups]


def _by_search(study: Study, search: Search) -> list[tuple[Kind, ...]]:
    """What the e-process of each third shows, over the blocks that its length was decided by."""
    by_length = {each.context_tokens: _of_tested(study, search, each) for each in search.tested}
    nothing: tuple[Kind, ...] = ("open", "open", "open")
    return [by_length.get(group.asked_tokens, nothing) for group in study.groups]


def _of_tested(study: Study, search: Search, tested: TestedLength) -> tuple[Kind, ...]:
    if tested.decision == "baseline":
        return ("above", "above", "above")
    rule = study.settings.search_rule(relative=study.relative)
    blocks = complete_blocks(study.scored, search.plan)
    rows: list[tuple[Block, ...]] = []
    for index in range(tested.n_blocks):
        own = blocks[BlockKey(context_tokens=tested.context_tokens, index=index)]
        first = BlockKey(context_tokens=search.plan.lengths[0], index=index)
        rows.append(gains_by_third(own, rule, baseline=blocks[first] if study.relative else None))
    return tuple(_kind([row[place] for row in rows], study, tested.alpha) for place in range(len(THIRDS)))


def _kind(blocks: Sequence[Block], study: Study, alpha: float) -> Kind:
    return decision_of(
        blocks,
        above=SHARE_ABOVE if study.relative else ABOVE,
        below=SHARE_BELOW if study.relative else BELOW,
        alpha=alpha,
        below_at=CLAIMS / (1.0 - study.confidence),
    ).kind
