"""Whether the score holds at every depth: a mean hides a bad third, so each is tested by itself. The cap rule
`any_depth` errs as seldom as one test, without a correction: where some third does not clear, the test of that third
has to err (intersection-union; R. L. Berger, Technometrics 24 (1982) 295-300)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from contextcliff.analysis.analyse import sequence_of
from contextcliff.analysis.bins import Group
from contextcliff.analysis.lengths import LengthResult, items_of
from contextcliff.analysis.study import Study
from contextcliff.analysis.walk import SearchThreshold, Threshold
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Finding, Table, Text, columns_of
from contextcliff.records.amounts import THIRDS_OF_DEPTH, span
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.records.search_record import CLAIMS, THIRDS, Search, ThirdName, depth_thirds
from contextcliff.statistics.confidence_sequence import sequential_bounds
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.ranks import p_of

Shown = Literal["above", "below", "open"]


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
    shown: Shown
    """`above` the threshold, `below` it, or `open`: neither."""
    p_below: float = 1.0
    """The p-value of "it is not below", where it is shown to be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthByThird:
    """The thirds of one length; `context_tokens` as asked."""

    context_tokens: int
    thirds: tuple[ThirdOfLength, ...]

    @property
    def clears(self) -> bool:
        return all(third.shown == "above" for third in self.thirds)


@dataclass(frozen=True, kw_only=True, slots=True)
class EveryDepth:
    """The cap up to which each third of the depths clears the threshold, and every length by its thirds."""

    tokens: int | None
    reason: Note | None
    """Why this is not the safe cap; None where it is, or where there is no safe cap."""
    lengths: tuple[LengthByThird, ...]
    is_alarm: bool = False
    """Whether the report raises the alarm that a third is below at a length up to the safe cap."""


def _baseline_lengths(study: Study) -> int:
    return len(study.threshold.relative.members) if study.threshold and study.threshold.relative else 0


def _third(group: Group, name: ThirdName, depths: frozenset[float], found: tuple[bool, float]) -> ThirdOfLength:
    items = items_of(item for item in group.samples if item.sample.depth in depths)
    scores = [item.score for item in items if item.score is not None]
    mean = mean_of(scores) if scores else None
    above, p_below = found
    return ThirdOfLength(
        name=name, low=min(depths), high=max(depths), n_samples=len(scores), mean=mean, p_below=p_below,
        shown="above" if above else "below" if p_below < 1.0 else "open",
    )  # fmt: skip


def _reason(result: LengthResult, length: LengthByThird, study: Study) -> Note:
    tokens = result.bin.median_tokens
    below = []
    for third in (each for each in length.thirds if each.shown == "below"):
        told = {"third": THIRDS_OF_DEPTH[third.name], "mean": third.mean, "n": third.n_samples}
        unscored = Note("{third} (n = {n})", **told)
        below.append(unscored if third.mean is None else Note("{third} ({mean:.2f}, n = {n})", **told))
    if below:
        return Note(
            "at {tokens:,} tokens the {thirds:and} of the depths {n:is/are} below the threshold",
            tokens=tokens, thirds=below, n=len(below),
        )  # fmt: skip
    counts = [third.n_samples for third in length.thirds]
    way_out: Note | str = ""
    if study.search is not None:
        way_out = Note("; the search stops when the mean is decided (task.trials=N asks each depth as often)")
    return Note(
        "at {tokens:,} tokens {samples} samples of a third of the depths do not show that each clears the threshold"
        "{way_out}",
        tokens=tokens, samples=span(min(counts), max(counts), "d"), way_out=way_out,
    )  # fmt: skip


_Found = list[tuple[tuple[bool, float], ...]]
"""At each length of each third whether it is above, and the p-value of "it is not below"."""


def _by_fixed_test(study: Study, thirds: Sequence[frozenset[float]]) -> _Found:
    """`open` at a length that has no sample of a third."""
    settings, baseline = study.settings, _baseline_lengths(study)
    strict = 1.0 - (1.0 - study.confidence) / CLAIMS
    per_third = []
    for depths in thirds:
        own = (replace(g, samples=tuple(i for i in g.samples if i.sample.depth in depths)) for g in study.groups)
        full = [group for group in own if group.samples]
        sequence, threshold = sequence_of(full, settings, relative=study.relative)
        shown: dict[int, tuple[bool, float]] = {}
        for place, result in enumerate(sequence.results):

            def is_below(at: float, result: LengthResult = result, threshold: Threshold = threshold) -> bool:
                assert not isinstance(threshold, SearchThreshold)  # these samples are of a fixed number
                return replace(threshold, confidence=at).is_shown_below(result)

            above = place < baseline or threshold.is_shown_above(result)
            shown[result.bin.asked_tokens] = above, 1.0 if above else p_of(is_below, strict)
        per_third.append([shown.get(group.asked_tokens, (False, 1.0)) for group in study.groups])
    return list(zip(*per_third, strict=True))


def _by_search(study: Study, search: Search, thirds: Sequence[frozenset[float]]) -> _Found:
    """By bets on the samples of each third; they hold though a length was asked until it was decided."""

    def shown(group: Group, depths: frozenset[float]) -> tuple[bool, float]:
        tested = search.of(group.asked_tokens)
        scores = [item.score for item in group.samples if item.sample.depth in depths]
        if tested is None or not scores:
            return False, 1.0
        threshold, alpha = study.settings.threshold, tested.alpha
        if_wrong, if_right = ([missing if x is None else x for x in scores] for missing in (0.0, 1.0))

        def is_below(at: float) -> bool:
            return sequential_bounds(if_right, alpha=alpha, below_at=1.0 / (1.0 - at))[1] < threshold

        above = sequential_bounds(if_wrong, alpha=alpha)[0] >= threshold
        return above, 1.0 if above else p_of(is_below, 1.0 - (1.0 - study.confidence) / CLAIMS)

    return [tuple(shown(group, depths) for depths in thirds) for group in study.groups]


_MEANING = (
    "The safe cap is about the mean over depths, which can hide a bad one. Here each third of the depths is tested by"
    " itself; the cap rule any_depth is the last length up to which each of them clears the threshold."
)


class EveryDepthFinding(Finding[EveryDepth]):
    key = "every_depth"
    title = "Every depth"
    record = EveryDepth
    cap_rules = {  # noqa: RUF012 - a ClassVar of the base class
        "any_depth": "the last length, from the shortest up to the safe cap, at which each third of"
        " the depths was shown to clear the threshold"
    }

    def find(self, study: Study) -> EveryDepth | None:
        sequence = study.sequence
        if sequence is None or not study.facts.designed_lengths or (study.search is not None and study.relative):
            return None
        thirds = depth_thirds(item.sample.depth for item in study.scored)
        if not thirds:
            return None
        shown = _by_search(study, study.search, thirds) if study.search is not None else _by_fixed_test(study, thirds)
        found = []
        for group, by_third in zip(study.groups, shown, strict=True):
            own = tuple(_third(group, *each) for each in zip(THIRDS, thirds, by_third, strict=True))
            found.append(LengthByThird(context_tokens=group.asked_tokens, thirds=own))
        lengths = tuple(found)
        cleared = next((i for i, each in enumerate(lengths[: sequence.cleared]) if not each.clears), sequence.cleared)
        if sequence.cap_tokens is None:
            return EveryDepth(tokens=None, reason=None, lengths=lengths)
        tokens = study.results[cleared - 1].bin.clears_up_to if cleared > _baseline_lengths(study) else None
        reason = _reason(study.results[cleared], lengths[cleared], study) if cleared < sequence.cleared else None
        return EveryDepth(tokens=tokens, reason=reason, lengths=lengths)

    def caps(self, finding: EveryDepth, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {"any_depth": finding.tokens}

    def alarms(self, finding: EveryDepth, study: Study) -> Mapping[str, float]:
        cap = study.safe_cap.tokens or 0
        safe = {a_bin.asked_tokens for a_bin in study.bins if a_bin.clears_up_to <= cap}
        thirds = [third.p_below for each in finding.lengths if each.context_tokens in safe for third in each.thirds]
        return {self.key: min(1.0, len(thirds) * min(thirds))} if thirds else {}

    def raised(self, finding: EveryDepth, study: Study) -> EveryDepth:
        return replace(finding, is_alarm=study.raises(self.key))

    def look(self, report: Report) -> tuple[Text, ...]:
        finding = self.of(report)
        if finding.reason is None or not finding.is_alarm:
            return ()
        return (Text(label=self.title, text=_in_short(finding.tokens, finding.reason), mood="doubtful"),)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if not report.analysis.lengths:
            return ()
        decided = [each for each in finding.lengths if any(third.shown != "open" for third in each.thirds)]
        rows = [
            (f"{each.context_tokens:,}", third.name, f"{third.low:.3g}-{third.high:.3g}", f"{third.n_samples:,}",
             phrases.score(third.mean), third.shown)
            for each in decided
            for third in each.thirds
        ]  # fmt: skip
        head = ("asked", "third", "depths", "n", "score", "shown")
        table = (Table(columns=columns_of(head, rows, words=("third", "shown"))),) if rows else ()
        short = () if finding.reason is None else (Text(text=_in_short(finding.tokens, finding.reason)),)
        return (Text(text=_MEANING), *short, *table)


def _in_short(tokens: int | None, reason: Note) -> Note:
    if tokens is None:
        return Note("none: {reason}", reason=reason)
    return Note("{tokens:,} tokens: {reason}", tokens=tokens, reason=reason)
