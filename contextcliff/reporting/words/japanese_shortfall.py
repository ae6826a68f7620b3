"""What cap no answers could give, in Japanese."""

from __future__ import annotations

from contextcliff.analysis.best_case import (
    LengthsOutOfReach,
    NoLengthInReach,
    NothingBeyondBaseline,
    TooFewForBaseline,
)
from contextcliff.reporting.words.japanese_amounts import counted
from contextcliff.reporting.words.japanese_cap import asked_threshold, cannot_show
from contextcliff.reporting.words.japanese_say import say
from contextcliff.reporting.words.number_formats import confidence_figure


@say.register
def _nothing_beyond_baseline(_: NothingBeyondBaseline) -> str:
    return "安全な上限を検証できない。ベースラインと比べる、より長い長さがない"


@say.register
def _too_few_for_baseline(fact: TooFewForBaseline) -> str:
    return (
        f"安全な上限を示せない。最短の長さの{counted(fact.planned)}ではベースラインにならず、少なくとも {fact.fewest} "
        "件が必要"
    )


@say.register
def _no_length_in_reach(fact: NoLengthInReach) -> str:
    tokens = fact.baseline_tokens
    beyond = "" if tokens is None else f"ベースライン（{tokens:,} トークン）より先の"
    return f"{beyond}安全な上限を示せない。長さごとの{_cannot_show(fact)}"


@say.register
def _lengths_out_of_reach(fact: LengthsOutOfReach) -> str:
    beyond = "" if fact.cap_tokens is None else f"{fact.cap_tokens:,} トークンより先の"
    others = f"。さらに長い {fact.others:,} 種類の長さでも同じ" if fact.others else ""
    return f"{beyond}安全な上限を示せない。{fact.at_tokens:,} トークンの{_cannot_show(fact)}{others}"


def _cannot_show(fact: NoLengthInReach | LengthsOutOfReach) -> str:
    short = cannot_show(fact.planned, asked_threshold(fact.threshold), binary=fact.binary)
    return f"{short}（信頼度 {confidence_figure(fact.confidence)}）"
