"""What can be shown at all: by a length, as its controls say, and by a judge, as answers say that are plain cases.

A `ceiling` control asks with the evidence alone, a `floor` control with the text but without the evidence. A low
ceiling means that the question is too hard or that a right answer is not recognised; a high floor means that the
question can be answered without reading. Neither depends on the length, so a score there says nothing about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from contextcliff.analysis.bins import Group
from contextcliff.analysis.walk import (
    AbsoluteThreshold,
    FixedSequenceTest,
    RelativeThreshold,
    SearchThreshold,
    Threshold,
    fixed_sequence_test,
)
from contextcliff.records.amounts import threshold_figure
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.records.sample import RECHECK
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import is_binary, lower_bound, upper_bound
from contextcliff.statistics.ranks import p_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlLevel:
    """The controls of one length: `ceiling` (evidence alone) and `floor` (no evidence), means with intervals.
    `informative` is False where the ceiling is shown to be low or the floor to be high: no cliff can show there."""

    asked_tokens: int
    ceiling_n: int
    ceiling: float | None
    ceiling_ci_low: float | None
    ceiling_ci_high: float | None
    floor_n: int
    floor: float | None
    floor_ci_low: float | None
    floor_ci_high: float | None
    informative: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlResults:
    """The controls of every length, shortest first; none where the run has no controls."""

    controls: tuple[ControlLevel, ...]


_FLOOR_SHARE = 0.5
"""A floor above this share of the threshold is too high: guessing then reaches half of the threshold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Controls:
    """The scored controls of some samples, each counted once however many samples name it."""

    ceiling: Evidence | None
    floor: Evidence | None

    def informative(self, threshold: float | None, confidence: float) -> bool:
        """Whether a score here says something about the length. Not where the ceiling is shown to be below the
        threshold, or the floor to be above half of it."""
        if threshold is None:
            return True
        low_ceiling = self.ceiling is not None and self.ceiling.upper(confidence) < threshold
        high_floor = self.floor is not None and self.floor.lower(confidence) > _FLOOR_SHARE * threshold
        return not low_ceiling and not high_floor


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlBook:
    """All controls of a run by their `sample_id`. `binary` is whether every one of them scored 0 or 1."""

    by_id: Mapping[str, ScoredSample]
    binary: bool

    def of(self, samples: Iterable[ScoredSample]) -> Controls:
        """The scored controls that these samples name; names without a control are ignored."""
        named = sorted({name for item in samples for name in item.sample.controls} & self.by_id.keys())
        controls = [self.by_id[name] for name in named]
        return Controls(ceiling=self._evidence(controls, "ceiling"), floor=self._evidence(controls, "floor"))

    def _evidence(self, controls: Sequence[ScoredSample], kind: str) -> Evidence | None:
        scores = tuple(sorted(c.score for c in controls if c.sample.control == kind and c.score is not None))
        return Evidence(scores=scores, binary=self.binary) if scores else None


def control_book(controls: Iterable[ScoredSample]) -> ControlBook:
    """The controls of a run, in any order."""
    by_id = {item.sample.sample_id: item for item in controls if item.sample.control != RECHECK}
    return ControlBook(by_id=by_id, binary=is_binary(c.score for c in by_id.values() if c.score is not None))


def control_levels(
    groups: Sequence[Group], book: ControlBook, *, threshold: float | None, confidence: float
) -> tuple[ControlLevel, ...]:
    """The controls of each length, shortest first; none where the run has no controls. Intervals are two-sided."""
    if not book.by_id:
        return ()
    return tuple(_level(group, book.of(group.samples), threshold, confidence) for group in groups)


def p_uninformative(of_lengths: Sequence[Controls], threshold: float | None, confidence: float) -> float:
    """The p-value of "every length is informative", for ceiling and floor of each; 1 where `confidence` shows none."""
    share = 0.5 / len(of_lengths)
    return p_of(
        lambda at: not all(each.informative(threshold, 1.0 - share * (1.0 - at)) for each in of_lengths), confidence
    )


def _level(group: Group, controls: Controls, threshold: float | None, confidence: float) -> ControlLevel:
    ceiling_low, ceiling_high = _interval(controls.ceiling, confidence)
    floor_low, floor_high = _interval(controls.floor, confidence)
    return ControlLevel(
        asked_tokens=group.asked_tokens, ceiling_n=0 if controls.ceiling is None else len(controls.ceiling.scores),
        ceiling=mean(controls.ceiling), ceiling_ci_low=ceiling_low, ceiling_ci_high=ceiling_high,
        floor_n=0 if controls.floor is None else len(controls.floor.scores), floor=mean(controls.floor),
        floor_ci_low=floor_low, floor_ci_high=floor_high, informative=controls.informative(threshold, confidence),
    )  # fmt: skip


def mean(evidence: Evidence | None) -> float | None:
    """The mean score; None without one."""
    return None if evidence is None else mean_of(evidence.scores)


def _interval(evidence: Evidence | None, confidence: float) -> tuple[float, float] | tuple[None, None]:
    return (None, None) if evidence is None else evidence.shown(confidence)


# What a judge's verdicts are worth as scores: its rates on answers whose exact score is known, and what follows.
#
# An answer is known right where it contains an accepted one, and known wrong where it shares no word with any (and says
# something); equal answers to a question count once. With the share s of right answers that the judge calls right, and
# f of wrong ones, a true score t is a judged score of t·s + (1 − t)·f (W. J. Rogan and B. Gladen, Am. J. Epidemiol. 107
# (1978) 71-76). Agreement as a whole would not do: it depends on how many of the known answers are right, and that is
# what changes with length. A judge that calls everything right agrees with a model that is always right.
#
# So a length is shown to clear the threshold t where its judged score is above t + (1 − t)·f at the highest f, and to
# be below where it is under t·s + (1 − t)·f at the lowest s and f. Of a share c of a baseline b, in which s cancels, it
# is c + (1 − c)·f / b. Both rates are Clopper and Pearson's interval at the run's confidence. The rates are those of
# plain cases: answers that say the same in other words may be harder to judge.

FEWEST_KNOWN = 40
"""Known answers, right and wrong ones among them, from which on a judge decides."""


def exact_score(item: ScoredSample) -> float | None:
    """1 of an answer that is known to be right, 0 of one known to be wrong; None where neither is plain."""
    if item.details.get("contains_reference") == 1.0:
        return 1.0
    said = item.generation is not None and item.generation.text.strip()
    return 0.0 if said and item.details.get("f1") == 0.0 else None


def decided_by_judge(
    sequence: FixedSequenceTest, threshold: Threshold, scored: Sequence[ScoredSample], confidence: float
) -> tuple[FixedSequenceTest, Threshold, Note, bool]:
    """The walk over judged scores, what was tested, a sentence on the judge, and whether enough answers are known.
    Where too few are, nothing is shown to be above or below."""
    assert not isinstance(threshold, SearchThreshold)  # a search does not wait for a judge
    right, wrong = (_verdicts(scored, of=known) for known in (1.0, 0.0))
    lacking = max(FEWEST_KNOWN - len(right) - len(wrong), (not right) + (not wrong))
    if lacking:
        told = Note(
            "a judge decides only after {fewest:,} answers whose exact score is known, right and wrong ones "
            "among them; of these answers {right:,} are known to be right and {wrong:,} to be wrong, so that {lacking} "
            "more {lacking:is/are} needed; take another task.metric, or ask more",
            fewest=FEWEST_KNOWN, right=len(right), wrong=len(wrong), lacking=lacking,
        )  # fmt: skip
        return replace(sequence, is_withheld=True, degraded=()), replace(threshold, below=0.0), told, False
    each_side = 0.5 * (1.0 + confidence)
    most, least = upper_bound(wrong, each_side), lower_bound(wrong, each_side)
    strict: Threshold
    best: Threshold
    if isinstance(threshold, RelativeThreshold):
        share, base = threshold.share, threshold.baseline.bin
        low, high = base.ci_low or 0.0, base.ci_high or 1.0
        at_worst = share + (1.0 - share) * most / low if low > most else 1.0
        at_best = share + (1.0 - share) * min(1.0, least / high)
        strict, best = replace(threshold, share=at_worst, below=at_best), replace(threshold, share=at_best)
    else:
        asked = threshold.threshold
        at_worst = asked + (1.0 - asked) * most
        at_best = asked * lower_bound(right, each_side) + (1.0 - asked) * least
        strict, best = replace(threshold, threshold=at_worst, below=at_best), replace(threshold, threshold=at_best)
    cap = fixed_sequence_test(sequence.results, best).cap_tokens
    told = Note(
        "the judge calls {called:,} of {wrong:,} answers right that are known to be wrong, and {missed:,} of {right:,} "
        "wrong that are known to be right: for {asked} a judged score has to clear {strict}; at the judge's best rates "
        "{best}, and the cap is {cap}",
        called=int(sum(wrong)), wrong=len(wrong), missed=len(right) - int(sum(right)), right=len(right),
        asked=_named(threshold), strict=_named(strict), best=_named(best),
        cap=Note("none") if cap is None else Note("{tokens:,} tokens", tokens=cap),
    )  # fmt: skip
    return fixed_sequence_test(sequence.results, strict), strict, told, True


def _named(threshold: AbsoluteThreshold | RelativeThreshold) -> Note:
    if isinstance(threshold, RelativeThreshold):
        return Note("{value} of the baseline{at}", value=threshold_figure(threshold.share), at="")
    return Note("{value}", value=threshold_figure(threshold.threshold))


def _verdicts(scored: Sequence[ScoredSample], *, of: float) -> tuple[float, ...]:
    """What the judge says of the different answers with this exact score, ascending."""
    said = {
        (item.sample.question, item.sample.answers, item.generation.text): item.score
        for item in scored
        if item.score is not None and item.generation is not None and exact_score(item) == of
    }
    return tuple(sorted(said.values()))
