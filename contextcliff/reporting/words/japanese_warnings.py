"""Early warnings and the effect of the text, in Japanese."""

from __future__ import annotations

from contextcliff.analysis.early_warning import WarningName
from contextcliff.analysis.latency_canary import TtftJump, TtftSpread
from contextcliff.analysis.score_warnings import RisingShare, WiderScores
from contextcliff.analysis.text_effects import TextEffectFound, TextEffectInShort
from contextcliff.findings.phrases import confidence_figure, milliseconds, percent
from contextcliff.reporting.words.japanese_say import SHARED, say

_SHARES: dict[WarningName, str] = {
    "instability": "反復した質問 {n:,} 件の {share} で、反復ごとにスコアが変わる",
    "failure_spike": "回答 {n:,} 件の {share} が失敗する",
    "unscored_spike": "サンプル {n:,} 件の {share} に、採点できる回答がない",
}


@say.register
def _ttft_jump(fact: TtftJump) -> str:
    return (
        f"{fact.tokens:,} トークンから、最初のトークンまでの時間が、プロンプトを読む時間から予測される値の "
        f"{fact.ratio:.1f} 倍かかる（{milliseconds(fact.ttft_ms)}、予測 {milliseconds(fact.predicted_ms)}。"
        f"リクエスト {fact.n_requests:,} 件の代表値）。スコアにかかわらず、メモリかキャッシュが足りない可能性がある。"
        "同じ時にサーバーにかかったほかの負荷も同じように見える"
    )


@say.register
def _ttft_spread(fact: TtftSpread) -> str:
    return (
        f"{fact.tokens:,} トークンでは最初のトークンまでの時間が不安定になる。"
        f"四分位の幅が中央値の {percent(fact.spread)}（リクエスト {fact.n_requests:,} 件）で、"
        f"{fact.shortest_tokens:,} トークンでは {percent(fact.shortest_spread)}"
    )


@say.register
def _wider_scores(fact: WiderScores) -> str:
    return (
        f"{fact.tokens:,} トークンではスコアのばらつきが大きい。標準偏差は {fact.std:.2f} で、{fact.baseline_tokens:,} "
        f"トークンまででは {fact.baseline_std:.2f}"
    )


@say.register
def _rising_share(fact: RisingShare) -> str:
    tag = f"（最多は {fact.tag}、{fact.n_tag:,} 件）" if fact.tag else ""
    rises = _SHARES[fact.kind].format(share=percent(fact.share), n=fact.n)
    return (
        f"{fact.tokens:,} トークンでは、{rises}{tag}。"
        f"{fact.baseline_tokens:,} トークンまででは {fact.baseline_n:,} 件の {percent(fact.baseline_share)}"
    )


@say.register
def _text_effect(fact: TextEffectFound) -> str:
    shared = SHARED[fact.shared_by]
    worth = fact.size / fact.design_effect
    also = "（同じビンの文書の長さの違いも含む）" if fact.lengths_differ else ""
    doubt = "" if fact.ci_low > 0.0 else f"。{shared}による違いは示されない"
    if fact.is_unbounded:
        doubt = "。このサンプルでは範囲を絞れない"
    return (
        f"スコアの分散の {fact.correlation:.0%} が{shared}の間にある{also}"
        f"（{confidence_figure(fact.confidence)} 信頼区間 {fact.ci_low:.0%}–{fact.ci_high:.0%}、"
        f"{shared} {fact.texts:,} 個、サンプル {fact.samples:,} 件、長さ {fact.n_lengths:,} 種類）{doubt}。"
        f"一つの{shared}のサンプル {fact.size:.1f} 件は、推定では独立な {worth:.1f} 件に相当する"
        f"（デザイン効果 {fact.design_effect:.1f}）。検定は推定によらず少なくとも {fact.assumed:.0%} を見込む。"
        f"主張はこの {fact.texts:,} 個だけでなく、この種の{shared}についてのもの"
    )


@say.register
def _text_effect_in_short(fact: TextEffectInShort) -> str:
    effect = fact.effect
    also = "（同じビンの文書の長さの違いも含む）" if effect.lengths_differ else ""
    return (
        f"スコアの分散の {effect.correlation:.0%} が{SHARED[effect.shared_by]}の間にある{also}"
        f"（{effect.ci_low:.0%}–{effect.ci_high:.0%}、{SHARED[effect.shared_by]} {effect.texts:,} 個）"
    )
