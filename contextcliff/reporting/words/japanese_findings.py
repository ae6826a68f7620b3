"""Half-life, position and the advice of the operating guide, in Japanese."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.analysis.guide import RangeAdvice, Retrieve, Rotate
from contextcliff.analysis.half_life import FittedDecay, NoFall, NothingToHalve, TooFewLengths
from contextcliff.analysis.position import EqualScores, NoDepthsToCompare, PositionTested, Third, TooFewDepths
from contextcliff.reporting.words.japanese_say import say
from contextcliff.reporting.words.number_formats import confidence_figure, span

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
_THIRDS = {"first": "前", "middle": "中", "last": "後ろ"}


@say.register
def _too_few_lengths(fact: TooFewLengths) -> str:
    return f"減衰のあてはめには {fact.fewest} 種類以上の長さのスコアが必要だが、{fact.lengths} 種類しかない"


@say.register
def _nothing_to_halve(fact: NothingToHalve) -> str:
    return f"0 を超えるスコアのサンプルがない（{_basis(fact)}）。半減するものがない"


@say.register
def _fitted_decay(fact: FittedDecay) -> str:
    high = fact.ci_high
    interval = f"{fact.ci_low:,} 以上、上限なし" if high is None else f"{fact.ci_low:,}–{high:,}"
    beyond = ""
    if fact.tokens > fact.longest:
        beyond = f"。これはテストした最長の {fact.longest:,} トークンを超える"
    return (
        f"スコアは {fact.tokens:,} トークンごとに半減する（{confidence_figure(fact.confidence)} 信頼区間 {interval}）。"
        f"長さ 0 で {fact.initial:.2f}、指数減衰を{_basis(fact)}にあてはめた{beyond}"
    )


@say.register
def _no_fall(fact: NoFall) -> str:
    why = "すべてのサンプルが満点" if fact.all_right else "スコアは長さとともに下がらない"
    if fact.at_least is None:
        return f"{why}（{_basis(fact)}）。むしろ上がるので、半減長はない"
    return (
        f"{why}（{_basis(fact)}）。指数減衰だとすれば、半減には {fact.at_least:,} トークン以上かかる（信頼度 "
        f"{confidence_figure(fact.confidence)}）"
    )


def _basis(fact: NothingToHalve | FittedDecay | NoFall) -> str:
    return f"長さ {fact.lengths} 種類、サンプル {fact.samples:,} 件"


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
    means = (f"{_THIRDS[third.name]} 1/3 で {third.mean:.2f}（n = {third.n_samples}）" for third in thirds)
    return f"平均スコアは{'、'.join(means)}"


@say.register
def _range_advice(fact: RangeAdvice) -> str:
    lengths = f"{fact.lengths[0]:,} トークン"
    if len(fact.lengths) > 1:
        lengths = f"{fact.lengths[0]:,}～{fact.lengths[-1]:,} トークン"
    unsure = "、".join(f"{tokens:,}" for tokens in fact.unsure)
    doubt = f"。ただし {unsure} トークンでは区間がほかの範囲に及ぶ" if unsure else ""
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
