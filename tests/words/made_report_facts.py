"""The figures of a report that take a sentence, and the English sentence of each."""

from __future__ import annotations

from dataclasses import replace

from contextcliff.analysis.fitted_length import FittedLength
from contextcliff.analysis.half_life import HalfLife
from contextcliff.analysis.judgement import Judgement
from contextcliff.analysis.position import PatternName, PositionPattern
from contextcliff.records.analysis import SafeCap, ShapeName, Zone
from contextcliff.records.fact import Fact, Said
from contextcliff.records.report import JudgeUsage, Usage
from contextcliff.records.search_record import Decision, LengthStanding
from contextcliff.reporting.report_facts import (
    AnswersInShort,
    AskedAhead,
    AskedToPair,
    ControlPrompts,
    Crossing,
    EffectiveInShort,
    EveryDepthInShort,
    EvidenceInWords,
    FailureTag,
    FailureTagsFollow,
    FittedInShort,
    GuideRange,
    HalfLifeInShort,
    Headline,
    HealthyRound,
    JudgeInShort,
    JudgeTook,
    NoCliffCanShow,
    NoCliffInRange,
    NoCrossingShown,
    Overall,
    PatternInShort,
    PilotPrompts,
    PromptTokens,
    Recommendation,
    SamplesCompleted,
    SamplesUnscored,
    SearchInShort,
    ShapeInWords,
    StoppedEarly,
    ThresholdName,
    Tokens,
    ZoneNames,
    ZoneRange,
)
from tests.reporting.made_answer_measures import MEASURES

_REASON = Said(text="")


def _cap(
    tokens: int | None,
    *,
    relative: bool = False,
    shape: ShapeName | None = None,
    step: tuple[int, int] | None = None,
    dip: int | None = None,
    settled: bool = True,
    below_from: int | None = None,
    settling: int | None = None,
) -> SafeCap:
    return SafeCap(
        tokens=tokens,
        ci_low=tokens,
        ci_high=below_from,
        censored=False,
        fraction_of_max=None if tokens is None else tokens / 8_192,
        rule="walk_up",
        threshold=0.8,
        relative_to_baseline=relative,
        confidence=0.95,
        verdict="cliff",
        reason=_REASON,
        shape=shape,
        shape_step=step,
        dip_tokens=dip,
        evidence="settled" if settled else "unsettled",
        settling_samples=settling,
    )


def _fitted(
    score: float | None, tokens: int | None, low: int | None, high: int | None, *, censored: bool = False
) -> FittedLength:
    return FittedLength(
        tokens=tokens, ci_low=low, ci_high=high, censored=censored, score=score, reason=Said(text="flat")
    )


def _half_life(tokens: int | None, low: int | None, high: int | None, *, censored: bool = False) -> HalfLifeInShort:
    return HalfLifeInShort(
        half_life=HalfLife(tokens=tokens, ci_low=low, ci_high=high, censored=censored, reason=Said(text="flat"))
    )


def _pattern(pattern: PatternName | None, p_value: float | None) -> PatternInShort:
    return PatternInShort(
        position=PositionPattern(pattern=pattern, p_value=p_value, n_samples=60, reason=Said(text="untested"))
    )


def _judgement(share: float | None) -> JudgeInShort:
    low, high = (None, None) if share is None else (0.05, 0.2)
    return JudgeInShort(
        judgement=Judgement(
            judge="qwen",
            n_judged=0 if share is None else 60,
            n_unjudged=60 if share is None else 0,
            mean_rating=None if share is None else 7.5,
            right_from=6,
            disagreements=6,
            judge_only=4,
            exact_only=2,
            share=share,
            ci_low=low,
            ci_high=high,
        )
    )


_USAGE = Usage(
    prompt_tokens=1_500, cached_tokens=500, computed_prompt_tokens=1_000, completion_tokens=70, usd=None, wall_s=2.0
)
_JUDGE = JudgeUsage(
    requests=60, prompt_tokens=900, cached_tokens=0, computed_prompt_tokens=900, completion_tokens=120, usd=0.25
)


def _standing(tokens: int, decision: Decision, score_sum: float, answered: int) -> LengthStanding:
    return LengthStanding(context_tokens=tokens, decision=decision, score_sum=score_sum, answered=answered)


REPORT_SENTENCES: tuple[tuple[Fact, str], ...] = (
    (
        HealthyRound(),
        "the healthy share, that is the share of healthy rounds; a round is healthy if its text is long enough, is not "
        "in a loop, and is no further from the author (composite of its measures, 0-100) than 99% of the author's own "
        "passages",
    ),
    (
        Crossing(low=2048, high=4096, quantity="healthy"),
        "the healthy share crosses the threshold between 2,048 and 4,096 tokens",
    ),
    (ThresholdName(cap=replace(_cap(4_096), threshold=0.7, quantity="healthy")), "70% of the rounds healthy"),
    (StoppedEarly(lengths_missing=True), "the run stopped before its end; lengths may be missing"),
    (StoppedEarly(lengths_missing=False), "the run stopped before its end; ratings or measures may be missing"),
    (Tokens(n=8_192), "8,192 tokens"),
    (Headline(cap=_cap(4_096)), "4,096 tokens (95% confidence, 50% of the window)"),
    (Headline(cap=_cap(None)), "none - no tested length was shown to be safe"),
    (Recommendation(cap=_cap(4_096)), "keep prompts to 4,096 tokens or fewer"),
    (Recommendation(cap=_cap(None)), "rely on none of the tested lengths"),
    (
        ShapeInWords(cap=_cap(4_096, shape="flat"), n_lengths=5),
        "flat - by the curve that fits best (no test), the score does not change with length, and is at the threshold "
        "or above",
    ),
    (
        ShapeInWords(cap=_cap(4_096, shape="flat", dip=8_192), n_lengths=5),
        "flat - by the curve that fits best (no test), the score does not change with length, and is at the threshold "
        "or above, but for a dip at 8,192 tokens",
    ),
    (
        ShapeInWords(cap=_cap(4_096, shape="cliff", step=(4_090, 8_100)), n_lengths=5),
        "cliff - by the curve that fits best (no test), the score falls through the threshold in one step, between "
        "4,090 and 8,100 tokens",
    ),
    (
        ShapeInWords(cap=_cap(4_096, shape="slope"), n_lengths=5),
        "slope - by the curve that fits best (no test), the score falls with length, over several steps or without "
        "reaching the threshold",
    ),
    (
        ShapeInWords(cap=_cap(None, shape="below"), n_lengths=5),
        "below - by the curve that fits best (no test), the score is under the threshold at every tested length",
    ),
    (
        ShapeInWords(cap=_cap(None, shape="rising"), n_lengths=5),
        "rising - by the curve that fits best (no test), the score goes up with length",
    ),
    (
        ShapeInWords(cap=_cap(4_096, shape="flat"), n_lengths=1),
        "flat - the score of the only tested length is at the threshold or above",
    ),
    (
        ShapeInWords(cap=_cap(None, shape="below"), n_lengths=1),
        "below - the score of the only tested length is under the threshold",
    ),
    (
        EvidenceInWords(cap=_cap(4_096, shape="flat")),
        "settled - every tested length is shown to clear the threshold",
    ),
    (
        EvidenceInWords(cap=_cap(4_096, shape="cliff", below_from=8_192)),
        "settled - the score is shown to be below the threshold from 8,192 tokens on",
    ),
    (
        EvidenceInWords(cap=_cap(None, shape="below", below_from=500)),
        "settled - every tested length is shown to be below the threshold",
    ),
    (EvidenceInWords(cap=_cap(None, shape="below", settled=False)), "unsettled - the tests do not show this shape"),
    (
        EvidenceInWords(cap=_cap(4_096, shape="flat", settled=False, settling=106)),
        "unsettled - the tests do not show this shape; about 106 samples at the length that stopped them are likely to",
    ),
    (ThresholdName(cap=_cap(4_096)), "a score of 0.80"),
    (ThresholdName(cap=_cap(4_096, relative=True)), "80% of the shortest length's score"),
    (NoCliffInRange(longest=4_096), "no cliff up to the longest test (4,096 tokens); the true limit may be higher"),
    (
        NoCrossingShown(low=500),
        "no tested length is shown to be below the threshold; a fall can only lie above 500 tokens",
    ),
    (Crossing(low=None, high=900), "the score is below the threshold by 900 tokens at the latest"),
    (Crossing(low=500, high=900), "the score crosses the threshold between 500 and 900 tokens"),
    (
        ZoneRange(mark="[OK]", zone=Zone(name="stable", min_tokens=0, max_tokens=4_096)),
        "[OK] stable     0 - 4,096 tokens",
    ),
    (
        ZoneRange(mark="[OK]", zone=Zone(name="stable", min_tokens=0, max_tokens=4_096, mean=0.987)),
        "[OK] stable     0 - 4,096 tokens, mean 0.99",
    ),
    (
        ZoneRange(mark="[XX]", zone=Zone(name="degraded", min_tokens=8_192, max_tokens=9_000, mean=0.31, fall=0.689)),
        "[XX] degraded   8,192 - 9,000 tokens, mean 0.31 (69% lower)",
    ),
    (
        ZoneRange(mark="[!!]", zone=Zone(name="transition", min_tokens=4_097, max_tokens=8_191, mean=0.99, fall=-0.05)),
        "[!!] transition 4,097 - 8,191 tokens, mean 0.99 (5% higher)",
    ),
    (
        ZoneNames(confidence=0.95),
        "Stable: every tested length clears the threshold. Degraded: every tested length is shown to be below it, "
        "tested from the longest one down, at 95% confidence together. Transition: neither is shown, or no length was "
        "tested. The fall is that of the mean score, against the baseline where there is one, or else against the "
        "first zone",
    ),
    (
        GuideRange(mark="[OK]", level="safe", first=500, last=1_000, n_lengths=2, n_sure=1),
        "[OK] safe       500 - 1,000 tokens, sure at 1 of 2 lengths",
    ),
    (
        GuideRange(mark="[XX]", level="danger", first=500, last=500, n_lengths=1, n_sure=0),
        "[XX] danger     500 tokens, not sure",
    ),
    (
        GuideRange(mark="[!!]", level="caution", first=500, last=500, n_lengths=1, n_sure=1),
        "[!!] caution    500 tokens",
    ),
    (Overall(mean=0.75, successes=40, scored=60), "mean score 0.750; full score in 40 of 60 samples"),
    (Overall(mean=None, successes=0, scored=0), "no sample was scored"),
    (
        FittedInShort(x80=_fitted(0.8, 2400, 1800, 3000), x50=_fitted(0.5, 5780, 4084, None)),
        "by a fitted curve, 0.80 at 2,400 tokens (1,800-3,000) and 0.50 at 5,780 tokens (4,084 and up)",
    ),
    (
        FittedInShort(x80=_fitted(0.8, 2400, None, 3000), x50=_fitted(0.5, None, 8180, None, censored=True)),
        "by a fitted curve, 0.80 at 2,400 tokens (up to 3,000) and 0.50 beyond the longest test",
    ),
    (
        FittedInShort(x80=_fitted(0.8, None, None, 500), x50=_fitted(0.5, None, None, 500)),
        "by a fitted curve, 0.80 at no tested length and 0.50 at no tested length",
    ),
    (FittedInShort(x80=_fitted(None, None, None, None), x50=_fitted(None, None, None, None)), "none: flat"),
    (
        EffectiveInShort(tokens=4096, threshold=0.856, censored=False),
        "4,096 tokens (RULER's rule: every mean up to it is above 0.856)",
    ),
    (
        EffectiveInShort(tokens=8192, threshold=0.856, censored=True),
        "8,192 tokens, the longest test (RULER's rule: every mean up to it is above 0.856)",
    ),
    (
        EffectiveInShort(tokens=None, threshold=0.856, censored=False),
        "none (RULER's rule: every mean up to it is above 0.856)",
    ),
    (_half_life(1_800, 1_200, 3_000), "1,800 tokens (1,200-3,000)"),
    (_half_life(1_800, 1_200, None, censored=True), "none shown, at least 1,200 tokens"),
    (_half_life(1_800, None, 3_000), "1,800 tokens (up to 3,000)"),
    (_half_life(None, None, None), "none: flat"),
    (_pattern("middle_collapse", 0.008), "middle collapse (p = 0.008)"),
    (_pattern("stable", None), "stable"),
    (_pattern(None, None), "not tested"),
    (NoCliffCanShow(lengths=(500, 900), every=True), "no length can show a cliff (low ceiling or high floor)"),
    (
        NoCliffCanShow(lengths=(500, 900, 1_000, 2_000, 4_000, 8_000), every=False),
        "no cliff can show at 500, 900, 1,000, 2,000 and 2 more tokens (low ceiling or high floor)",
    ),
    (_judgement(0.1), "qwen disagrees in 10% (5%-20%) of 60; mean rating 7.5"),
    (_judgement(None), "qwen rated none of 60 answers"),
    (
        AnswersInShort(measures=MEASURES),
        "F1 0.30 (0.25-0.35), exact match 10% (5%-15%), contain the accepted answer 60% (55%-65%); n = 40",
    ),
    (FailureTag(tag="verbose"), "right, but said in too many words: the accepted answer stands in it"),
    (FailureTagsFollow(), "What the failure tags in the tables below say of an answer"),
    (FailureTag(tag="partial"), "it shares many words with the accepted answer (F1 of 0.5 or more)"),
    (PromptTokens(usage=_USAGE), "1,500, of which 500 cached and 1,000 computed"),
    (JudgeTook(usage=_JUDGE), "60 requests, 900 prompt and 120 completion tokens, 0.25 USD of the cost"),
    (SamplesCompleted(completed=58, planned=60, reused=0), "58 of 60 completed, none reused"),
    (SamplesCompleted(completed=58, planned=60, reused=20), "58 of 60 completed, 20 of them reused"),
    (SamplesUnscored(unscored=2, planned=60), "2 of 60"),
    (ControlPrompts(n=108), "108 prompts"),
    (EveryDepthInShort(tokens=None, reason=Said(text="1,000 tokens")), "none: 1,000 tokens"),
    (EveryDepthInShort(tokens=512, reason=Said(text="1,000 tokens")), "512 tokens: 1,000 tokens"),
    (AskedAhead(n=1), "1 sample was asked ahead and not needed; it is kept"),
    (AskedAhead(n=16), "16 samples were asked ahead and not needed; they are kept"),
    (AskedToPair(n=1), "1 sample was asked only to stay paired with another run"),
    (AskedToPair(n=99), "99 samples were asked only to stay paired with another run"),
    (
        SearchInShort(
            lengths=(
                _standing(512, "passed", 22.0, 22),
                _standing(1_024, "unsettled", 126.5, 154),
                _standing(2_048, "below", 3.0, 22),
                _standing(1_536, "open", 0.0, 0),
            )
        ),
        "512 ok 22/22 · 1,024 unsettled 126.5/154 · 2,048 below 3/22 · 1,536 …",
    ),
    (PilotPrompts(n=40), "40 prompts, which chose the bins and count in no score"),
)
