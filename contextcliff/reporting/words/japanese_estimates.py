"""Fitted lengths and RULER's effective length, in Japanese."""

from __future__ import annotations

from contextcliff.analysis.fitted_length import FallsTo, FitBasis, FittedLength, StartsBelow, StaysAbove, TooFewToFit
from contextcliff.findings.phrases import confidence_figure
from contextcliff.reporting.report_facts import EffectiveInShort, FittedInShort
from contextcliff.reporting.words.japanese_say import say


@say.register
def _too_few_to_fit(fact: TooFewToFit) -> str:
    return f"曲線のあてはめには {fact.fewest} 種類以上の長さのスコアが必要だが、{fact.lengths} 種類しかない"


@say.register
def _falls_to(fact: FallsTo) -> str:
    confidence = confidence_figure(fact.basis.confidence)
    if fact.ci_low is None and fact.ci_high is None:
        interval = f"{confidence} 区間はテストした範囲より広い"
    elif fact.ci_low is None:
        interval = f"{confidence} 区間はテストした最短より下から {fact.ci_high:,} まで"
    elif fact.ci_high is None:
        interval = f"{confidence} 区間は {fact.ci_low:,} からテストした最長より上まで"
    else:
        interval = f"{confidence} 区間 {fact.ci_low:,}–{fact.ci_high:,}"
    return (
        f"{_basis(fact.basis)}にあてはめた曲線は、約 {fact.tokens:,} トークンで {fact.score:.2f} に下がる（{interval}）"
    )


@say.register
def _stays_above(fact: StaysAbove) -> str:
    curve = (
        f"{_basis(fact.basis)}にあてはめた曲線は、テストした最長の {fact.longest:,} トークンまで "
        f"{fact.score:.2f} を上回る"
    )
    if fact.at_least is None:
        return f"{curve}。ただし分かることが少なく、どの長さも否定できない"
    at = f"（信頼度 {confidence_figure(fact.basis.confidence)}）"
    if fact.at_least == fact.longest:
        return f"{curve}。そこまで下がるのはそれより先か、下がらない{at}"
    return f"{curve}。そこまで下がるのは {fact.at_least:,} トークン以上か、下がらない{at}"


@say.register
def _starts_below(fact: StartsBelow) -> str:
    curve = (
        f"{_basis(fact.basis)}にあてはめた曲線は、テストした最短の {fact.shortest:,} トークンでも "
        f"{fact.score:.2f} を上回らない"
    )
    if fact.at_most is None or fact.at_most == fact.shortest:
        return curve
    confidence = confidence_figure(fact.basis.confidence)
    return f"{curve}。{fact.at_most:,} トークンまでは上回るかもしれない（信頼度 {confidence}）"


def _basis(basis: FitBasis) -> str:
    return f"長さ {basis.lengths} 種類、サンプル {basis.samples:,} 件"


@say.register
def _fitted(fact: FittedInShort) -> str:
    lengths = (fact.x80, fact.x50)
    if all(length.score is None for length in lengths):
        return f"なし。{say(fact.x80.reason)}"
    return f"あてはめた曲線では、{'、'.join(_in_short(length) for length in lengths)}"


def _in_short(length: FittedLength) -> str:
    if length.tokens is not None:
        return f"{length.tokens:,} トークンで {length.score:.2f}（{_ends(length.ci_low, length.ci_high)}）"
    return f"{length.score:.2f} は{'テストした最長より先' if length.censored else 'どの長さでも超えない'}"


def _ends(low: int | None, high: int | None) -> str:
    if low is None:
        return "範囲は不明" if high is None else f"{high:,} 以下"
    return f"{low:,} 以上" if high is None else f"{low:,}-{high:,}"


@say.register
def _effective(fact: EffectiveInShort) -> str:
    rule = f"RULER の規則: それ以下のどの長さでも平均が {fact.threshold:.3f} を上回る"
    if fact.tokens is None:
        return f"なし（{rule}）"
    return f"{fact.tokens:,} トークン{'、テストした最長' if fact.censored else ''}（{rule}）"
