"""Half-life, position and the advice of the operating guide, in Japanese."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.analysis.every_depth import ThirdOfLength, ThirdsBelow, ThirdsNotShown
from contextcliff.analysis.position import EqualScores, NoDepthsToCompare, PositionTested, Third, TooFewDepths
from contextcliff.findings.guide import RangeAdvice, Retrieve, Rotate
from contextcliff.records.amounts import span
from contextcliff.reporting.words.japanese_say import THIRDS, say

LEVELS = {"safe": "安全", "caution": "注意", "danger": "危険"}
_USE = {
    "safe": "テキストをそのまま使える",
    "caution": "重要な事実を繰り返すか、圧縮して渡す",
    "danger": "テキスト全体の代わりに、検索・要約・分割を使う",
}
_PATTERNS = {
    "stable": "深さへの依存は示されない",
    "recency": "後ろにある根拠ほど見つかりやすい",
    "primacy": "前にある根拠ほど見つかりやすい",
    "middle_collapse": "両端の根拠のほうが中央より見つかりやすい",
}


@say.register
def _too_few_depths(fact: TooFewDepths) -> str:
    return f"傾向を調べるには {fact.fewest} 種類の深さのスコアが必要だが、{fact.depths} 種類しかない"


@say.register
def _no_depths_to_compare(_: NoDepthsToCompare) -> str:
    return "同じ長さ・同じテキストの中で比べられる深さの組がない"


@say.register
def _equal_scores(fact: EqualScores) -> str:
    return f"区別できるものがない。{_thirds(fact.thirds)}で、どの長さでもスコアに差がない"


@say.register
def _position_tested(fact: PositionTested) -> str:
    pattern = _PATTERNS[fact.pattern]
    return f"{_thirds(fact.thirds)}（{pattern}、p = {fact.p_value:.2g}、サンプル {fact.n_samples:,} 件）"


def _thirds(thirds: Sequence[Third]) -> str:
    means = (f"{THIRDS[third.name]} 1/3 で {third.mean:.2f}（n = {third.n_samples}）" for third in thirds)
    return f"平均スコアは{'、'.join(means)}"


@say.register
def _thirds_below(fact: ThirdsBelow) -> str:
    means = "、".join(f"{THIRDS[third.name]} 1/3（{figures_of(third)}）" for third in fact.thirds)
    return f"{fact.tokens:,} トークンでは、深さの{means}がしきい値を下回る"


def figures_of(third: ThirdOfLength) -> str:
    """`0.40、n = 12`."""
    return f"n = {third.n_samples}" if third.mean is None else f"{third.mean:.2f}、n = {third.n_samples}"


@say.register
def _thirds_not_shown(fact: ThirdsNotShown) -> str:
    samples = f"深さの 1/3 ごとのサンプル {span(*fact.samples, 'd')} 件"
    short = f"{fact.tokens:,} トークンでは、{samples}では、それぞれがしきい値を満たすと示せない"
    if not fact.can_ask_on:
        return short
    return f"{short}。探索は平均の判定で打ち切る（analysis.every_depth=true なら 1/3 ごとの判定まで続ける）"


@say.register
def _range_advice(fact: RangeAdvice) -> str:
    lengths = f"{fact.lengths[0]:,} トークン"
    if len(fact.lengths) > 1:
        lengths = f"{fact.lengths[0]:,}～{fact.lengths[-1]:,} トークン"
    unsure = "、".join(f"{tokens:,}" for tokens in fact.unsure)
    doubt = f"。ただし {unsure} トークンについては、安全な上限の検定では示されていない" if unsure else ""
    figures = f"平均スコア {span(*fact.means, '.2f')}、n = {fact.n_samples:,}"
    return f"{LEVELS[fact.level]}: {lengths}（{figures}）。{_USE[fact.level]}{doubt}"


@say.register
def _retrieve(fact: Retrieve) -> str:
    return f"{_short_half_life(fact)}。それより長いテキストには検索か分割を勧める"


@say.register
def _rotate(fact: Rotate) -> str:
    return f"{_short_half_life(fact)}。コンテキストを入れ替える（短い段落に分け、一つずつ分析し、結果をまとめる）"


def _short_half_life(fact: Retrieve | Rotate) -> str:
    beyond = "（テストした最長を超える）" if fact.beyond_longest else ""
    return f"あてはめた半減長は {fact.half_life_tokens:,} トークン{beyond}で、{fact.below:,} を下回る"
