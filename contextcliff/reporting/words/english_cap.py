"""Why the safe cap is where it is, in English."""

from __future__ import annotations

from typing import assert_never

from contextcliff.analysis.best_case import (
    LengthsOutOfReach,
    NoLengthInReach,
    NothingBeyondBaseline,
    TooFewForBaseline,
)
from contextcliff.findings import phrases
from contextcliff.findings.phrases import confidence_figure, threshold_figure
from contextcliff.records.amounts import Quantity, SampleCount
from contextcliff.records.cap_reason import (
    AskedThreshold,
    BaselineAlone,
    BelowAtShortest,
    BelowEverywhere,
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
from contextcliff.reporting.words.english_say import QUANTITIES, amount, are, counted, portion, say


def asked_threshold(threshold: AskedThreshold) -> str:
    """The threshold before anything is known of a baseline."""
    of = "" if threshold.quantity == "score" else f"a {QUANTITIES[threshold.quantity]} of "
    return of + threshold_figure(threshold.value) + (" of the baseline" if threshold.relative else "")


def _threshold(threshold: AskedThreshold) -> str:
    mean, tokens = threshold.baseline_mean, threshold.baseline_tokens
    baseline = "" if mean is None or tokens is None else f" ({mean:.2f} at {tokens:,} tokens)"
    return asked_threshold(threshold) + baseline + (" in each third of the depths" if threshold.every_depth else "")


def _score(result: ScoreAt, confidence: float) -> str:
    if result.mean is None or result.ci_low is None or result.ci_high is None:
        return "unknown"
    shown = phrases.interval_outward if result.in_search else phrases.interval
    ends = shown(result.ci_low, result.ci_high).replace("-", "–")
    return f"{result.mean:.2f} ({confidence_figure(confidence)} CI {ends})"


@say.register
def _stop(fact: Stop) -> str:
    threshold, confidence = _threshold(fact.threshold), confidence_figure(fact.confidence)
    if fact.shown_up_to is None and fact.threshold.relative:
        shown = f"no length beyond the baseline is shown to clear {threshold} at {confidence} confidence"
    elif fact.shown_up_to is None:
        shown = f"no tested length is shown to clear {threshold} at {confidence} confidence"
    else:
        shown = f"every tested length up to {fact.shown_up_to:,} tokens clears {threshold} at {confidence} confidence"
    if fact.shown_up_to is not None and fact.cleared_to is not None:
        shown += (
            f" (the last bin that clears has prompts of {fact.shown_up_to:,} to {fact.cleared_to:,} tokens: its mean "
            "vouches for the shortest)"
        )
    if fact.fall is None:
        return f"{shown}; {_stopped_by(fact)}"
    fall = f"at {fact.fall.tokens:,} it is below, {_score(fact.fall, fact.confidence)}"
    return f"{shown}; {_stopped_by(fact)}; {fall}"


def _stopped_by(fact: Stop) -> str:
    at, cause = fact.at, fact.cause
    if at is None and isinstance(cause, NotDecided):
        return "the run ended before the next length was decided"
    if at is None and fact.cleared_to is not None:
        return f"no fall was found up to {fact.cleared_to:,}"
    if at is None:
        return "that is the longest one, and no fall was found"
    if isinstance(cause, NoneScored):
        needs = "" if cause.needed is None else f"; at least {counted(cause.needed, scored=True)} are needed there"
        return f"at {at.tokens:,} {_none_scored(cause.planned.n, cause.planned.unit)}{needs}"
    if isinstance(cause, Unscorable):
        return f"at {at.tokens:,} {_are_unscored(cause.unscored)} ({_unscorable(cause)}"
    what = QUANTITIES[fact.threshold.quantity]
    return f"at {at.tokens:,} the {what} is {_score(at, fact.confidence)}{_cause(fact)}"


def _cause(fact: Stop) -> str:
    """What follows on the score of the length that stopped the test."""
    cause = fact.cause
    match cause:
        case EndOfRange() | NoneScored() | Unscorable() | Unsettled():
            return ""
        case Degraded():
            return "" if cause.third is None else f", and the {cause.third} third of the depths is below"
        case NeitherShown():
            which = "" if cause.needed is None else f" ({_would_show_which(cause.needed, cause.planned_score)})"
            return f", shown neither to clear it nor to be below it{which}"
        case MostAsked():
            return (
                f", shown neither to clear it nor to be below it by {counted(cause.asked)}, the most that may be asked "
                "(task.max_trials)"
            )
        case GivenUp():
            return (
                f", shown neither to clear it nor to be below it by {counted(cause.asked)}; by these scores more of "
                "them, up to task.max_trials, were not expected to clear it"
            )
        case NotDecided():
            return (
                "" if cause.asked is None else f", and the run ended with {counted(cause.asked)} before it was decided"
            )
        case Unshowable():
            what = QUANTITIES[fact.threshold.quantity]
            return f", and no number of samples can show a {what} of {threshold_figure(cause.score)}"
        case TooFewPlanned():
            short = cannot_show(
                cause.planned, _threshold(fact.threshold), binary=cause.binary, quantity=fact.threshold.quantity
            )
            return f", but {short}; {_needed(cause)}"
        case UnscoredDecide():
            return f", but {_unscored(cause)} {_threshold(fact.threshold)}"
        case UnscoredCouldBeRight():
            them = "that one" if cause.here.n == 1 else "those"
            return (
                f", below the threshold, but {_are_unscored(cause.here)}, and were {them} right it would not be below"
            )
        case TooFewToClear():
            few = f"{amount(cause.scored, cause.unit)} {are(cause.scored)} too few to show it"
            return f", above the threshold, but {few}; {_settled_by(cause)}"
        case TooFewToReject():
            side, do = "at" if cause.is_at_threshold else "below", "does" if cause.scored == 1 else "do"
            few = f"{amount(cause.scored, cause.unit)} {do} not show that it is degraded"
            return f", {side} the threshold, but {few}; {_settled_by(cause)}"
        case _:
            assert_never(cause)


def cannot_show(
    planned: SampleCount, threshold: str, *, binary: bool, each: str = "", quantity: Quantity = "score"
) -> str:
    """That even a perfect model would not clear the threshold with so many samples."""
    perfect = "healthy" if quantity == "healthy" else "right" if binary else "as good as can be"
    even_if = f"it is {perfect}" if planned.n == 1 else f"all are {perfect}"
    return f"{counted(planned, each=each)} cannot show {threshold} even if {even_if}"


def _needed(cause: TooFewPlanned) -> str:
    if cause.needed is None:
        return f"not even {cause.most:,} {cause.planned.unit} a length could"
    return f"at least {counted(cause.needed, each=' a length')} are needed"


def _settled_by(cause: TooFewToClear | TooFewToReject) -> str:
    where = "at each of the two lengths" if cause.at_both_lengths else "at that length"
    if cause.needed is None:
        return f"so near it, not even {cause.most:,} scored {cause.unit} {where} are likely to settle it"
    likely = f"a new run with about {counted(cause.needed, scored=True)} {where} is likely to settle it"
    return f"{likely}{_if_it_is(cause.planned_score)}"


def _would_show_which(needed: SampleCount, score: float | None) -> str:
    return f"about {counted(needed, scored=True)} there are likely to show which{_if_it_is(score)}"


def _if_it_is(score: float | None) -> str:
    """The true score that samples are planned for."""
    return "" if score is None else f", if the true score there is {score:.2f}, as all lengths together suggest"


def _none_scored(n: int, unit: str) -> str:
    return f"the only {unit[:-1]} was not scored" if n == 1 else f"none of {n:,} {unit} was scored"


def _unscorable(cause: Unscorable) -> str:
    """Why the samples have no score and what to do, up from the bracket around the kind."""
    window = "" if cause.window_tokens is None else f": the server names a window of {cause.window_tokens:,} tokens"
    do = {
        "overflow": "ask for shorter lengths, or start the server with a longer window",
        "truncated": "ask for shorter lengths, or start the server with a longer window",
        "content_filter": "take other texts (dataset.path), or a provider that lets these pass",
    }.get(cause.kind, "look at the server's log; the same command asks again what has no answer")
    return f"{cause.kind}{window}), and no further answers there could make it clear; {do}"


def _unscored(cause: UnscoredDecide) -> str:
    """Which unscored samples decide, up to the threshold's name."""
    here, base = cause.here, cause.at_baseline
    if here is not None and base is not None:
        return (
            f"{_are_unscored(here)}, and {_are_unscored(base)} at the baseline: were the former wrong and the latter "
            "right it would not clear"
        )
    if base is not None:
        return f"{_are_unscored(base)} at the baseline, and were {_those(base)} right it would not clear"
    return "" if here is None else f"{_are_unscored(here)}, and were {_those(here)} wrong it would not clear"


def _are_unscored(part: Part) -> str:
    return f"{portion(part.n, part.total, 'samples')} {are(part.n)} unscored"


def _those(part: Part) -> str:
    return "that one" if part.n == 1 else "those"


@say.register
def _nothing_scored(fact: NothingScored) -> str:
    none = "the only sample was not" if fact.planned == 1 else f"none of the {fact.planned:,} samples was"
    return f"{none} scored: nothing can be said of any length"


@say.register
def _baseline_alone(fact: BaselineAlone) -> str:
    if fact.n_lengths == 1:
        return f"only one length was tested, {fact.tokens:,} tokens, and nothing to compare it with"
    return (
        f"all {fact.n_lengths} lengths that were tested, up to {fact.tokens:,} tokens, are the baseline, and there is "
        "nothing to compare it with"
    )


@say.register
def _low_baseline(fact: LowBaseline) -> str:
    what = QUANTITIES[fact.quantity]
    return (
        f"the baseline is a {what} of {fact.mean:.2f} at {fact.tokens:,} tokens, under {fact.least:.2f}: this model "
        "hardly does the task even with short prompts, and keeping a share of that makes no length safe; take an "
        "easier task or a larger model"
    )


@say.register
def _no_baseline(fact: NoBaseline) -> str:
    where = (
        f"at the shortest length, {fact.tokens:,} tokens,"
        if fact.n_lengths == 1
        else f"at the {fact.n_lengths} shortest lengths together"
    )
    if fact.scored == 0:
        return f"{where} {_none_scored(fact.planned, fact.unit)}: there is no baseline to compare with"
    needs = f"a baseline needs at least {fact.fewest}"
    if fact.scored == fact.planned:
        return f"{where} there {are(fact.scored)} only {amount(fact.scored, fact.unit)}: {needs}"
    return f"{where} only {portion(fact.scored, fact.planned, fact.unit)} {are(fact.scored)} scored: {needs}"


@say.register
def _shortest_unscored(fact: ShortestUnscored) -> str:
    none = _none_scored(fact.planned, fact.unit)
    return f"at the shortest length, {fact.tokens:,} tokens, {none}: no length is shown to be safe from the start"


@say.register
def _zero_baseline(fact: ZeroBaseline) -> str:
    what = QUANTITIES[fact.quantity]
    return (
        f"the {what} at the shortest length, {fact.tokens:,} tokens, is 0.00: there is no baseline to compare with; "
        "test shorter lengths or an easier task"
    )


@say.register
def _below_everywhere(fact: BelowEverywhere) -> str:
    return (
        f"below {_threshold(fact.threshold)} at every length tested ({_score(fact.first, fact.confidence)} at the "
        f"shortest, {fact.first.tokens:,} tokens): no length is safe here; test shorter lengths or an easier task"
    )


@say.register
def _below_at_shortest(fact: BelowAtShortest) -> str:
    if fact.is_only:
        score = _score(fact.first, fact.confidence)
        return (
            f"at the shortest length, {fact.first.tokens:,} tokens, the score is {score}, "
            f"below {_threshold(fact.threshold)}, and the search ends there; test shorter lengths or an easier task"
        )
    after = "it is not shown to be below at every longer one"
    if fact.recovered_tokens is not None:
        after = f"it clears it at {fact.recovered_tokens:,}, so that the shortest length is not the easiest one here"
    return (
        f"below {_threshold(fact.threshold)} already at the shortest length, {fact.first.tokens:,} tokens "
        f"({_score(fact.first, fact.confidence)}), though {after}; no length is shown to be safe from the start"
    )


_EACH = " a length"


@say.register
def _nothing_beyond_baseline(_: NothingBeyondBaseline) -> str:
    return "no safe cap can be tested: there is no length beyond the baseline to compare with it"


@say.register
def _too_few_for_baseline(fact: TooFewForBaseline) -> str:
    return (
        f"no safe cap is possible: {counted(fact.planned)} at the shortest length {are(fact.planned.n)} no baseline, "
        f"which takes at least {fact.fewest}"
    )


@say.register
def _no_length_in_reach(fact: NoLengthInReach) -> str:
    short = cannot_show(fact.planned, _asked(fact), binary=fact.binary, each=_EACH, quantity=fact.threshold.quantity)
    return f"no safe cap is possible: {short}"


@say.register
def _lengths_out_of_reach(fact: LengthsOutOfReach) -> str:
    beyond = "" if fact.cap_tokens is None else f" beyond {fact.cap_tokens:,} tokens"
    others = f", nor those at {amount(fact.others, 'longer lengths')}" if fact.others else ""
    short = cannot_show(fact.planned, _asked(fact), binary=fact.binary, quantity=fact.threshold.quantity)
    return f"no safe cap{beyond} is possible: at {fact.at_tokens:,} tokens {short}{others}"


def _asked(fact: NoLengthInReach | LengthsOutOfReach) -> str:
    return f"{asked_threshold(fact.threshold)} at {confidence_figure(fact.confidence)} confidence"
