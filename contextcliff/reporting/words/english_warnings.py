"""Early warnings and the effect of the text, in English."""

from __future__ import annotations

from contextcliff.analysis.early_warning import WarningName
from contextcliff.analysis.latency_canary import TtftJump, TtftSpread
from contextcliff.analysis.score_warnings import RisingShare, WiderScores
from contextcliff.analysis.text_effects import TextEffectFound, TextEffectInShort
from contextcliff.findings.phrases import confidence_figure, milliseconds, percent
from contextcliff.reporting.words.english_say import amount, say

_SHARES: dict[WarningName, str] = {
    "instability": "{share} of {n:,} repeated questions change their score between repeats",
    "failure_spike": "{share} of {n:,} answers fail",
    "unscored_spike": "{share} of {n:,} samples have no answer that can be scored",
}


@say.register
def _ttft_jump(fact: TtftJump) -> str:
    return (
        f"from {fact.tokens:,} tokens on the first token takes {fact.ratio:.1f} times as long as the time to read the "
        f"prompt predicts ({milliseconds(fact.ttft_ms)} against {milliseconds(fact.predicted_ms)}, typical times of "
        f"{amount(fact.n_requests, 'requests')}): memory or cache may be short, whatever the score; another load on "
        "the server at that time looks the same"
    )


@say.register
def _ttft_spread(fact: TtftSpread) -> str:
    return (
        f"at {fact.tokens:,} tokens the time to the first token is unsteady: its quartiles are {percent(fact.spread)} "
        f"of the median apart ({amount(fact.n_requests, 'requests')}), against {percent(fact.shortest_spread)} at "
        f"{fact.shortest_tokens:,}"
    )


@say.register
def _wider_scores(fact: WiderScores) -> str:
    return (
        f"at {fact.tokens:,} tokens scores vary more: their standard deviation is {fact.std:.2f}, against "
        f"{fact.baseline_std:.2f} up to {fact.baseline_tokens:,}"
    )


@say.register
def _rising_share(fact: RisingShare) -> str:
    tag = f", most often by {fact.tag} ({fact.n_tag:,})" if fact.tag else ""
    rises = _SHARES[fact.kind].format(share=percent(fact.share), n=fact.n)
    return (
        f"at {fact.tokens:,} tokens {rises}{tag}, against {percent(fact.baseline_share)} of {fact.baseline_n:,} up to "
        f"{fact.baseline_tokens:,}"
    )


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
