"""Early warnings: spread, instability, failures, and times to the first token against the shorter lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from contextcliff.analysis.bins import group
from contextcliff.analysis.prefill import slowdown, times_by_length
from contextcliff.findings.warnings import EarlyWarning, EarlyWarnings
from contextcliff.records.generation import ScoredSample
from tests.make import (
    LENGTHS,
    Server,
    analysed,
    asked_of,
    curve,
    finding,
    fractional,
    known,
    repeated,
    scored_sample,
    texts,
    timed,
)


def warnings(samples: Sequence[ScoredSample], *, confidence: float = 0.95) -> dict[str, EarlyWarning]:
    found = finding(analysed(samples, confidence=confidence), EarlyWarnings).warnings
    return {each.name: each for each in found}


def test_a_failure_spike_is_marked_where_it_begins_with_its_commonest_failure() -> None:
    samples = curve({500: (40, 40), 1_000: (38, 40)})
    samples += [scored_sample(2_000, 0.0, failure="refusal") for _ in range(12)]
    samples += [scored_sample(2_000, 1.0) for _ in range(28)]
    (warning,) = warnings([*samples, *curve({4_000: (5, 40)})]).values()
    assert (warning.name, warning.context_tokens) == ("failure_spike", 2_000)
    assert str(warning.reason) == (
        "at 2,000 tokens 30% of 40 answers fail, most often by refusal (12), against 0% of 40 up to 500"
    )
    assert warning.figures == {"share": pytest.approx(0.3), "baseline_share": 0.0}


def test_a_larger_share_that_is_not_shown_or_not_large_is_no_spike() -> None:
    assert warnings(curve({500: (40, 40), 1_000: (36, 40)})) == {}
    assert warnings(curve({500: (2_000, 2_000), 1_000: (1_850, 2_000)})) == {}
    assert warnings(curve({500: (1_200, 2_000), 1_000: (800, 2_000)})) == {}


def test_samples_without_a_score_are_a_spike_of_their_own() -> None:
    found = warnings(curve({500: (20, 20), 1_000: (20, 20), 2_000: (10, 10, 10)}))
    assert set(found) == {"unscored_spike"}
    assert found["unscored_spike"].context_tokens == 2_000
    assert str(found["unscored_spike"].reason) == (
        "at 2,000 tokens 50% of 20 samples have no answer that can be scored, most often by timeout (10), against 0% of"
        " 20 up to 500"
    )


def test_instability_is_the_share_of_questions_that_change() -> None:
    steady, changing = [[1.0, 1.0, 1.0]] * 20, [[1.0, 0.0, 1.0]] * 12 + [[1.0, 1.0, 1.0]] * 8
    found = warnings([*repeated(500, steady), *repeated(1_000, changing)])
    assert found["instability"].context_tokens == 1_000
    assert found["instability"].figures == {"share": pytest.approx(0.6), "baseline_share": 0.0}
    assert str(found["instability"].reason) == (
        "at 1,000 tokens 60% of 20 repeated questions change their score between repeats, against 0% of 20 up to 500"
    )


def test_scores_that_spread_are_marked_where_they_begin_unless_they_are_0_or_1() -> None:
    rng = np.random.default_rng(1)
    narrow, wide = rng.uniform(0.6, 0.7, 30).tolist(), rng.uniform(0.3, 1.0, 30).tolist()
    found = warnings(fractional({500: narrow, 1_000: narrow, 2_000: wide}))
    assert found["score_spread"].context_tokens == 2_000
    assert found["score_spread"].figures["std"] == pytest.approx(float(np.std(wide, ddof=1)))
    assert str(found["score_spread"].reason) == (
        "at 2,000 tokens scores vary more: their standard deviation is 0.20, against 0.03 up to 500"
    )
    assert "score_spread" not in warnings(curve({500: (40, 40), 1_000: (20, 40)}))


def test_samples_of_one_text_are_no_independent_failures() -> None:
    """One text of eight fails at the longer length: forty failures, and one piece of evidence."""
    shared = [*texts(500, *[(10, 10)] * 8), *texts(1_000, (0, 10), *[(10, 10)] * 7)]
    assert warnings(shared) == {}
    alone = curve({500: (80, 80), 1_000: (70, 80)})
    assert "failure_spike" in warnings(alone)


RNG = np.random.default_rng


def asked(server: Server, *, seed: int = 1, n: int = 20) -> list[ScoredSample]:
    return [item for group in asked_of(server, n=n, rng=RNG(seed)) for item in group.samples]


def new_texts(factor: float, *, n: int = 4) -> list[ScoredSample]:
    """New texts of the shortest length, asked at the end."""
    times = Server(factors={500: factor}).times(500, n, RNG(2))
    made = (scored_sample(500, 1.0, ttft_ms=time, latency_ms=time + 250.0) for time in times)
    return [replace(item, sample=replace(item.sample, control="recheck")) for item in made]


def slower(samples: Sequence[ScoredSample]) -> int | None:
    """The length from which on the server is slower."""
    groups = group(samples, designed_lengths=True, bins=1)
    found = slowdown(times_by_length(groups), 0.95)
    return None if found is None else found.begins.asked_tokens


SLOW = asked(Server(factors={4_000: 3.0, 8_000: 3.0}))


def test_a_resource_cliff_is_marked_where_it_begins_though_every_answer_is_right() -> None:
    analysis = analysed(SLOW, controls=new_texts(1.0))
    (warning,) = finding(analysis, EarlyWarnings).warnings
    assert (analysis.safe_cap.tokens, analysis.alarms["latency_canary"]) == (8_000, warning.p_value)
    assert (warning.name, warning.context_tokens) == ("latency_canary", 4_000)
    assert warning.figures["ratio"] == pytest.approx(3.5, rel=0.2)
    assert str(warning.reason).startswith("from 4,000 tokens on the first token takes 3.5 times as long for each token")


@pytest.mark.parametrize(
    ("controls", "why"),
    [
        ([], "no new texts of 500 tokens were answered at the end"),
        (new_texts(1.0, n=3), "no new texts of 500 tokens were answered at the end"),
        (new_texts(3.0), "new texts of 500 tokens, asked at the end, took 2.8 times as long as at first"),
    ],
)
def test_without_new_texts_that_are_as_fast_as_at_first_there_is_no_warning(
    controls: list[ScoredSample], why: str
) -> None:
    found = finding(analysed(SLOW, controls=controls), EarlyWarnings)
    assert found.warnings == ()
    assert why in str(found.not_warned)


def test_a_server_is_slower_where_two_lengths_in_a_row_are() -> None:
    assert slower(SLOW) == 4_000
    assert slower(asked(Server(factors={8_000: 3.0}))) is None
    assert slower(asked(Server(factors={2_000: 3.0}))) is None
    assert slower(asked(Server(token=0.0, fixed=0.0, attention=0.01))) is None


def test_a_part_of_the_prompt_out_of_the_cache_is_taken_off() -> None:
    """Half of each longer prompt was cached: the time is that of the rest, which looks back at the whole."""
    rng, server = RNG(5), Server(fixed=0.0)
    times = {}
    for length in LENGTHS:
        cached = 0 if length == 500 else length // 2
        whole, before = (server.token * n + 0.5 * server.attention * n**2 for n in (length, cached))
        times[length] = ((whole - before) * np.exp(rng.normal(0.0, 0.05, 20))).tolist()
    groups = timed(times, cached={length: [0 if length == 500 else length // 2] * 20 for length in LENGTHS})
    found = times_by_length(groups)
    assert slowdown(found, 0.95) is None
    assert found[-1].rate == pytest.approx(server.token + 0.75 * server.attention * 8_000, rel=0.05)


def test_answers_in_one_piece_have_no_time_to_the_first_token() -> None:
    whole = [replace(item, generation=replace(known(item.generation), streamed=False)) for item in SLOW]
    assert times_by_length(group(whole, designed_lengths=True, bins=1)) == []
