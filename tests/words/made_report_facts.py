"""The figures of a report that take a sentence, and the English sentence of each."""

from __future__ import annotations

from contextcliff.analysis.half_life import HalfLife
from contextcliff.analysis.judgement import Judgement
from contextcliff.analysis.position import PositionPattern
from contextcliff.records.analysis import SafeCap, Zone
from contextcliff.records.fact import Fact, Said
from contextcliff.records.report import JudgeUsage, Usage
from contextcliff.records.search_record import Decision, LengthStanding
from contextcliff.reporting.report_facts import (
    AnswersInShort,
    AskedAhead,
    ControlPrompts,
    Crossing,
    EveryDepthInShort,
    FailureTag,
    FailureTagsFollow,
    GuideRange,
    HalfLifeInShort,
    Headline,
    JudgeInShort,
    JudgeTook,
    NoCliffCanShow,
    NoCliffInRange,
    Overall,
    PatternInShort,
    PilotPrompts,
    PromptTokens,
    SamplesCompleted,
    SamplesUnscored,
    SearchInShort,
    StoppedEarly,
    ThresholdName,
    Tokens,
    VerdictName,
    ZoneRange,
)
from tests.reporting.made_answer_measures import MEASURES

_REASON = Said(text="")


def _cap(tokens: int | None, *, relative: bool = False) -> SafeCap:
    return SafeCap(
        tokens=tokens,
        ci_low=tokens,
        ci_high=None,
        censored=False,
        fraction_of_max=None if tokens is None else tokens / 8_192,
        rule="walk_up",
        threshold=0.8,
        relative_to_baseline=relative,
        confidence=0.95,
        verdict="cliff",
        reason=_REASON,
    )


def _half_life(tokens: int | None, low: int | None, high: int | None, *, censored: bool = False) -> HalfLifeInShort:
    return HalfLifeInShort(
        half_life=HalfLife(tokens=tokens, ci_low=low, ci_high=high, censored=censored, reason=Said(text="flat"))
    )


def _pattern(pattern: str | None, p_value: float | None) -> PatternInShort:
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
    (StoppedEarly(lengths_missing=True), "the run stopped before its end; lengths may be missing"),
    (StoppedEarly(lengths_missing=False), "the run stopped before its end; ratings or measures may be missing"),
    (Tokens(n=8_192), "8,192 tokens"),
    (Headline(cap=_cap(4_096)), "4,096 tokens (95% confidence, 50% of the window)"),
    (Headline(cap=_cap(None)), "none - no tested length was shown to be safe"),
    (VerdictName(verdict="insufficient_evidence"), "insufficient evidence"),
    (ThresholdName(cap=_cap(4_096)), "a score of 0.80"),
    (ThresholdName(cap=_cap(4_096, relative=True)), "80% of the shortest length's score"),
    (NoCliffInRange(longest=4_096), "no cliff up to the longest test (4,096 tokens); the true limit may be higher"),
    (Crossing(low=500, high=None), "the score crosses the threshold at or above 500 tokens"),
    (Crossing(low=None, high=900), "the score is below the threshold by 900 tokens at the latest"),
    (Crossing(low=500, high=900), "the score crosses the threshold between 500 and 900 tokens"),
    (
        ZoneRange(mark="[OK]", zone=Zone(name="stable", min_tokens=0, max_tokens=4_096)),
        "[OK] stable     0 - 4,096 tokens",
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
    (_half_life(1_800, 1_200, 3_000), "1,800 tokens (1,200-3,000)"),
    (_half_life(1_800, 1_200, None, censored=True), "1,800 tokens (1,200 and up), beyond the longest test"),
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
