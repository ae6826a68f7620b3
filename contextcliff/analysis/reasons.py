"""The safe cap in one sentence: what was shown, what stopped it, and what would settle it."""

from __future__ import annotations

import bisect
import math

from contextcliff.analysis.amounts import amount, are, portion
from contextcliff.analysis.fixed_sequence import FixedSequenceTest, evidence_suffices
from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.threshold import BASELINE_SAMPLES, RelativeThreshold, Threshold, figure
from contextcliff.statistics import sample_size


def reason_of(sequence: FixedSequenceTest, threshold: Threshold, *, asked: float, confidence: float) -> str:
    """Why the cap is where it is, with the figures. `sequence` has at least one length."""
    planned = sum(result.bin.n_samples + result.bin.n_unscored for result in sequence.results)
    if not any(result.scores for result in sequence.results):
        none = "the only sample was not" if planned == 1 else f"none of the {planned:,} samples was"
        return f"{none} scored: nothing can be said of any length"
    stop = sequence.stop
    if stop is None:
        return _all_clear(sequence, threshold, confidence)
    if sequence.cleared == 0 and isinstance(threshold, RelativeThreshold):
        return _no_baseline(threshold, stop)
    if sequence.cleared == 0 and sequence.degraded and sequence.degraded[0] == 0:
        return _never_good(sequence, threshold, confidence)
    if sequence.verdict == "insufficient_evidence":
        after = _missing(stop, threshold, asked, confidence)
    elif sequence.degraded and sequence.degraded[0] > sequence.cleared:
        after = (
            f"at {_tokens(stop)} the score is {_score(stop, confidence)}, shown neither to clear it nor to be below it"
        )
    else:
        after = f"at {_tokens(stop)} the score is {_score(stop, confidence)}"
        return f"{_cleared(sequence, threshold, confidence)}; {after}"
    sentence = f"{_cleared(sequence, threshold, confidence)}; {after}"
    if sequence.degraded:
        fall = sequence.results[sequence.degraded[0]]
        sentence += f"; at {_tokens(fall)} it is below, {_score(fall, confidence)}"
    return sentence


def _all_clear(sequence: FixedSequenceTest, threshold: Threshold, confidence: float) -> str:
    if len(sequence.results) == 1 and isinstance(threshold, RelativeThreshold):
        return f"only one length was tested, {sequence.cap_tokens:,} tokens, and nothing to compare it with"
    return f"{_cleared(sequence, threshold, confidence)}; that is the longest one, and no fall was found"


def _cleared(sequence: FixedSequenceTest, threshold: Threshold, confidence: float) -> str:
    if sequence.cap_tokens is None:
        return f"no tested length is shown to clear {threshold.words} at {_percent(confidence)} confidence"
    return (
        f"every tested length up to {sequence.cap_tokens:,} tokens clears {threshold.words} at {_percent(confidence)} "
        "confidence"
    )


def _no_baseline(threshold: RelativeThreshold, stop: LengthResult) -> str:
    base, single = threshold.baseline, len(threshold.members) == 1
    where = (
        f"at the shortest length, {_tokens(base)} tokens,"
        if single
        else f"at the {len(threshold.members)} shortest lengths together"
    )
    n = len(base.scores)
    if n == 0:
        return f"{where} {_none_scored(base)}: there is no baseline to compare with"
    if n == base.planned < BASELINE_SAMPLES:
        return f"{where} there {are(n)} only {amount(n, base.noun)}: a baseline needs at least {BASELINE_SAMPLES}"
    if n < BASELINE_SAMPLES:
        return (
            f"{where} only {portion(n, base.planned, base.noun)} {are(n)} scored: a baseline needs at least "
            f"{BASELINE_SAMPLES}"
        )
    if not stop.scores:
        return (
            f"at the shortest length, {_tokens(stop)} tokens, {_none_scored(stop)}: no length is shown to be safe from "
            "the start"
        )
    return (
        f"the score at the shortest length, {_tokens(stop)} tokens, is 0.00: there is no baseline "
        "to compare with; test shorter lengths or an easier task"
    )


def _never_good(sequence: FixedSequenceTest, threshold: Threshold, confidence: float) -> str:
    """The shortest length is degraded. What is said of the others depends on what they show."""
    first = sequence.results[0]
    if len(sequence.degraded) == len(sequence.results):
        return (
            f"below {threshold.words} at every length tested ({_score(first, confidence)} at the shortest, "
            f"{_tokens(first)} tokens): no length is safe here; test shorter lengths or an easier task"
        )
    recovered = next((result for result in sequence.results if threshold.is_shown_above(result)), None)
    after = "it is not shown to be below at every longer one"
    if recovered is not None:
        after = f"it clears it at {_tokens(recovered)}, so that the shortest length is not the easiest one here"
    return (
        f"below {threshold.words} already at the shortest length, {_tokens(first)} tokens "
        f"({_score(first, confidence)}), though {after}; no length is shown to be safe from the start"
    )


def _missing(stop: LengthResult, threshold: Threshold, asked: float, confidence: float) -> str:
    """Why the data at `stop` settle nothing, and how many samples would."""
    fewest = sample_size.fewest_all_right(asked, confidence)
    if not stop.scores:
        least = None if fewest is None else fewest_all_right(stop, threshold, fewest)
        needs = "" if least is None else f"; at least {_scored(stop, least)} are needed there"
        return f"at {_tokens(stop)} {_none_scored(stop)}{needs}"
    here = f"at {_tokens(stop)} the score is {_score(stop, confidence)}"
    if fewest is None:
        return f"{here}, and no number of samples can show a score of {figure(asked)}"
    if not threshold.could_be_shown_above(stop, stop.if_all_right):
        needed = _needed(stop, fewest_all_right(stop, threshold, fewest))
        return f"{here}, but {cannot_show(stop, threshold.words)}; {needed}"
    unscored = _unscored_that_decide(stop, threshold)
    if unscored is not None:
        return f"{here}, but {unscored} {threshold.words}"
    return here + _advice(stop, threshold, confidence)


def cannot_show(stop: LengthResult, threshold: str, *, each: str = "") -> str:
    """That even a perfect model would not clear the threshold with so many samples."""
    perfect = "right" if stop.binary else "as good as can be"
    even_if = f"it is {perfect}" if stop.planned == 1 else f"all are {perfect}"
    return f"{planned_at(stop, each=each)} cannot show {threshold} even if {even_if}"


def planned_at(result: LengthResult, *, each: str = "") -> str:
    """How many samples a length has, and in how many texts where they share some; `each` is said of the samples."""
    where = f" in {amount(result.sharing, result.texts)}" if result.sharing else ""
    return f"{amount(result.planned, result.noun)}{each}{where}"


def _needed(stop: LengthResult, enough: int | None) -> str:
    if enough is None:
        return f"not even {sample_size.MOST:,} {stop.noun} a length could"
    return f"at least {amount(enough, stop.noun)} a length{_in_texts(stop, enough)} are needed"


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


def _in_texts(result: LengthResult, samples: int) -> str:
    """In how many texts so many samples lie, if in as many a text as now; nothing where they share none."""
    return f" in {amount(result.texts_for(samples), result.texts)}" if result.sharing else ""


def _scored(result: LengthResult, n: int) -> str:
    return f"{amount(n, f'scored {result.noun}')}{_in_texts(result, n)}"


def _none_scored(result: LengthResult) -> str:
    n = result.planned
    return f"the only {result.noun[:-1]} was not scored" if n == 1 else f"none of {n:,} {result.noun} was scored"


def _unscored_that_decide(stop: LengthResult, threshold: Threshold) -> str | None:
    """Which unscored samples stop the walk here, as the beginning of a sentence; None where they don't.

    They do where the scored ones alone would clear the threshold, and where they could not with these counted against.
    """
    here = _unscored(stop)
    if here is not None and not evidence_suffices(stop, threshold):
        return f"{here[0]}, and were {here[1]} wrong it would not clear"
    if not threshold.is_shown_above_as_scored(stop):
        return None
    base = _unscored(threshold.baseline) if isinstance(threshold, RelativeThreshold) else None
    if here is not None and base is not None:
        return (
            f"{here[0]}, and {base[0]} at the baseline: were the former wrong and the latter right it would not clear"
        )
    if here is not None:
        return f"{here[0]}, and were {here[1]} wrong it would not clear"
    return None if base is None else f"{base[0]} at the baseline, and were {base[1]} right it would not clear"


def _unscored(result: LengthResult) -> tuple[str, str] | None:
    """`10 of 50 samples are unscored`, and the pronoun for them; None where all are scored."""
    missing = result.bin.n_unscored
    if not missing:
        return None
    told = portion(missing, missing + result.bin.n_samples, "samples")
    return f"{told} {are(missing)} unscored", "that one" if missing == 1 else "those"


def _advice(stop: LengthResult, threshold: Threshold, confidence: float) -> str:
    mean, score, n = stop.bin.mean, threshold.score, len(stop.scores)
    if mean is None or score is None:
        return ""
    if mean > score:
        where = "at each of the two lengths" if isinstance(threshold, RelativeThreshold) else "at that length"
        settled = _settled_by(stop, threshold.samples_to_show_above(stop), where)
        return f", above the threshold, but {amount(n, stop.noun)} {are(n)} too few to show it; {settled}"
    rate = sample_size.cautious_rate(stop.scores, score)
    independent = sample_size.to_show_below(rate, score, confidence)
    needed = stop.evidence.samples_worth(independent, 0.5 * (1.0 + confidence), most=sample_size.MOST)
    side = "at" if math.isclose(mean, score) else "below"
    settled = _settled_by(stop, needed, "at that length")
    do = "does" if n == 1 else "do"
    return f", {side} the threshold, but {amount(n, stop.noun)} {do} not show that it is degraded; {settled}"


def _settled_by(stop: LengthResult, needed: int | None, where: str) -> str:
    if needed is None:
        return f"so near it, not even {sample_size.MOST:,} scored {stop.noun} {where} are likely to settle it"
    return f"a new run with about {_scored(stop, needed)} {where} is likely to settle it"


def recovered_beyond(sequence: FixedSequenceTest, threshold: Threshold) -> LengthResult | None:
    """The first length beyond the stop that clears the threshold when it is tested by itself."""
    beyond = sequence.results[sequence.cleared + 1 :]
    if threshold.score is None:
        return None
    return next((result for result in beyond if threshold.is_shown_above(result)), None)


def _tokens(result: LengthResult) -> str:
    return f"{result.bin.median_tokens:,}"


def _score(result: LengthResult, confidence: float) -> str:
    found = result.bin
    if found.mean is None or found.ci_low is None or found.ci_high is None:
        return "unknown"
    return f"{found.mean:.2f} ({_percent(confidence)} CI {found.ci_low:.2f}–{found.ci_high:.2f})"


def _percent(confidence: float) -> str:
    return f"{100.0 * confidence:.6g}%"
