"""Why the safe cap is where it is: how far the test came, what stopped it, and what would settle it.

A length is the median of its measured prompts. Of documents the cap is the shortest of the last bin that clears."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from typing import Literal

from contextcliff.analysis.lengths import LengthResult, if_perfect, in_as_many_texts, planned_at
from contextcliff.analysis.shape import Shape
from contextcliff.analysis.walk import (
    FixedSequenceTest,
    RelativeThreshold,
    SearchThreshold,
    Threshold,
    evidence_suffices,
    low_baseline,
)
from contextcliff.records.amounts import QUANTITIES, amount, are_unscored, none_scored, portion, threshold_figure
from contextcliff.records.note import Note, as_it_is
from contextcliff.records.search_record import BASELINE_SAMPLES
from contextcliff.statistics import sample_size
from contextcliff.statistics.descriptive import counted as tallied
from contextcliff.statistics.descriptive import mean_of

Told = tuple[Note, int | None]
"""A sentence, and how many samples a length would settle what stopped the test; None where no number is said to."""
_Hidden = Literal["fall", "here", "baseline", "both"]


def cap_reason(
    sequence: FixedSequenceTest, threshold: Threshold, shape: Shape | None, *, asked: float, confidence: float
) -> Told:
    """Why the cap is where it is. `sequence` has at least one length, `asked` is the configured threshold; `shape` is
    that of the scores, None where nothing was scored."""
    if not any(result.scores for result in sequence.results):
        n = sum(result.bin.n_samples + result.bin.n_unscored for result in sequence.results)
        if n == 1:
            return Note("the only sample was not scored: nothing can be said of any length"), None
        return Note("none of the {n:,} samples was scored: nothing can be said of any length", n=n), None
    walk = _Walk(sequence=sequence, threshold=threshold, shape=shape, asked=asked, confidence=confidence)
    baseline = threshold.relative
    if baseline is not None and not (sequence.is_open and sequence.cleared == 0):
        without_cap = _without_comparison(sequence, baseline)
        if without_cap is not None:
            return without_cap, None
    if sequence.cleared == 0 and threshold.is_shown_below(sequence.results[0]):
        return walk.below_from_the_start(), None
    return walk.stopped()


def threshold_name(asked: float, threshold: Threshold, *, in_full: bool = True) -> Note:
    """A score, or a share of the baseline's, whose own score is told with `in_full`."""
    name = Note("{value}", value=threshold_figure(asked))
    if threshold.relative is not None:
        short = threshold.relative.baseline.bin
        at: Note | str = ""
        if in_full and short.mean is not None:
            at = Note(" ({mean:.2f} at {tokens:,} tokens)", mean=short.mean, tokens=short.median_tokens)
        name = Note("{value} of the baseline{at}", value=name, at=at)
    if threshold.quantity == "healthy":
        name = Note("a healthy share of {value}", value=name)
    return name


@dataclass(frozen=True, kw_only=True, slots=True)
class _Walk:
    """What the walk found, in words; the parameters are those of `cap_reason`."""

    sequence: FixedSequenceTest
    threshold: Threshold
    shape: Shape | None
    asked: float
    confidence: float

    @property
    def name(self) -> Note:
        return threshold_name(self.asked, self.threshold)

    @property
    def what(self) -> Note:
        return QUANTITIES[self.threshold.quantity]

    def stopped(self) -> Told:
        """What was shown up to where, and what stopped the test there."""
        stopped, settled_by = self._stopped()
        degraded = self.sequence.results[self.sequence.degraded[0]] if self.sequence.degraded else None
        fall: Note | str = ""
        if degraded is not None and degraded is not self.sequence.stop:
            tokens, score = degraded.bin.median_tokens, self._score(degraded)
            fall = Note("; at {tokens:,} it is below, {what:unsaid}{score}", tokens=tokens, what=self.what, score=score)
        return Note("{shown}; {stopped}{fall}", shown=self._shown(), stopped=stopped, fall=fall), settled_by

    def below_from_the_start(self) -> Note:
        """That the shortest length is degraded. What is said of the others depends on what they show."""
        results, threshold = self.sequence.results, self.threshold
        tokens, score = results[0].bin.median_tokens, self._score(results[0])
        said = {"threshold": self.name, "tokens": tokens, "what": self.what, "score": score}
        if threshold.is_sequential and len(results) == 1:
            return Note(
                "at the shortest length, {tokens:,} tokens, the score is {score}, below {threshold}, and the search "
                "ends there; test shorter lengths or an easier task",
                **said,
            )
        if len(self.sequence.degraded) == len(results):
            return Note(
                "below {threshold} at every length tested ({score} at the shortest, {tokens:,} tokens): no length is "
                "safe here; test shorter lengths or an easier task",
                **said,
            )
        again = next((result.bin.median_tokens for result in results if threshold.is_shown_above(result)), None)
        after = Note("it is not shown to be below at every longer one")
        if again is not None:
            after = Note(
                "it clears it at {again:,}, so that the shortest length is not the easiest one here", again=again
            )
        return Note(
            "below {threshold} already at the shortest length, {tokens:,} tokens ({what:unsaid}{score}), though "
            "{after}; no length is shown to be safe from the start",
            after=after, **said,
        )  # fmt: skip

    def _score(self, result: LengthResult) -> Note:
        """The mean of a length with its interval, of what the threshold is a threshold of."""
        mean, low, high = result.bin.mean, result.bin.ci_low, result.bin.ci_high
        if mean is None or low is None or high is None:
            return as_it_is("unknown")
        if self.threshold.is_sequential:  # a confidence sequence is rounded outward
            low, high = math.floor(low * 100 + 1e-9) / 100, math.ceil(high * 100 - 1e-9) / 100
        return Note(
            "{mean:.2f} ({confidence:percent} CI {low:.2f}–{high:.2f})",
            mean=mean, confidence=self.confidence, low=low, high=high,
        )  # fmt: skip

    def _shown(self) -> Note:
        tokens = self.sequence.cap_tokens
        said: dict[str, object] = {
            "threshold": self.name,
            "at": Note(" at {confidence:percent} confidence", confidence=self.confidence),
        }
        if tokens is None and self.threshold.relative is not None:
            return Note("no length beyond the baseline is shown to clear {threshold}{at}", **said)
        if tokens is None:
            return Note("no tested length is shown to clear {threshold}{at}", **said)
        return Note("every tested length up to {tokens:,} tokens clears {threshold}{at}", tokens=tokens, **said)

    def _stopped(self) -> Told:
        stop, threshold = self.sequence.stop, self.threshold
        if stop is None:
            if self.sequence.is_open and isinstance(threshold, SearchThreshold) and threshold.asked_otherwise:
                return Note("the answers end there, {how}", how=threshold.asked_otherwise), None
            if self.sequence.is_open:
                return Note("the run ended before the next length was decided"), None
            if self.sequence.results[-1].bin.natural_lengths:
                return Note("that is the shortest document of the longest bin, and no fall was found"), None
            return Note("that is the longest one, and no fall was found"), None
        tokens, searched = stop.bin.median_tokens, isinstance(threshold, SearchThreshold)
        if isinstance(threshold, SearchThreshold) and threshold.decision(stop) == "unscorable":
            return _unscorable(stop), None
        if not stop.scores:
            n = None if searched else fewest_all_right(stop, threshold, self.asked, self.confidence)
            there: Note | str = ""
            if n is not None:
                there = Note("; at least {needed} are needed there", needed=in_as_many_texts(stop, n, scored=True))
            none = none_scored(stop.planned, stop.noun)
            return Note("at {tokens:,} {none}{needed}", tokens=tokens, none=none, needed=there), n
        score = self._score(stop)
        cause, settled_by = (
            (self._search_cause(stop, threshold), None) if isinstance(threshold, SearchThreshold) else self._cause(stop)
        )
        return (
            Note("at {tokens:,} the {what} is {score}{cause}", tokens=tokens, what=self.what, score=score, cause=cause),
            settled_by,
        )

    def _search_cause(self, stop: LengthResult, threshold: SearchThreshold) -> Note | str:
        asked = planned_at(stop)
        if threshold.decision(stop) == "open" and threshold.asked_otherwise:
            return Note(", not decided by {asked}, {how}", asked=asked, how=threshold.asked_otherwise)
        if threshold.decision(stop) == "open":
            return Note(", and the run ended with {asked} before it was decided", asked=asked)
        if threshold.is_shown_below(stop):
            return ""
        tested = threshold.tested(stop)
        if tested is not None and tested.ending == "not_worth_it":
            return Note(
                ", shown neither to clear it nor to be below it by {asked}; more were not worth their tokens",
                asked=asked,
            )
        if tested is not None and tested.ending == "given_up":
            return Note(
                ", shown neither to clear it nor to be below it by {asked}; by these scores more of them, up to "
                "task.max_trials, were not expected to clear it",
                asked=asked,
            )
        return Note(
            ", shown neither to clear it nor to be below it by {asked}, the most that may be asked (task.max_trials)",
            asked=asked,
        )

    def _cause(self, stop: LengthResult) -> tuple[Note | str, int | None]:
        """Why the data at `stop` settle nothing, and how many samples would; nothing where it is below."""
        threshold = self.threshold
        if threshold.is_shown_below(stop):
            return "", None
        if self.sequence.degraded and evidence_suffices(stop, threshold):
            n, if_so = self._needed(stop)
            which: Note | str = ""
            if n is not None:
                needed = in_as_many_texts(stop, n, scored=True)
                which = Note(" (about {needed} there are likely to show which{if_so})", needed=needed, if_so=if_so)
            return Note(", shown neither to clear it nor to be below it{which}", which=which), None
        if sample_size.fewest_all_right(self.asked, self.confidence) is None:
            value = threshold_figure(self.asked)
            return Note(
                ", and no number of samples can show a {what} of {threshold}", what=self.what, threshold=value
            ), None
        if not threshold.could_be_shown_above(stop, stop.if_all_right):
            n = fewest_all_right(stop, threshold, self.asked, self.confidence)
            return Note(
                ", but {planned} cannot show {threshold} even if {perfect}; {needed}",
                planned=planned_at(stop), threshold=self.name, perfect=if_perfect(stop, threshold.quantity),
                needed=Note("not even {n:,} {noun} a length could", n=sample_size.MOST, noun=Note(stop.noun))
                if n is None
                else Note("at least {needed} are needed", needed=in_as_many_texts(stop, n, each_length=True)),
            ), n  # fmt: skip
        hidden = _unscored_that_decide(stop, threshold)
        return self._too_few(stop) if hidden is None else (self._hidden(hidden, stop), None)

    def _hidden(self, hidden: _Hidden, stop: LengthResult) -> Note:
        base = stop if self.threshold.relative is None else self.threshold.relative.baseline
        n = (base if hidden == "baseline" else stop).bin.n_unscored
        said = {"here": _unscored(stop), "base": _unscored(base), "n": n, "threshold": self.name}
        if hidden == "fall":
            return Note(
                ", below the threshold, but {here}, and were {n:that one/those} right it would not be below", **said
            )
        if hidden == "here":
            return Note(", but {here}, and were {n:that one/those} wrong it would not clear {threshold}", **said)
        if hidden == "baseline":
            return Note(
                ", but {base} at the baseline, and were {n:that one/those} right it would not clear {threshold}", **said
            )
        return Note(
            ", but {here}, and {base} at the baseline: were the former wrong and the latter right it would not clear "
            "{threshold}",
            **said,
        )

    def _too_few(self, stop: LengthResult) -> tuple[Note | str, int | None]:
        """The score lies on one side of the threshold, and the samples are too few to show that."""
        mean, score = stop.bin.mean, self.threshold.score
        if mean is None or score is None:
            return "", None
        needed, if_so = self._needed(stop)
        where = Note("at each of the two lengths") if self.threshold.relative else Note("at that length")
        said: dict[str, object] = {"most": sample_size.MOST, "noun": Note(stop.noun), "where": where, "if_so": if_so}
        if needed is None:
            settled = Note("so near it, not even {most:,} scored {noun} {where} are likely to settle it", **said)
        else:
            said["needed"] = in_as_many_texts(stop, needed, scored=True)
            settled = Note("a new run with about {needed} {where} is likely to settle it{if_so}", **said)
        n = len(stop.scores)
        said = {"samples": amount(n, stop.noun), "n": n, "settled": settled}
        if mean > score:
            cause = Note(", above the threshold, but {samples} {n:is/are} too few to show it; {settled}", **said)
        elif math.isclose(mean, score):
            cause = Note(
                ", at the threshold, but {samples} {n:does/do} not show that it is degraded; {settled}", **said
            )
        else:
            cause = Note(
                ", below the threshold, but {samples} {n:does/do} not show that it is degraded; {settled}", **said
            )
        return cause, needed

    def _needed(self, stop: LengthResult) -> tuple[int | None, Note | str]:
        """Scored samples that settle it with 80% power, and the true score that they are planned for."""
        score = _planned_score(stop, self.threshold, self.shape)
        if score is None:
            return None, ""
        if_so = Note(", if the true score there is {score:.2f}, as all lengths together suggest", score=score)
        return self.threshold.samples_to_settle(stop, score), if_so


def fewest_all_right(stop: LengthResult, threshold: Threshold, asked: float, confidence: float) -> int | None:
    """Fewest samples at `stop` that clear the threshold if all are right; None where it takes more than 20,000."""
    independent = sample_size.fewest_all_right(asked, confidence)
    if independent is None:
        return None
    if stop.sharing:
        size = stop.planned / stop.sharing
        counts = [round(k * size) for k in range(stop.sharing + 1, max(3, int(sample_size.MOST / size)))]
        at = bisect.bisect_left(counts, True, key=lambda m: threshold.could_be_shown_above(stop, stop.all_right(m)))
        return None if at == len(counts) else counts[at]
    # With a baseline below 1, fewer will do than against a perfect one.
    above = range(stop.planned + 1, independent)
    return next((m for m in above if threshold.could_be_shown_above(stop, stop.all_right(m))), independent)


def _without_comparison(sequence: FixedSequenceTest, threshold: RelativeThreshold) -> Note | None:
    """What keeps the lengths from being compared with the baseline; None where nothing does."""
    if sequence.stop is not None and sequence.cleared == 0:
        return _no_baseline(threshold, sequence.stop)
    shortest = threshold.baseline.bin
    if threshold.is_low and shortest.mean is not None:
        return low_baseline(shortest.mean, shortest.median_tokens, threshold.quantity)
    if sequence.stop is not None or not sequence.is_withheld or sequence.is_open:
        return None
    tokens, n = sequence.results[-1].bin.median_tokens, len(sequence.results)
    if n == 1:
        return Note("only one length was tested, {tokens:,} tokens, and nothing to compare it with", tokens=tokens)
    return Note(
        "all {n} lengths that were tested, up to {tokens:,} tokens, are the baseline, and there is nothing to compare "
        "it with",
        n=n, tokens=tokens,
    )  # fmt: skip


def _no_baseline(threshold: RelativeThreshold, stop: LengthResult) -> Note:
    """Why the shortest lengths give none; `stop` is the shortest."""
    base, n_lengths = threshold.baseline, len(threshold.members)
    scored, noun, shortest = len(base.scores), base.noun, stop.bin.median_tokens
    if scored >= BASELINE_SAMPLES and stop.scores:
        return Note(
            "the {what} at the shortest length, {tokens:,} tokens, is 0.00: there is no baseline to compare with; test "
            "shorter lengths or an easier task",
            what=QUANTITIES[threshold.quantity], tokens=shortest,
        )  # fmt: skip
    if scored >= BASELINE_SAMPLES:
        none = none_scored(stop.planned, stop.noun)
        return Note(
            "at the shortest length, {tokens:,} tokens, {none}: no length is shown to be safe from the start",
            tokens=shortest, none=none,
        )  # fmt: skip
    where = Note("at the {n} shortest lengths together", n=n_lengths)
    if n_lengths == 1:
        where = Note("at the shortest length, {tokens:,} tokens,", tokens=base.bin.median_tokens)
    if scored == 0:
        none = none_scored(base.planned, noun)
        return Note("{where} {none}: there is no baseline to compare with", where=where, none=none)
    figures = {"where": where, "n": scored, "fewest": BASELINE_SAMPLES}
    if scored == base.planned:
        only = amount(scored, noun)
        return Note("{where} there {n:is/are} only {only}: a baseline needs at least {fewest}", only=only, **figures)
    only = portion(scored, base.planned, noun)
    return Note("{where} only {only} {n:is/are} scored: a baseline needs at least {fewest}", only=only, **figures)


_WAYS_OUT = {
    "overflow": Note("ask for shorter lengths, or start the server with a longer window"),
    "truncated": Note("ask for shorter lengths, or start the server with a longer window"),
    "content_filter": Note("take other texts (dataset.path), or a provider that lets these pass"),
    "cut_off": Note("see what breaks answers off on their way, and give another seed"),
}


def _unscorable(stop: LengthResult) -> Note:
    samples = [sample for item in stop.items for sample in item.samples]
    unscored = [sample for sample in samples if sample.score is None]
    kind = next(iter(tallied(sample.failure for sample in unscored if sample.failure is not None)))
    window = min((sample.window_tokens for sample in unscored if sample.window_tokens is not None), default=None)
    return Note(
        "at {tokens:,} {unscored} ({kind}{window}), and no further answers there could make it clear; {do}",
        tokens=stop.bin.median_tokens, unscored=are_unscored(len(unscored), len(samples)), kind=kind,
        window="" if window is None else Note(": the server names a window of {tokens:,} tokens", tokens=window),
        do=_WAYS_OUT.get(kind, Note("look at the server's log; the same command asks again what has no answer")),
    )  # fmt: skip


def _unscored(result: LengthResult) -> Note:
    return are_unscored(result.bin.n_unscored, result.bin.n_unscored + result.bin.n_samples)


def _unscored_that_decide(stop: LengthResult, threshold: Threshold) -> _Hidden | None:
    """Which unscored samples stop the test here; None where they don't.

    They do where the scored ones alone would clear the threshold, and where they could not with these counted against.
    Where the scored ones alone are below it, the unscored ones are what keeps that from being shown: they hide a fall.
    """
    here, score, mean = stop.bin.n_unscored > 0, threshold.score, stop.bin.mean
    if here and score is not None and mean is not None and mean < score:
        return "fall" if mean_of(stop.if_unscored_right.scores) >= score else None
    if here and not evidence_suffices(stop, threshold):
        return "here"
    if not threshold.is_shown_above_as_scored(stop):
        return None
    if threshold.relative is not None and threshold.relative.baseline.bin.n_unscored:
        return "both" if here else "baseline"
    return "here" if here else None


def settling_samples(sequence: FixedSequenceTest, threshold: Threshold, shape: Shape | None) -> int | None:
    """Scored samples at the length that stopped the test with which a new run likely settles it; None if none do."""
    stop = sequence.stop
    if stop is None or sequence.is_withheld or threshold.is_shown_below(stop):
        return None
    if _unscored_that_decide(stop, threshold) is not None:
        return None
    score = _planned_score(stop, threshold, shape)
    return None if score is None else threshold.samples_to_settle(stop, score)


def _planned_score(stop: LengthResult, threshold: Threshold, shape: Shape | None) -> float | None:
    """The true score that further samples at the stop are planned for: that of the curve over all lengths."""
    fitted = None if shape is None else shape.at(stop.bin.median_tokens)
    if shape is None or fitted is None or threshold.score is None:
        return None
    if not (stop.binary or stop.clusters):
        return fitted
    return sample_size.cautious_mean(fitted, shape.n, threshold.score)
