"""What cap no answers could give, in English."""

from __future__ import annotations

from contextcliff.analysis.best_case import (
    LengthsOutOfReach,
    NoLengthInReach,
    NothingBeyondBaseline,
    TooFewForBaseline,
)
from contextcliff.reporting.words.english_amounts import amount, are, counted
from contextcliff.reporting.words.english_cap import asked_threshold, cannot_show
from contextcliff.reporting.words.english_say import say
from contextcliff.reporting.words.number_formats import confidence_figure

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
    tokens = fact.baseline_tokens
    beyond = "" if tokens is None else f" beyond the baseline ({tokens:,} tokens)"
    short = cannot_show(fact.planned, _asked(fact), binary=fact.binary, each=_EACH)
    return f"no safe cap{beyond} is possible: {short}"


@say.register
def _lengths_out_of_reach(fact: LengthsOutOfReach) -> str:
    beyond = "" if fact.cap_tokens is None else f" beyond {fact.cap_tokens:,} tokens"
    others = f", nor those at {amount(fact.others, 'longer lengths')}" if fact.others else ""
    short = cannot_show(fact.planned, _asked(fact), binary=fact.binary)
    return f"no safe cap{beyond} is possible: at {fact.at_tokens:,} tokens {short}{others}"


def _asked(fact: NoLengthInReach | LengthsOutOfReach) -> str:
    return f"{asked_threshold(fact.threshold)} at {confidence_figure(fact.confidence)} confidence"
