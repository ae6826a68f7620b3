# ruff: noqa: E501
"""A fact of every kind of warning, and the English sentence of each."""

from __future__ import annotations

from dataclasses import replace

from contextcliff.analysis.early_warning import EarlyWarning
from contextcliff.analysis.early_warnings import EarlyWarnings
from contextcliff.analysis.latency_canary import PrefillAtLength, TtftJump, TtftSpread
from contextcliff.analysis.latency_cap import LatencyCap, WithinLimit
from contextcliff.analysis.score_warnings import RisingShare, WiderScores
from contextcliff.analysis.text_effects import TextEffectAtLength, TextEffectFound, TextEffectInShort, TextEffects
from contextcliff.records.fact import Fact

_EFFECT = TextEffectFound(
    shared_by="texts",
    texts=8,
    samples=120,
    n_lengths=3,
    correlation=0.12,
    ci_low=0.02,
    ci_high=0.41,
    confidence=0.95,
    size=5.0,
    design_effect=1.48,
    assumed=0.15,
)

WARNING_SENTENCES: tuple[tuple[Fact, str], ...] = (
    (
        TtftJump(tokens=4096, ttft_ms=9300.0, predicted_ms=3000.0, n_requests=20),
        "from 4,096 tokens on the first token takes 3.1 times as long as the time to read the prompt predicts (9.3s against 3.0s, typical times of 20 requests): memory or cache may be short, whatever the score; another load on the server at that time looks the same",
    ),
    (
        TtftSpread(tokens=4096, spread=0.42, shortest_tokens=512, shortest_spread=0.08, n_requests=20),
        "at 4,096 tokens the time to the first token is unsteady: its quartiles are 42% of the median apart (20 requests), against 8% at 512",
    ),
    (
        WiderScores(tokens=4096, std=0.41, baseline_tokens=512, baseline_std=0.12),
        "at 4,096 tokens scores vary more: their standard deviation is 0.41, against 0.12 up to 512",
    ),
    (
        RisingShare(
            kind="failure_spike",
            tokens=4096,
            share=0.4,
            n=40,
            baseline_tokens=512,
            baseline_share=0.05,
            baseline_n=40,
            tag="refusal",
            n_tag=12,
        ),
        "at 4,096 tokens 40% of 40 answers fail, most often by refusal (12), against 5% of 40 up to 512",
    ),
    (
        RisingShare(
            kind="instability", tokens=4096, share=0.4, n=20, baseline_tokens=512, baseline_share=0.0, baseline_n=20
        ),
        "at 4,096 tokens 40% of 20 repeated questions change their score between repeats, against 0% of 20 up to 512",
    ),
    (
        RisingShare(
            kind="unscored_spike",
            tokens=4096,
            share=0.5,
            n=20,
            baseline_tokens=512,
            baseline_share=0.0,
            baseline_n=20,
            tag="timeout",
            n_tag=10,
        ),
        "at 4,096 tokens 50% of 20 samples have no answer that can be scored, most often by timeout (10), against 0% of 20 up to 512",
    ),
    (
        _EFFECT,
        "12% of the variance of the scores lies between texts (95% CI 2%–41%; 8 texts, 120 samples, 3 lengths): by that estimate the 5.0 samples of a text show as much as 3.4 independent ones (design effect 1.5); the tests take 15% at least, whatever the estimate, and the claim is about texts of this kind and not these 8 alone",
    ),
    (
        TextEffectInShort(effect=replace(_EFFECT, lengths_differ=True)),
        "12% of the variance of the scores lies between texts, also because those of one bin differ in length (2%-41%, 8 texts)",
    ),
    (TextEffectInShort(effect=_EFFECT), "12% of the variance of the scores lies between texts (2%-41%, 8 texts)"),
)

WARNINGS = EarlyWarnings(
    warnings=(
        EarlyWarning(
            name="latency_canary",
            context_tokens=4096,
            median_tokens=4090,
            figures={"ratio": 3.1},
            reason=WARNING_SENTENCES[0][0],
        ),
    ),
    prefill=(
        PrefillAtLength(
            context_tokens=4096, n_requests=20, ttft_ms=9300.0, predicted_ms=3000.0, ms_per_token=2.3, spread=0.1
        ),
    ),
    latency_slo=LatencyCap(
        tokens=2048,
        slo_ms=5000.0,
        share=0.8,
        lengths=(WithinLimit(context_tokens=2048, n_requests=20, n_within=20, ci_low=0.86, clears=True),),
    ),
)
EFFECTS = TextEffects(
    correlation=0.12,
    ci_low=0.02,
    ci_high=0.41,
    design_effect=1.48,
    texts=8,
    samples=120,
    in_short=TextEffectInShort(effect=_EFFECT),
    meaning=_EFFECT,
    lengths=(
        TextEffectAtLength(
            context_tokens=512, texts=8, samples=40, correlation=0.1, ci_low=0.0, ci_high=0.5, design_effect=1.4
        ),
    ),
)
