"""What a run would take, and that it takes no more than it may."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from contextcliff.engines.openai.http import KNOWN_VARIABLES
from contextcliff.execution.budget import Budget, Meter, OverBudgetError, paid_for
from contextcliff.execution.schedule import in_prefix_order, shared_tokens
from contextcliff.execution.store import PlannedSample
from contextcliff.models.model import Price, PriceTier
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from tests.commands import QUIET, SIMULATED, TEN_DEPTHS, contextcliff, plan_of, reports
from tests.tasks.needles import build, niah, prompt, said

FIXED = ("task.trials=4", "task.haystacks=1", TEN_DEPTHS)
"""Ten depths, forty samples a length: one haystack, whose prefixes are shared."""
PRICED = ("model.price.input=2", "model.price.output=10", "model.price.cached_input=0.5")
KEYS = "samples prompt_tokens cached_prompt_tokens completion_tokens usd detectable_drop bins".split()
SAMPLES = build(niah(lengths=[300], depths=[0.0, 0.5, 1.0], trials=2))
PLANNED = [PlannedSample(sample=sample, prompt_sha256=str(i), key=str(i)) for i, sample in enumerate(SAMPLES)]


@pytest.mark.slow
def test_a_plan_says_what_a_run_then_sends(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *FIXED, *PRICED, "action=plan", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    planned = plan_of(tmp_path)
    assert set(KEYS) <= set(planned)
    assert not (tmp_path / "outputs" / "state.db").exists()
    assert contextcliff(*SIMULATED, *FIXED, *PRICED, cwd=tmp_path).returncode == 0
    (report,) = reports(tmp_path)
    assert planned["samples"] == report["counts"]["planned"] == 120
    assert abs(planned["prompt_tokens"] - report["usage"]["prompt_tokens"]) < 0.01 * planned["prompt_tokens"]
    assert planned["completion_tokens"] >= report["usage"]["completion_tokens"]
    assert [each["samples"] for each in planned["bins"]] == [40, 40, 40]
    assert (planned["least"], planned["most"], planned["search"]) == (None, None, None)


@pytest.mark.slow
@pytest.mark.llm
def test_a_plan_on_the_embedded_model_knows_its_cache_and_its_tokens(tmp_path: Path) -> None:
    asked = ("task.lengths=[512,7992]", "kv_policy=q8_0", "task.trials=1", "task.depths=[0.5]")
    done = contextcliff(*QUIET, "action=plan", *asked, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    planned = plan_of(tmp_path)
    # 30 layers, 3 heads of 64 values each for keys and for values, 8.5 bits a value.
    expected = 2 * 30 * 3 * 64 * 8.5 / 8 * (7992 + 48) / 2**30
    assert planned["bins"][1]["kv_gib"] == pytest.approx(expected)
    assert planned["tokenizer"].startswith("llamacpp:")


def test_what_a_cache_saves_is_what_neighbours_share() -> None:
    ordered = in_prefix_order(SAMPLES)
    by_text = 0.0
    for earlier, later in pairwise(ordered):
        one, other = prompt(earlier).user, prompt(later).user
        common = next(
            (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
        )
        by_text += later.built_tokens * common / len(other)
    assert sum(shared_tokens(ordered)) == pytest.approx(by_text, rel=0.05)


def test_a_run_beyond_its_budget_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *FIXED, "budget.tokens=100000", cwd=tmp_path)
    assert done.returncode == 4
    assert done.stderr.startswith("error: budget.tokens=100,000: this run can take 148,")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_dollars_need_a_price(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, "budget.usd=1", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "error: budget.usd=1: this model has no price; give model.price.input and model.price.output, "
        "or take budget.tokens\n"
    )


def meter(**limits: float) -> Meter:
    return Meter(Budget(**limits), Price(input=1e6, output=1e6), sampling=Sampling(max_tokens=10))  # type: ignore[arg-type]


def costing(tokens: int) -> Generation:
    return replace(said("9"), prompt_tokens=tokens, completion_tokens=0)


def one_by_one(metered: Meter, generation: Callable[[PlannedSample], Generation | None]) -> int:
    """How many can be paid, each settled before the next one is sent."""
    sent = 0
    for item in PLANNED:
        if not metered.reserve(item):
            break
        metered.settle(item, generation(item))
        sent += 1
    return sent


@pytest.mark.parametrize(
    ("tokens", "generation", "sent"),
    [
        (6 * 310, lambda item: costing(3 * item.sample.built_tokens), 2),
        (3 * 320, lambda _: said("9"), len(PLANNED)),
        (2 * 310, lambda _: None, 2),
    ],
    ids=["real counts use it up", "real counts leave room in it", "without an answer the worst is kept"],
)
def test_a_budget_runs_out_by_what_was_really_used(
    tokens: int, generation: Callable[[PlannedSample], Generation | None], sent: int
) -> None:
    metered = meter(tokens=tokens)
    assert one_by_one(metered, generation) == sent
    assert metered.ran_out is (sent < len(PLANNED))


def test_what_is_in_flight_counts_at_its_worst_and_may_give_some_of_it_back() -> None:
    metered = meter(usd=3.5 * 310)
    assert [metered.reserve(item) for item in PLANNED[:4]] == [True, True, True, False]
    assert not metered.ran_out
    metered.settle(PLANNED[0], said("9"))
    assert metered.reserve(PLANNED[3])


def test_a_budget_has_run_out_where_nothing_under_way_can_give_some_of_it_back() -> None:
    metered = meter(usd=0.5 * 310)
    assert not metered.reserve(PLANNED[0])
    assert metered.ran_out


def test_when_the_time_is_over_nothing_more_is_sent() -> None:
    now = [0.0]
    metered = Meter(Budget(minutes=1.0), Price(), sampling=Sampling(), clock=lambda: now[0])
    assert metered.reserve(PLANNED[0])
    now[0] = 60.0
    assert not metered.reserve(PLANNED[1])
    assert metered.ran_out


def test_the_limit_itself_is_allowed() -> None:
    metered = meter()
    exactly = metered.worst(PLANNED)
    assert exactly.usd is not None
    meter(tokens=exactly.tokens, usd=exactly.usd).refuse_beyond(PLANNED)
    for less in ({"tokens": exactly.tokens - 1}, {"usd": 0.99 * exactly.usd}):
        with pytest.raises(OverBudgetError):
            meter(**less).refuse_beyond(PLANNED)


TIERED = Price(input=1e6, output=1e6, tiers=(PriceTier(above=250, input=3e6),))


def test_a_budget_is_refused_by_the_price_of_the_tier_that_its_prompts_reach() -> None:
    short = [PlannedSample(sample=each, prompt_sha256="", key="") for each in build(niah(lengths=[200], trials=2))]
    tokens, cheap = (sum(item.sample.built_tokens for item in items) for items in (PLANNED, short))
    answers = 10 * (len(PLANNED) + len(short))
    usd = 3 * tokens + cheap + answers
    enough, less = (Meter(Budget(usd=each), TIERED, sampling=Sampling(max_tokens=10)) for each in (usd, usd - 1))
    enough.refuse_beyond([*PLANNED, *short])
    with pytest.raises(OverBudgetError):
        less.refuse_beyond([*PLANNED, *short])


def test_each_answer_is_paid_for_by_its_own_tier_and_what_its_prompt_wrote_to_the_cache() -> None:
    price = replace(TIERED, cached_input=0.0, cache_write=2e6)
    read, written = replace(costing(300), cached_tokens=100, written_tokens=0), replace(costing(200), written_tokens=50)
    assert paid_for([read, written, costing(200)], price) == 3 * 200 + (150 + 2 * 50) + 2 * 200
    metered = Meter(Budget(usd=1e4), price, sampling=Sampling(max_tokens=10))
    assert metered.worst(PLANNED[:1]).usd == 3 * PLANNED[0].sample.built_tokens + 10


def test_a_simulated_model_costs_nothing_but_by_prices_that_are_given_by_hand(tmp_path: Path) -> None:
    few = ("task.lengths=[512]", "task.depths=[0.5]", "task.trials=1", "model=gpt", "tokenizer=server")
    assert contextcliff(*SIMULATED, *few, "output_dir=preset", cwd=tmp_path).returncode == 0
    assert contextcliff(*SIMULATED, *few, "model.price.output=1000", "output_dir=given", cwd=tmp_path).returncode == 0
    preset, given = (reports(tmp_path / folder)[0]["usage"]["usd"] for folder in ("preset", "given"))
    assert preset is None
    assert given > 0


# Nothing answers behind this proxy: a request to a hosted service would fail, and be seen to.
NO_NETWORK = {
    **dict.fromkeys(KNOWN_VARIABLES, ""),
    "HF_HUB_OFFLINE": "1",
    "TIKTOKEN_CACHE_DIR": "/nowhere",
    **dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9"),
}


def planned(folder: Path, *overrides: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    done = contextcliff("action=plan", *QUIET, *overrides, cwd=folder, env=NO_NETWORK)
    file = folder / "outputs" / "plan.json"
    return done, json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


@pytest.mark.parametrize("preset", ["openai", "openrouter", "nvidia_nim", "gemini", "zai"])
def test_a_hosted_model_is_planned_for_without_its_host(preset: str, tmp_path: Path) -> None:
    done, plan = planned(tmp_path, f"engine={preset}", "model=gpt", "task.lengths=[512,1024,2048]")
    assert (done.returncode, done.stderr) == (0, "")
    assert (plan["model"], plan["engine"], plan["least"]["samples"]) == ("gpt-5", preset, 66)
    assert plan["usd"] > 0
    assert "no tokenizer can be loaded here: tokens are estimated" in plan["notes"]
    assert any(note.startswith("the run will stop at once: engine.api_key_env: ") for note in plan["notes"])


@pytest.mark.slow
def test_a_plan_of_a_preset_is_priced_by_what_each_prompt_reaches(tmp_path: Path) -> None:
    fixed = ("engine=gemini", "model=gemini", "task.lengths=[400,800]", "task.depths=[0.5]", "task.trials=1")
    _, plain = planned(tmp_path, *fixed)
    computed = plain["prompt_tokens"] - plain["cached_prompt_tokens"]
    flat = 0.3 * computed + 0.03 * plain["cached_prompt_tokens"] + 2.5 * plain["completion_tokens"]
    assert plain["usd"] == pytest.approx(flat / 1e6)
    usd = {}
    for above in (1, 600, 10_000):
        tier = f"model.price.tiers=[{{above: {above}, input: 3, cached_input: 0.3, output: 25}}]"
        usd[above] = planned(tmp_path, *fixed, tier)[1]["usd"]
    assert usd[1] == pytest.approx(10 * flat / 1e6)
    assert usd[10_000] == pytest.approx(flat / 1e6)
    assert 0.6 * usd[1] < usd[600] < 0.8 * usd[1]


@pytest.mark.parametrize(
    ("tier", "told"),
    [
        ("{above: 5, inpt: 1}", "model.price.tiers[0].inpt: unknown key; did you mean model.price.tiers[0].input?"),
        ("{above: 0}", "model.price.tiers[0].above=0: must be greater than 0"),
        ("{input: 1}", "model.price.tiers[0].above: missing; give model.price.tiers[0].above=VALUE"),
    ],
)
def test_a_tier_that_is_none_is_one_line(tier: str, told: str, tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, f"model.price.tiers=[{tier}]", "action=plan", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"error: {told}\n")


def test_a_tokenizer_that_is_asked_for_and_not_to_be_had_is_an_error(tmp_path: Path) -> None:
    done, _ = planned(tmp_path, "engine=openai", "model=gpt", "tokenizer=tiktoken")
    assert done.returncode == 1
    assert done.stderr.startswith("error: tokenizer.name=o200k_base: tiktoken fetches its vocabulary")


def test_a_server_that_is_not_there_yet_is_planned_for_by_what_is_known(tmp_path: Path) -> None:
    done, plan = planned(
        tmp_path, "engine=vllm", "model=qwen", "task.lengths=[512,1024,2048]", "engine.base_url=http://127.0.0.1:9"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (plan["least"]["samples"], plan["tokenizer"]) == (66, "words")
    assert plan["notes"][0].startswith(
        "tokens are estimated: engine.base_url=http://127.0.0.1:9/v1: can't be reached ("
    )


def test_a_server_that_is_not_there_and_has_to_tell_its_model_is_an_error(tmp_path: Path) -> None:
    done, plan = planned(tmp_path, "engine=vllm", "model=served", "engine.base_url=http://127.0.0.1:9")
    assert (done.returncode, plan) == (1, {})
    assert done.stderr.startswith("error: engine.base_url=http://127.0.0.1:9/v1: can't be reached (")
