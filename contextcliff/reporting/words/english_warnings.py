"""The effect of the text, in English."""

from __future__ import annotations

from contextcliff.analysis.text_effects import TextEffectFound, TextEffectInShort
from contextcliff.findings.phrases import confidence_figure
from contextcliff.reporting.words.english_say import amount, say


@say.register
def _text_effect(fact: TextEffectFound) -> str:
    one = fact.shared_by[:-1]
    worth = fact.size / fact.design_effect
    also = ", also because those of one bin differ in length" if fact.lengths_differ else ""
    doubt = "" if fact.ci_low > 0.0 else f", so that no difference between {fact.shared_by} is shown"
    if fact.is_unbounded:
        doubt = ", which these samples do not bound"
    return (
        f"{fact.correlation:.0%} of the variance of the scores lies between {fact.shared_by}{also} "
        f"({confidence_figure(fact.confidence)} CI {fact.ci_low:.0%}–{fact.ci_high:.0%}; {fact.texts:,} "
        f"{fact.shared_by}, {amount(fact.samples, 'samples')}, {amount(fact.n_lengths, 'lengths')}){doubt}: by that "
        f"estimate the {fact.size:.1f} samples of a {one} show as much as {worth:.1f} independent ones (design effect "
        f"{fact.design_effect:.1f}); the tests take {fact.assumed:.0%} at least, whatever the estimate, and the claim "
        f"is about {fact.shared_by} of this kind and not these {fact.texts:,} alone"
    )


@say.register
def _text_effect_in_short(fact: TextEffectInShort) -> str:
    effect = fact.effect
    also = ", also because those of one bin differ in length" if effect.lengths_differ else ""
    return (
        f"{effect.correlation:.0%} of the variance of the scores lies between {effect.shared_by}{also} "
        f"({effect.ci_low:.0%}-{effect.ci_high:.0%}, {effect.texts:,} {effect.shared_by})"
    )
