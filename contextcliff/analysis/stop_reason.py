"""Why the safe cap is where it is: what was shown, what stopped the test, and what would settle it."""

from __future__ import annotations

import bisect
import math

from contextcliff.analysis.fixed_sequence import FixedSequenceTest, evidence_suffices
from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.search import BASELINE_SAMPLES
from contextcliff.analysis.search_threshold import SearchThreshold
from contextcliff.analysis.shape import Shape
from contextcliff.analysis.threshold import LOW_BASELINE, RelativeThreshold, Threshold
from contextcliff.records.amounts import SampleCount
from contextcliff.records.cap_reason import (
    BaselineAlone,
    BelowAtShortest,
    BelowEverywhere,
    CapReason,
    Degraded,
    EndOfRange,
    GivenUp,
    LowBaseline,
    MostAsked,
    NeitherShown,
    NoBaseline,
    NoneScored,
    NotDecided,
    NothingScored,
    Part,
    ScoreAt,
    ShortestUnscored,
    Stop,
    StopCause,
    TooFewPlanned,
    TooFewToClear,
    TooFewToReject,
    Unscorable,
    UnscoredCouldBeRight,
    UnscoredDecide,
    Unsettled,
    Unshowable,
    ZeroBaseline,
)
from contextcliff.statistics import sample_size
from contextcliff.statistics.descriptive import counted, mean_of


def cap_reason(
    sequence: FixedSequenceTest, threshold: Threshold, shape: Shape | None, *, asked: float, confidence: float
) -> CapReason:
    """Why the cap is where it is, with the figures. `sequence` has at least one length, `asked` is the configured
    threshold; `shape` is that of the scores, None where nothing was scored."""
    if not any(result.scores for result in sequence.results):
        return NothingScored(planned=sum(result.bin.n_samples + result.bin.n_unscored for result in sequence.results))
    stop, baseline = sequence.stop, threshold.relative
    first = sequence.results[0]
    if baseline is not None and not (sequence.is_open and sequence.cleared == 0):
        without_cap = _without_comparison(sequence, baseline)
        if without_cap is not None:
            return without_cap
    by_third = stop is not None and threshold.third_below(stop) is not None
    if sequence.cleared == 0 and threshold.is_shown_below(first) and not by_third:
        return _below_from_the_start(sequence, threshold, confidence)
    cause = _cause(sequence, threshold, shape, asked, confidence)
    fall = sequence.results[sequence.degraded[0]] if sequence.degraded else None
    return Stop(
        threshold=threshold.described,
        confidence=confidence,
        shown_up_to=sequence.cap_tokens,
        at=None if stop is None else score_at(stop, threshold),
        cause=cause,
        fall=None if fall is None or fall is stop else score_at(fall, threshold),
        cleared_to=_cleared_to(sequence),
    )


def _cleared_to(sequence: FixedSequenceTest) -> int | None:
    """The longest prompt of the last bin that cleared, where the cap is a shorter one of it."""
    last = sequence.last_cleared
    if last is None or sequence.cap_tokens is None or last.bin.max_tokens == sequence.cap_tokens:
        return None
    return last.bin.max_tokens


def _without_comparison(sequence: FixedSequenceTest, baseline: RelativeThreshold) -> CapReason | None:
    """What keeps the lengths from being compared with the baseline; None where nothing does."""
    if sequence.stop is not None and sequence.cleared == 0:
        return _no_baseline(baseline, sequence.stop)
    if baseline.is_low and baseline.baseline.bin.mean is not None:
        shortest = baseline.baseline.bin
        return LowBaseline(
            mean=baseline.baseline.bin.mean,
            tokens=shortest.median_tokens,
            least=LOW_BASELINE,
            quantity=baseline.quantity,
        )
    if sequence.stop is None and sequence.is_withheld and not sequence.is_open:
        return BaselineAlone(tokens=sequence.results[-1].bin.max_tokens, n_lengths=len(sequence.results))
    return None


def score_at(result: LengthResult, threshold: Threshold) -> ScoreAt:
    """The mean score of a length with its interval."""
    return ScoreAt(
        tokens=result.bin.median_tokens,
        mean=result.bin.mean,
        ci_low=result.bin.ci_low,
        ci_high=result.bin.ci_high,
        in_search=threshold.is_sequential,
    )


def _no_baseline(threshold: RelativeThreshold, stop: LengthResult) -> CapReason:
    base = threshold.baseline
    if len(base.scores) < BASELINE_SAMPLES:
        return NoBaseline(
            n_lengths=len(threshold.members),
            tokens=base.bin.median_tokens,
            scored=len(base.scores),
            planned=base.planned,
            unit=base.noun,
            fewest=BASELINE_SAMPLES,
        )
    if not stop.scores:
        return ShortestUnscored(tokens=stop.bin.median_tokens, planned=stop.planned, unit=stop.noun)
    return ZeroBaseline(tokens=stop.bin.median_tokens, quantity=threshold.quantity)


def _below_from_the_start(sequence: FixedSequenceTest, threshold: Threshold, confidence: float) -> CapReason:
    """The shortest length is degraded. What is said of the others depends on what they show."""
    first = score_at(sequence.results[0], threshold)
    if len(sequence.degraded) == len(sequence.results) and not threshold.is_sequential:
        return BelowEverywhere(threshold=threshold.described, confidence=confidence, first=first)
    recovered = next((result for result in sequence.results if threshold.is_shown_above(result)), None)
    return BelowAtShortest(
        threshold=threshold.described,
        confidence=confidence,
        first=first,
        recovered_tokens=None if recovered is None else recovered.bin.median_tokens,
        is_only=threshold.is_sequential,
    )


def _cause(
    sequence: FixedSequenceTest, threshold: Threshold, shape: Shape | None, asked: float, confidence: float
) -> StopCause:
    stop = sequence.stop
    if isinstance(threshold, SearchThreshold):
        return _search_cause(sequence, threshold)
    if stop is None:
        return EndOfRange()
    if threshold.is_shown_below(stop):
        return Degraded()
    if sequence.degraded and evidence_suffices(stop, threshold):
        score = _planned_score(stop, threshold, shape)
        return NeitherShown(needed=_needed_at(stop, threshold, score), planned_score=score)
    return _missing(stop, threshold, shape, asked, confidence)


def _search_cause(sequence: FixedSequenceTest, threshold: SearchThreshold) -> StopCause:
    """Why a search ended where it did."""
    stop = sequence.stop
    if stop is not None and threshold.decision(stop) == "unscorable":
        return _unscorable(stop)
    if stop is not None and not stop.scores:
        return NoneScored(planned=planned_at(stop), needed=None)
    if sequence.is_open:
        return NotDecided(asked=None if stop is None else planned_at(stop))
    if stop is None:
        return EndOfRange()
    if threshold.is_shown_below(stop):
        return Degraded(third=threshold.third_below(stop))
    asked = planned_at(stop)
    return GivenUp(asked=asked) if threshold.is_given_up(stop) else MostAsked(asked=asked)


def _unscorable(stop: LengthResult) -> Unscorable:
    samples = [sample for item in stop.items for sample in item.samples]
    unscored = [sample for sample in samples if sample.score is None]
    kinds = counted(sample.failure for sample in unscored if sample.failure is not None)
    windows = [sample.window_tokens for sample in unscored if sample.window_tokens is not None]
    return Unscorable(
        unscored=Part(n=len(unscored), total=len(samples)),
        kind=next(iter(kinds)),
        window_tokens=min(windows, default=None),
    )


def _missing(
    stop: LengthResult, threshold: Threshold, shape: Shape | None, asked: float, confidence: float
) -> StopCause:
    """Why the data at `stop` settle nothing, and how many samples would."""
    fewest = sample_size.fewest_all_right(asked, confidence)
    if not stop.scores:
        least = None if fewest is None else fewest_all_right(stop, threshold, fewest)
        return NoneScored(planned=planned_at(stop), needed=_in_as_many_texts(stop, least))
    if fewest is None:
        return Unshowable(score=asked)
    if not threshold.could_be_shown_above(stop, stop.if_all_right):
        return TooFewPlanned(
            planned=planned_at(stop),
            binary=stop.binary,
            needed=_in_as_many_texts(stop, fewest_all_right(stop, threshold, fewest)),
            most=sample_size.MOST,
        )
    return _unscored_that_decide(stop, threshold) or _too_few(stop, threshold, shape)


def planned_at(result: LengthResult) -> SampleCount:
    """How many samples a length has, scored or not, and in how many texts where they share some."""
    return SampleCount(n=result.planned, unit=result.noun, n_shared=result.sharing, shared_by=result.texts)


def _in_as_many_texts(result: LengthResult, n: int | None) -> SampleCount | None:
    """So many samples, in as many a text as now."""
    if n is None:
        return None
    shared = result.texts_for(n) if result.sharing else 0
    return SampleCount(n=n, unit=result.noun, n_shared=shared, shared_by=result.texts)


def fewest_all_right(stop: LengthResult, threshold: Threshold, independent: int) -> int | None:
    """Fewest samples at `stop` that clear the threshold if all are right; None where it takes more than 20,000.

    `independent` is that of a fixed threshold and samples that share nothing.
    """
    if stop.sharing:
        size = stop.planned / stop.sharing
        counts = [round(k * size) for k in range(stop.sharing + 1, max(3, int(sample_size.MOST / size)))]
        at = bisect.bisect_left(counts, True, key=lambda m: threshold.could_be_shown_above(stop, stop.all_right(m)))
        return None if at == len(counts) else counts[at]
    # With a baseline below 1, fewer will do than against a perfect one.
    above = range(stop.planned + 1, independent)
    return next((m for m in above if threshold.could_be_shown_above(stop, stop.all_right(m))), independent)


def _unscored_that_decide(stop: LengthResult, threshold: Threshold) -> UnscoredDecide | UnscoredCouldBeRight | None:
    """Which unscored samples stop the test here; None where they don't.

    They do where the scored ones alone would clear the threshold, and where they could not with these counted against.
    Where the scored ones alone are below it, the unscored ones are what keeps that from being shown.
    """
    here = _unscored(stop)
    score, mean = threshold.score, stop.bin.mean
    if here is not None and score is not None and mean is not None and mean < score:
        return UnscoredCouldBeRight(here=here) if mean_of(stop.if_unscored_right.scores) >= score else None
    if here is not None and not evidence_suffices(stop, threshold):
        return UnscoredDecide(here=here, at_baseline=None)
    if not threshold.is_shown_above_as_scored(stop):
        return None
    base = None if threshold.relative is None else _unscored(threshold.relative.baseline)
    return None if here is None and base is None else UnscoredDecide(here=here, at_baseline=base)


def _unscored(result: LengthResult) -> Part | None:
    missing = result.bin.n_unscored
    return Part(n=missing, total=missing + result.bin.n_samples) if missing else None


def _too_few(stop: LengthResult, threshold: Threshold, shape: Shape | None) -> StopCause:
    mean, score, n = stop.bin.mean, threshold.score, len(stop.scores)
    if mean is None or score is None:
        return Unsettled()
    planned_score = _planned_score(stop, threshold, shape)
    needed = _needed_at(stop, threshold, planned_score)
    if mean > score:
        return TooFewToClear(
            scored=n,
            unit=stop.noun,
            at_both_lengths=threshold.relative is not None,
            needed=needed,
            most=sample_size.MOST,
            planned_score=planned_score,
        )
    return TooFewToReject(
        scored=n,
        unit=stop.noun,
        is_at_threshold=math.isclose(mean, score),
        needed=needed,
        most=sample_size.MOST,
        at_both_lengths=threshold.relative is not None,
        planned_score=planned_score,
    )


def settling_samples(sequence: FixedSequenceTest, threshold: Threshold, shape: Shape | None) -> int | None:
    """Scored samples at the length that stopped the test with which a new run is likely to settle it.

    None where nothing stopped it or the length is shown to be below, where the baseline admits no cap whatever is
    asked, where nothing was scored there or unscored samples decide, and where no practical number would do.
    """
    stop = sequence.stop
    if stop is None or sequence.is_withheld or threshold.is_shown_below(stop):
        return None
    if _unscored_that_decide(stop, threshold) is not None:
        return None
    needed = _needed_at(stop, threshold, _planned_score(stop, threshold, shape))
    return None if needed is None else needed.n


def _planned_score(stop: LengthResult, threshold: Threshold, shape: Shape | None) -> float | None:
    """The true score that further samples at the stop are planned for: that of the curve over all lengths.

    Of right and wrong answers it is moved a little toward a half, as the curve is an estimate; fractional scores are
    planned with their own spread. None where there is no threshold to compare with.
    """
    fitted = None if shape is None else shape.at(stop.bin.median_tokens)
    if shape is None or fitted is None or threshold.score is None:
        return None
    if not (stop.binary or stop.clusters):
        return fitted
    return sample_size.cautious_mean(fitted, shape.n, threshold.score)


def _needed_at(stop: LengthResult, threshold: Threshold, score: float | None) -> SampleCount | None:
    return None if score is None else _in_as_many_texts(stop, threshold.samples_to_settle(stop, score))


def recovered_beyond(sequence: FixedSequenceTest, threshold: Threshold) -> LengthResult | None:
    """The first length beyond the stop that clears the threshold when it is tested by itself."""
    beyond = sequence.results[sequence.cleared + 1 :]
    if threshold.score is None:
        return None
    return next((result for result in beyond if threshold.is_shown_above(result)), None)
