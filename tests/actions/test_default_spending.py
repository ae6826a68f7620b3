"""What is tested and spent where neither lengths nor a budget are given, and what is said of it beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff, of_server, reports
from tests.engines.fake_server import FakeServer, serving

PERFECT = ("engine.law=flat", "engine.ceiling=1.0", "reporting.progress=true")
DEAR = ("model.price.input=100", "model.price.output=100")


def test_what_will_be_tested_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *PERFECT, "model.price.input=1", "model.price.output=1", cwd=tmp_path)
    first, second, *rest = done.stderr.splitlines()
    assert done.returncode == 0
    assert first == "lengths: 512, 1,024, 2,048 tokens"
    assert second.startswith("66 to 1,078 requests, 81,795 to 1,713,")
    assert second.endswith(" tokens, 0.0818 to 1.72 USD")
    assert any(line.startswith("by the rate of the first answers it takes ") for line in rest)


@pytest.mark.parametrize(
    "trials", [(), pytest.param(("task.trials=2",), marks=pytest.mark.slow)], ids=["a search", "a fixed number"]
)
def test_a_model_with_a_price_costs_two_dollars_at_most(trials: tuple[str, ...], tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *PERFECT, *DEAR, *trials, "engine.concurrency=1", cwd=tmp_path)
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
    again = contextcliff(*SIMULATED, *PERFECT, *DEAR, *trials, "engine.concurrency=1", limit, cwd=tmp_path)
    assert limit.startswith("budget.usd=")
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("given", ["budget.usd=none", "budget.usd=null", "task.lengths=[512,1024,2048]"])
def test_a_budget_or_lengths_that_are_given_lift_the_limit(given: str, tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, *PERFECT, *DEAR, given, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (report,) = reports(tmp_path)
    assert report["usage"]["usd"] > 7.0


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
            *(*of_server(server.address, tokenizer), "model=served"),
            *SIMULATED[1:],
            *trials,
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr
    (report,) = reports(tmp_path)
    assert report["max_context_tokens"] is None
    assert report["safe_cap"]["fraction_of_max"] is None
    assert 1_000 < report["safe_cap"]["tokens"] < 2_048
    assert any("the server tells no window: one of 131,072 tokens was assumed" in note for note in report["notes"])
