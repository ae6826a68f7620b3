"""The effect of the text, in Japanese."""

from __future__ import annotations

from contextcliff.analysis.text_effects import TextEffectFound, TextEffectInShort
from contextcliff.findings.phrases import confidence_figure
from contextcliff.reporting.words.japanese_say import SHARED, say


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
