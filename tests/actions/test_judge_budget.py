"""A judge costs too: it is planned, counted against the budget, and told in what the run took."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.annotation.judge import Judge, longest_answer
from contextcliff.engines.simulated import Simulated
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from tests.actions.test_run import Rating
from tests.commands import SIMULATED, contextcliff, kept, plan_of, reports
from tests.compositions import line_of
from tests.engines.fake_server import serving
from tests.make import scored_sample
from tests.tasks.needles import build, niah, said

FEW = ("task.lengths=[200]", "task.depths=[0.5]", "task.trials=12", "model.price.input=1", "model.price.output=4")
PRICED = (
    *("judge=llm", "engine@judge.engine=simulated", "model@judge.model=smollm2"),
    *("judge.model.price.input=10", "judge.model.price.output=20", "judge.engine.ceiling=1.0"),
)
JUDGED = (*SIMULATED, *FEW, *PRICED)


@pytest.mark.slow
def test_a_plan_counts_a_request_an_answer_and_its_dollars_no_lower_than_the_run_takes(tmp_path: Path) -> None:
    assert contextcliff(*JUDGED, "action=plan", cwd=tmp_path).returncode == 0
    planned = plan_of(tmp_path)
    assert planned["judge"]["requests"] == planned["samples"] == 12
    priced = 10 * planned["judge"]["prompt_tokens"] + 20 * planned["judge"]["completion_tokens"]
    assert planned["judge"]["usd"] == pytest.approx(priced / 1e6)
    computed = planned["prompt_tokens"] - planned["cached_prompt_tokens"]
    assert planned["usd"] > planned["judge"]["usd"] + computed / 1e6
    shown = contextcliff(*JUDGED[:2], *FEW, *PRICED, "action=plan", cwd=tmp_path, env={"COLUMNS": "120"})
    assert "12 requests, at most" in shown.stdout
    assert contextcliff(*JUDGED, cwd=tmp_path).returncode == 0
    usage = reports(tmp_path)[0]["usage"]
    judge = usage["judge"]
    assert planned["judge"]["prompt_tokens"] >= judge["prompt_tokens"]
    assert planned["judge"]["completion_tokens"] >= judge["completion_tokens"]
    assert judge["usd"] == pytest.approx((10 * judge["prompt_tokens"] + 20 * judge["completion_tokens"]) / 1e6)
    own = (usage["prompt_tokens"] + 4 * usage["completion_tokens"]) / 1e6
    assert usage["usd"] == pytest.approx(own + judge["usd"])
    # What is rated is asked no more.
    assert contextcliff(*JUDGED, "action=plan", cwd=tmp_path).returncode == 0
    assert (plan_of(tmp_path)["judge"]["requests"], plan_of(tmp_path)["usd"]) == (0, 0)


@pytest.mark.slow
def test_a_budget_that_the_judge_would_break_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    assert contextcliff(*JUDGED, "action=plan", cwd=tmp_path).returncode == 0
    usd = plan_of(tmp_path)["usd"]
    done = contextcliff(*JUDGED, f"budget.usd={usd / 2}", cwd=tmp_path)
    assert done.returncode == 4
    assert "nothing was sent" in done.stderr
    assert not (tmp_path / "outputs" / "state.db").exists()
    without = contextcliff(*SIMULATED, *FEW, f"budget.usd={usd / 2}", cwd=tmp_path)
    assert without.returncode == 0
    tokens = contextcliff(*JUDGED, "budget.tokens=3000", cwd=tmp_path)
    assert tokens.returncode == 4


def test_a_judge_without_a_price_is_refused_under_a_budget_of_dollars() -> None:
    assert line_of(*JUDGED, "judge.model.price.input=null", "budget.usd=1") == (
        "budget.usd=1: this model has no price; give judge.model.price.input and judge.model.price.output, or take "
        "budget.tokens"
    )


@pytest.mark.slow
def test_a_judge_that_runs_out_of_budget_is_told_and_the_report_is_partial(tmp_path: Path) -> None:
    # A server that counts far more tokens than the prompts have: no plan could know.
    judge = Rating(models=[{"id": "m", "max_model_len": 4096}], overcounts=10)
    with serving(judge) as server:
        asked = (
            *(*SIMULATED, *FEW, "judge=llm", "engine@judge.engine=vllm", "judge.engine.concurrency=1"),
            *(f"judge.engine.base_url={server.address}", "judge.model.name=m"),
        )
        done = contextcliff(*asked, "budget.tokens=12000", cwd=tmp_path)
        (report,) = reports(tmp_path)
        rated = len(server.bodies)
        assert 0 < rated < 12
        assert done.returncode == 5
        assert done.stderr == (
            f"out of budget: the judge was not asked about {12 - rated} of 12 answers; what was answered is kept; the "
            "same command with a new budget goes on\n"
        )
        assert (report["partial"], report["counts"]["completed"]) == (True, 12)
        assert (report["judgement"]["n_judged"], report["judgement"]["n_unjudged"]) == (rated, 12 - rated)
        assert report["usage"]["judge"]["requests"] == rated
        assert report["notes"][0] == (
            f"the run stopped before the judge had rated all: {12 - rated} of 12 answers were not put to it; the same "
            "command goes on"
        )
        analysed = contextcliff(*asked, "action=analyze", cwd=tmp_path)
        assert analysed.returncode == 0
        assert reports(tmp_path)[0]["partial"] is True
        whole = contextcliff(*asked, cwd=tmp_path)
        assert (whole.returncode, whole.stderr) == (0, "")
    (report,) = reports(tmp_path)
    assert (report["partial"], report["judgement"]["n_unjudged"]) == (False, 0)
    assert kept(tmp_path / "outputs" / "state.db") == 24


def test_the_longest_request_is_no_shorter_than_any_that_an_answer_makes() -> None:
    judge = Judge(
        model=Model(name="j"), engine=Simulated(), max_tokens=9, thinking_tokens=0, right_from=7, rubric="Rate it."
    )
    (sample,) = build(niah(lengths=[300], depths=[0.5], trials=1))
    sampling = Sampling(max_tokens=48)
    texts = (longest_answer(sample, sampling), "", "7", "It is 1234567.\n" * 4, "word " * 48)
    asked = [replace(scored_sample(300, 1.0), sample=sample, generation=said(text)) for text in texts]
    longest, *others = (
        request.sample.built_tokens for each in asked for request in judge.requests([each], served=None).values()
    )
    assert longest >= max(others)
