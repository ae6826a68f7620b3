"""What the safe cap comes to: safe, below or undecided, and by which of the limits that were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.answer import limits_in_words
from contextcliff.records.analysis import Limit, SafeCap
from contextcliff.records.generation import NOT_SENT, ScoredSample
from contextcliff.records.kv_cache import GIB, CachedLayers, CacheFacts, DeviceMemory
from contextcliff.reporting.text import catalogue
from tests.analysis.test_kv_limits import KIB
from tests.make import curve, fractional, known, scored_sample


def cap_of(
    scored: Sequence[ScoredSample],
    *,
    cache: CacheFacts | None = None,
    threshold: float = 0.8,
    relative: bool = False,
    slo_ms: float | None = None,
) -> SafeCap:
    settings = AnalysisSettings(threshold=threshold, relative_to_baseline=relative, latency_slo_ms=slo_ms)
    facts = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False, cache=cache)
    return study_of(scored, settings, facts).safe_cap


def taking(length: int, *times: float) -> list[ScoredSample]:
    return [scored_sample(length, 1.0, ttft_ms=0.5 * time, latency_ms=time) for time in times]


def room_for(tokens: float, *, device: str = "") -> CacheFacts:
    """A cache for which there is room for so many tokens."""
    return replace(KIB, device=DeviceMemory(name=device, gib=1.0 + tokens * 4096 / GIB))


PERFECT = curve({1_000: (40, 40), 2_000: (40, 40), 4_000: (40, 40)})
FALLING = curve({1_000: (40, 40), 2_000: (40, 40), 4_000: (0, 40)})


@pytest.mark.parametrize(
    ("results", "outcome", "limited_by", "tokens", "why"),
    [
        ({1_000: (40, 40), 2_000: (40, 40)}, "safe", None, 2_000, ""),
        ({1_000: (40, 40), 2_000: (0, 40)}, "safe", "quality", 1_000, ""),
        ({1_000: (40, 40), 2_000: (32, 40)}, "safe", "quality", 1_000, ""),
        (
            {1_000: (5, 40), 2_000: (0, 40)},
            "below",
            "quality",
            None,
            "the score is 0.12 at the shortest length already",
        ),
        (
            {1_000: (36, 40), 2_000: (0, 40)},
            "undecided",
            "quality",
            None,
            "40 samples at 1,000 tokens do not decide it",
        ),
        ({1_000: (1, 1)}, "undecided", "quality", None, "1 sample at 1,000 tokens does not decide it (score 1.00)"),
        ({1_000: (0, 0, 10), 2_000: (0, 0, 10)}, "undecided", "quality", None, "none of 20 samples was scored"),
        ({1_000: (0, 0, 9), 2_000: (9, 9)}, "undecided", "quality", None, "at 1,000 tokens none of 9 samples"),
        # Were those without a score right, it would not be below.
        ({1_000: (0, 10, 30)}, "undecided", "quality", None, "40 samples at 1,000 tokens do not"),
    ],
)
def test_the_answers_are_safe_below_or_undecided(
    results: Mapping[int, tuple[int, ...]], outcome: str, limited_by: str | None, tokens: int | None, why: str
) -> None:
    cap = cap_of(curve(results))
    assert (cap.outcome, cap.limited_by, cap.tokens) == (outcome, limited_by, tokens)
    assert cap.at_least is (outcome == "safe" and limited_by is None)
    assert str("" if cap.limit is None or cap.limit.why is None else cap.limit.why).startswith(why)


@pytest.mark.parametrize(
    ("scores", "outcome", "why"),
    [
        ({500: [0.12] * 10, 1_000: [0.12] * 10}, "below", "the score is 0.12 at the shortest length"),
        ({500: [0.0] * 10, 1_000: [0.0] * 10}, "below", "the score is 0.00 at the shortest length"),
        ({500: [1.0] * 20, 1_000: [0.1] * 20}, "below", "the score is 0.10 at 1,000 tokens, the shortest beyond"),
        ({500: [0.0] * 4, 1_000: [0.0] * 4}, "undecided", "a baseline takes 5 scored samples at 500 tokens, not 4"),
        ({500: [1.0] * 9}, "undecided", "there is no longer length to compare the baseline with"),
        ({500: [1.0] * 9, 1_000: [1.0] * 3}, "undecided", "3 samples at 1,000 tokens do not decide it (score 1.00)"),
        ({500: [0.12] * 5 + [None] * 20, 1_000: [0.12] * 10}, "undecided", "25 samples at 500"),
    ],
)  # fmt: skip
def test_a_share_of_a_baseline_that_is_hardly_one_is_below(
    scores: Mapping[int, Sequence[float | None]], outcome: str, why: str
) -> None:
    cap = cap_of(fractional(scores), relative=True)
    assert (cap.outcome, cap.limited_by, cap.tokens) == (outcome, "quality", None)
    assert cap.limit is not None
    assert str(cap.limit.why).startswith(why)


def test_what_was_not_sent_hides_no_fall() -> None:
    unsent = [replace(item, failure=NOT_SENT) for item in curve({4_000: (0, 0, 40)})]
    cap = cap_of([*PERFECT[:80], *unsent])
    assert (cap.tokens, cap.at_least, cap.censored) == (2_000, True, False)
    unsent = [replace(item, failure=NOT_SENT) for item in curve({1_000: (0, 0, 37)})]
    begun = cap_of([*curve({1_000: (3, 3)}), *unsent])
    assert begun.limit is not None
    assert (begun.outcome, str(begun.limit.why)) == ("undecided", "1,000 tokens are not decided yet")


@pytest.mark.parametrize(
    ("cache", "outcome", "limited_by", "tokens"),
    [
        (room_for(1_500), "safe", "memory", 1_500),
        (room_for(900), "below", "memory", None),
        (room_for(90_000), "safe", None, 4_000),
        # A device that only tells its memory asks for begun.
        (room_for(1_500, device="a GPU"), "safe", None, 4_000),
        (replace(room_for(1_500), weights_gib=None), "undecided", "memory", None),
        (replace(room_for(1_500), layers=()), "undecided", "memory", None),
        # Its cache does not grow.
        (replace(room_for(90), layers=(CachedLayers(n_layers=1, bytes_per_token=1.0, window=9),)), "safe", None, 4_000),
    ],
)
def test_memory_that_was_asked_for_is_a_limit(
    cache: CacheFacts, outcome: str, limited_by: str | None, tokens: int | None
) -> None:
    cap = cap_of(PERFECT, cache=cache)
    assert (cap.outcome, cap.limited_by, cap.tokens) == (outcome, limited_by, tokens)
    assert cap.ci_low == 4_000  # the answers' own
    assert cap.fraction_of_max == (None if tokens is None else tokens / 8_192)


SHARE = {"relative": True}
LATE = {"slo_ms": 100.0, "threshold": 0.5}


@pytest.mark.parametrize(
    ("scored", "asked", "english", "japanese"),
    [
        (FALLING, {}, "the model earns at least 80% of points in prompts of up to 2,000 tokens",
         "モデルは2,000 トークンまでのプロンプトで得点の 80% 以上を得る"),
        (PERFECT, {}, "the model earns at least 80% of points in prompts of up to at least 4,000 tokens",
         "モデルは少なくとも 4,000 トークンまでのプロンプトで得点の 80% 以上を得る"),
        (curve({1_000: (0, 40)}), {}, "the model earns fewer than 80% of points in prompts of 1,000 tokens",
         "モデルは1,000 トークンのプロンプトで得点の 80% 未満を得る"),
        (curve({1_000: (1, 1)}), {},
         "it is not decided whether the model earns at least 80% of points in prompts of 1,000 tokens",
         "モデルは1,000 トークンのプロンプトで得点の 80% 以上を得るかどうかは未決定"),
        (FALLING, SHARE,
         "the model earns at least 80% as many points in prompts of up to 2,000 tokens as in those of 1,000 tokens",
         "モデルは2,000 トークンまでのプロンプトで得点の、1,000 トークンでの数の 80% 以上を得る"),
        (fractional({500: [1.0] * 20, 1_000: [0.1] * 20}), SHARE,
         "the model earns fewer than 80% as many points in prompts of 1,000 tokens as in those of 500 tokens",
         "モデルは1,000 トークンのプロンプトで得点の、500 トークンでの数の 80% 未満を得る"),
        (fractional({500: [1.0] * 9}), SHARE,
         "it is not decided whether the model earns at least 80% as many points in prompts of more than 500 tokens as"
         " in those of 500 tokens",
         "モデルは500 トークン超のプロンプトで得点の、500 トークンでの数の 80% 以上を得るかどうかは未決定"),
        (fractional({500: [0.1] * 9, 1_000: [0.1] * 9}), SHARE,
         "the model earns fewer than 20% of points in prompts of 500 tokens",
         "モデルは500 トークンのプロンプトで得点の 20% 未満を得る"),
        (PERFECT, {"cache": room_for(900)},
         "Not even prompts of 1,000 tokens, the shortest tested, fit into the memory",
         "テストした最短の 1,000 トークンのプロンプトもメモリに収まらない"),
        (PERFECT, {"cache": replace(KIB, device=DeviceMemory(name="", gib=9.0), layers=())},
         "It is not known whether prompts of 1,000 tokens fit into the memory",
         "1,000 トークンのプロンプトがメモリに収まるかは不明"),
        (taking(500, *[300.0] * 10), LATE,
         "Not even prompts of 500 tokens, the shortest tested, are answered in time",
         "テストした最短の 500 トークンのプロンプトも時間内に回答されない"),
        (taking(500, *[20.0] * 10), LATE, "It is not decided whether prompts of 500 tokens are answered in time",
         "500 トークンのプロンプトが時間内に回答されるかは未決定"),
    ],
)  # fmt: skip
def test_what_was_asked_and_what_came_of_it_is_one_sentence(
    scored: Sequence[ScoredSample], asked: dict[str, Any], english: str, japanese: str
) -> None:
    claim = known(cap_of(scored, **asked).claim)
    assert str(claim).removeprefix("In this test ") == english
    assert claim.said(catalogue("ja")).removeprefix("このテストで、") == japanese


def test_nothing_is_claimed_without_samples() -> None:
    assert cap_of([]).claim is None


def test_a_fall_of_the_answers_below_what_memory_holds_limits() -> None:
    assert cap_of(FALLING, cache=room_for(3_000)).limited_by == "quality"


@pytest.mark.parametrize(
    ("times", "outcome", "why", "more"),
    [
        ([20.0] * 10, "undecided", "10 of 10 requests of 500 tokens ended within 0.1 s, and 14 are needed", 4),
        ([20.0] * 9 + [300.0], "undecided", "9 of 10 requests of 500 tokens ended within 0.1 s, and 22 are needed", 12),
        ([300.0] * 10, "below", "0 of 10 requests of 500 tokens ended within 0.1 s", None),
        ([20.0] * 14, "safe", None, None),
    ],
)
def test_ten_requests_in_time_show_too_little_and_ten_late_ones_enough(
    times: list[float], outcome: str, why: str | None, more: int | None
) -> None:
    cap = cap_of(taking(500, *times), slo_ms=100.0, threshold=0.5)
    (limit,) = (each for each in cap.limits if each.name == "latency")
    assert (limit.outcome, limit.more) == (outcome, more)
    assert why is None or str(limit.why) == why
    assert cap.outcome == outcome
    assert cap.limited_by == (None if outcome == "safe" else "latency")


def test_a_tie_of_limits_that_may_lie_beyond_is_none() -> None:
    samples = [*taking(500, *[20.0] * 20), *taking(1_000, *[20.0] * 20)]
    cap = cap_of(samples, slo_ms=60_000.0)
    assert (cap.tokens, cap.limited_by, cap.at_least) == (1_000, None, True)
    words = "quality at least 1,000 tokens, latency at least 1,000 tokens: no limit is reached in the tested range"
    assert str(limits_in_words(cap)) == words
    late = cap_of([*samples, *taking(2_000, *[90_000.0] * 20)], slo_ms=60_000.0)
    assert (late.tokens, late.limited_by, late.at_least) == (1_000, "latency", False)
    assert str(late.reason).startswith("0 of 20 requests of 2,000 tokens ended within 60 s; by the answers: every")


def test_too_few_requests_in_time_at_a_longer_length_are_no_fall() -> None:
    samples = [*taking(500, *[20.0] * 20), *taking(1_000, *[20.0] * 10)]
    cap = cap_of(samples, slo_ms=60_000.0, threshold=0.5)
    assert (cap.tokens, cap.limited_by, cap.at_least, cap.ci_low) == (500, None, True, 1_000)


@pytest.mark.parametrize(
    ("limits", "cap", "said"),
    [
        (
            (Limit(name="quality", outcome="safe", tokens=4_095), Limit(name="memory", outcome="safe", tokens=1_500)),
            {"outcome": "safe", "limited_by": "memory"},
            "quality 4,095 tokens, memory 1,500 tokens: memory sets the limit",
        ),
        (
            (Limit(name="quality", outcome="safe", tokens=4_095), Limit(name="latency", outcome="undecided")),
            {"outcome": "undecided", "limited_by": "latency"},
            "quality 4,095 tokens, latency undecided: latency is undecided",
        ),
        (
            (Limit(name="quality", outcome="safe", tokens=4_095), Limit(name="memory", outcome="below")),
            {"outcome": "below", "limited_by": "memory"},
            "quality 4,095 tokens, memory none: memory leaves no tested length",
        ),
    ],
)
def test_each_limit_is_said_and_which_one_holds_first(
    limits: tuple[Limit, ...], cap: Mapping[str, object], said: str
) -> None:
    changed = replace(cap_of(PERFECT), limits=limits, **cap)  # type: ignore[arg-type]  # fields of the cap
    assert str(limits_in_words(changed)) == said
