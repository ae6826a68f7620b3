"""The figures of a report that take a sentence, in English."""

from __future__ import annotations

from contextcliff.findings import phrases
from contextcliff.records.analysis import Zone
from contextcliff.reporting.report_facts import (
    Crossing,
    EvidenceInWords,
    Headline,
    HealthyRound,
    NoCliffInRange,
    NoCrossingShown,
    Recommendation,
    ShapeInWords,
    StoppedEarly,
    ThresholdName,
    Tokens,
    ZoneNames,
    ZoneRange,
)
from contextcliff.reporting.words.english_say import QUANTITIES, say


@say.register
def _stopped_early(fact: StoppedEarly) -> str:
    missing = "lengths" if fact.lengths_missing else "ratings or measures"
    return f"the run stopped before its end; {missing} may be missing"


@say.register
def _tokens(fact: Tokens) -> str:
    return f"{fact.n:,} tokens"


@say.register
def _headline(fact: Headline) -> str:
    cap = fact.cap
    if cap.tokens is None:
        return "none - no tested length was shown to be safe"
    share = "" if cap.fraction_of_max is None else f", {phrases.percent(cap.fraction_of_max)} of the window"
    return f"{cap.tokens:,} tokens ({phrases.percent(cap.confidence)} confidence{share})"


@say.register
def _recommendation(fact: Recommendation) -> str:
    tokens = fact.cap.tokens
    if tokens is None:
        return "rely on none of the tested lengths"
    return f"keep prompts to {tokens:,} tokens or fewer"


_SHAPES = {
    "flat": "the {what} does not change with length, and is at the threshold or above",
    "slope": "the {what} falls with length, over several steps or without reaching the threshold",
    "cliff": "the {what} falls through the threshold in one step",
    "below": "the {what} is under the threshold at every tested length",
    "rising": "the {what} goes up with length",
}


_OF_ONE_LENGTH = {
    "flat": "the {what} of the only tested length is at the threshold or above",
    "below": "the {what} of the only tested length is under the threshold",
}


@say.register
def _shape(fact: ShapeInWords) -> str:
    shape, step, dip = fact.cap.shape or "", fact.cap.shape_step, fact.cap.dip_tokens
    what = QUANTITIES[fact.cap.quantity]
    if fact.n_lengths == 1:
        return f"{shape} - {_OF_ONE_LENGTH.get(shape, shape).format(what=what)}"
    where = "" if step is None else f", between {step[0]:,} and {step[1]:,} tokens"
    but = "" if dip is None else f", but for a dip at {dip:,} tokens"
    text = _SHAPES.get(shape, shape).format(what=what)
    return f"{shape} - by the curve that fits best (no test), {text}{where}{but}"


@say.register
def _evidence(fact: EvidenceInWords) -> str:
    cap = fact.cap
    if cap.evidence != "settled":
        needed = cap.settling_samples
        likely = "" if needed is None else f"; about {needed:,} samples at the length that stopped them are likely to"
        return f"unsettled - the tests do not show this shape{likely}"
    if cap.shape == "below":
        return "settled - every tested length is shown to be below the threshold"
    if cap.censored or cap.ci_high is None:
        return "settled - every tested length is shown to clear the threshold"
    what = QUANTITIES[cap.quantity]
    return f"settled - the {what} is shown to be below the threshold from {cap.ci_high:,} tokens on"


@say.register
def _threshold(fact: ThresholdName) -> str:
    each = " in each third of the depths" if fact.cap.every_depth else ""
    if fact.cap.quantity == "healthy":
        of = "the shortest length's healthy share" if fact.cap.relative_to_baseline else "the rounds healthy"
        return f"{phrases.percent(fact.cap.threshold)} of {of}"
    if fact.cap.relative_to_baseline:
        return f"{phrases.percent(fact.cap.threshold)} of the shortest length's score{each}"
    return f"a score of {fact.cap.threshold:.2f}{each}"


@say.register
def _healthy_round(_: HealthyRound) -> str:
    return (
        "the healthy share, that is the share of healthy rounds; a round is healthy if its text is long enough, is not "
        "in a loop, and is no further from the author (composite of its measures, 0-100) than 99% of the author's own "
        "passages"
    )


@say.register
def _no_cliff_in_range(fact: NoCliffInRange) -> str:
    at = "" if fact.longest is None else f" ({fact.longest:,} tokens)"
    return f"no cliff up to the longest test{at}; the true limit may be higher"


@say.register
def _crossing(fact: Crossing) -> str:
    what = QUANTITIES[fact.quantity]
    if fact.low is None:
        return f"the {what} is below the threshold by {fact.high:,} tokens at the latest"
    return f"the {what} crosses the threshold between {fact.low:,} and {fact.high:,} tokens"


@say.register
def _no_crossing(fact: NoCrossingShown) -> str:
    return f"no tested length is shown to be below the threshold; a fall can only lie above {fact.low:,} tokens"


@say.register
def _zone_names(fact: ZoneNames) -> str:
    return (
        "Stable: every tested length clears the threshold. Degraded: every tested length is shown to be below it, "
        f"tested from the longest one down, at {phrases.percent(fact.confidence)} confidence together. Transition: "
        "neither is shown, or no length was tested. The fall is that of the mean score, against the baseline where "
        "there is one, or else against the first zone"
    )


@say.register
def _zone(fact: ZoneRange) -> str:
    zone = fact.zone
    return f"{fact.mark} {zone.name:<10} {zone.min_tokens:,} - {zone.max_tokens:,} tokens{_mean_of_zone(zone)}"


def _mean_of_zone(zone: Zone) -> str:
    if zone.mean is None:
        return ""
    fall = phrases.fall(zone.fall)
    return f", mean {zone.mean:.2f}" if fall is None else f", mean {zone.mean:.2f} ({fall})"
