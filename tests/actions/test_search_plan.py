"""The plan of a search, and a search within a budget: what is decided when it is used up is the answer."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from contextcliff.actions.ahead import search_ahead
from contextcliff.actions.prepare import deployment, prepare
from contextcliff.execution.budget import Budget, Meter
from contextcliff.execution.store import Store
from contextcliff.models.model import Price
from contextcliff.models.sampling import Sampling
from contextcliff.statistics.power import sequential_power
from tests import compositions
from tests.commands import SIMULATED, contextcliff, plan_of, reports

PERFECT = ("engine.law=flat", "engine.ceiling=1.0", "engine.speculation=0")
SMALL = ("task.lengths=[300,600]", "task.depths=[0.0,0.5,1.0]", "task.max_trials=60")
PRICED = ("model.price.input=2", "model.price.output=10")
SIZES = ("samples", "prompt_tokens", "usd", "wall_s")


def planned(folder: Path, *overrides: str) -> dict[str, Any]:
    done = contextcliff(*SIMULATED, *SMALL, *overrides, "action=plan", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return plan_of(folder)


def power(rate: float) -> Any:
    return sequential_power(rate, threshold=0.8, alpha=0.025, block=3, most=60)


def test_a_plan_has_what_to_expect_the_least_and_the_most(tmp_path: Path) -> None:
    plan = planned(tmp_path, *PRICED, "action.prefill_tokens_per_s=100", "search=refine")
    assert [tuple(plan[course]) for course in ("least", "most")] == [SIZES, SIZES]
    assert plan["least"]["samples"] == 2 * 24  # 24 right ones pass 0.8 at an error of 0.025
    # All that may be asked at 300, at 600 and at each of 450, 525, 562, 581 and 590.
    assert plan["most"]["samples"] == 7 * 60
    assert plan["least"]["samples"] < plan["samples"] < plan["search"]["if_it_falls"]["samples"] < 420
    assert plan["least"]["usd"] < plan["usd"] < plan["most"]["usd"]
    assert plan["least"]["wall_s"] < plan["wall_s"] < plan["most"]["wall_s"]
    course = plan["search"]
    assert (course["block"], course["most_samples"], course["refine"]) == (3, 60, True)
    assert (course["score"], course["falls_to"], course["falls_at_tokens"]) == (0.98, 0.05, 600)


@pytest.mark.slow
def test_each_length_of_a_search_is_planned_at_the_price_of_its_tier(tmp_path: Path) -> None:
    tier = "model.price.tiers=[{above: 400, input: 20, output: 0}]"
    plan = planned(tmp_path, "model.price.input=2", "model.price.output=0", tier, "search=refine")
    short, long = plan["least"]["usd"], plan["most"]["usd"]
    assert short == pytest.approx(24 * (2 * 297 + 20 * 597) / 1e6, rel=0.02)
    dear = sum(length - 3 for length in (450, 525, 562, 581, 590, 600))
    assert long == pytest.approx(60 * (2 * 297 + 20 * dear) / 1e6, rel=0.02)
    assert short < plan["usd"] < long


def test_the_expected_run_is_that_of_the_walks_own_test(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    known = power(0.98)
    first, second = known.expected_samples, known.above * known.expected_samples
    assert [each["samples"] for each in plan["bins"]] == [round(first), round(second)]
    # Refining after a failure of the second length is counted too, and hardly ever needed.
    assert plan["samples"] == pytest.approx(first + second, abs=1.5)
    assert plan["prompt_tokens"] == pytest.approx(297 * first + 597 * second, rel=0.02)
    clears = {f"{rate:.2f}": pytest.approx(power(rate).above) for rate in (0.98, 0.95, 0.9)}
    assert [each["clears"] for each in plan["bins"]] == [clears, clears]


def test_a_walk_that_is_not_refined_has_the_whole_error_to_spend(tmp_path: Path) -> None:
    plan = planned(tmp_path, "search=walk")
    whole = sequential_power(0.9, threshold=0.8, alpha=0.05, block=3, most=60)
    assert plan["bins"][0]["clears"]["0.90"] == pytest.approx(whole.above)
    assert plan["most"]["samples"] == 2 * 60


def test_a_baseline_has_nothing_to_clear(tmp_path: Path) -> None:
    plan = planned(tmp_path, "analysis.relative_to_baseline=true")
    assert plan["bins"][0]["clears"] is None
    assert plan["bins"][1]["clears"]["0.98"] > 0.9


@pytest.mark.slow
def test_a_model_without_a_mistake_takes_the_least(tmp_path: Path) -> None:
    least = planned(tmp_path, *PERFECT)["least"]
    assert contextcliff(*SIMULATED, *SMALL, *PERFECT, cwd=tmp_path).returncode == 0
    (report,) = reports(tmp_path)
    assert report["counts"]["planned"] == least["samples"]
    assert report["usage"]["prompt_tokens"] == pytest.approx(least["prompt_tokens"], rel=0.01)
    after = planned(tmp_path, *PERFECT)
    assert (after["samples"], after["least"]["samples"], after["most"]["samples"]) == (0, 0, 0)
    assert after["stored"] == least["samples"]


@pytest.mark.slow
def test_when_the_minutes_are_over_nothing_more_is_sent_and_the_report_says_where_it_stopped(tmp_path: Path) -> None:
    given = (*SIMULATED, *SMALL, *PERFECT, "engine.delay_ms=100", "engine.concurrency=1")
    assert contextcliff(*given, "task.lengths=[300]", "engine.delay_ms=0", cwd=tmp_path).returncode == 0
    # 300 is answered before, and 24 answers at 600 take longer than the budget.
    done = contextcliff(*given, "reporting.console=full", "budget.minutes=0.02", cwd=tmp_path)
    assert done.returncode == 5
    assert done.stderr == "out of budget: what was answered is kept; the same command with a new budget goes on\n"
    report = longest(tmp_path)
    assert 24 < report["counts"]["planned"] <= 48
    assert report["counts"]["completed"] < 48
    assert report["safe_cap"]["tokens"] == pytest.approx(300, abs=5)
    assert report["safe_cap"]["verdict"] == "insufficient_evidence"
    page = tmp_path / "outputs" / "contextcliff" / report["run_id"] / "report.md"
    for shown in (done.stdout, page.read_text(encoding="utf-8")):
        assert re.search(r"the run ended (with \d+ samples )?before (it|the next length) was decided", joined(shown))
    assert re.match(r"SAFE CAP: at least \d+ tokens \(PARTIAL: stopped by the budget\)", done.stdout)
    assert contextcliff(*given, "engine.delay_ms=0", cwd=tmp_path).returncode == 0
    report = longest(tmp_path)
    assert report["counts"]["planned"] == report["counts"]["completed"] == 48
    assert report["safe_cap"]["censored"]


def joined(text: str) -> str:
    return " ".join(text.split())


def longest(folder: Path) -> dict[str, Any]:
    """The report of the run with the longest prompts."""
    return max(reports(folder), key=lambda report: report["bins"][-1]["max_tokens"])


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def timed(clock: Clock) -> Meter:
    return Meter(Budget(minutes=2), Price(), sampling=Sampling(), clock=clock)


def test_a_request_that_failed_is_not_repeated_after_the_last_moment() -> None:
    clock = Clock()
    meter = timed(clock)
    clock.now_s = 100.0
    assert meter.may_repeat(after_s=19.0)
    assert not meter.ran_out
    assert not meter.may_repeat(after_s=20.0)
    assert meter.ran_out


def test_what_is_stored_counts_neither_in_the_least_nor_in_the_most(tmp_path: Path) -> None:
    """Without any answer, the least is what was prepared: the first blocks, as many as a perfect model needs."""
    invocation = compositions.built("engine=simulated", "tracking=none", *SMALL)

    async def ahead() -> tuple[list[str], list[str]]:
        async with invocation.engine.open(deployment(invocation)) as session:
            identity = invocation.identify()
            prepared = prepare(invocation, identity, own=session.tokenizer, served=session.served)
            assert prepared.search is not None
            with Store(tmp_path) as store:
                found = search_ahead(invocation, identity, prepared, prepared.search, store)
            return [item.key for item in found.least], [item.key for item in prepared.planned]

    least, first = asyncio.run(ahead())
    assert sorted(least) == sorted(first)


@pytest.mark.slow
def test_a_search_is_refused_only_where_its_least_run_does_not_fit(tmp_path: Path) -> None:
    least = planned(tmp_path)["least"]
    enough = least["prompt_tokens"] + 48 * least["samples"]
    done = contextcliff(*SIMULATED, *SMALL, f"budget.tokens={enough - 1}", cwd=tmp_path)
    assert done.returncode == 4
    assert done.stderr == (
        f"error: budget.tokens={enough - 1:,}: even the search of a model without a mistake can take {enough:,} "
        "tokens; nothing was sent: raise the budget, or ask for fewer or shorter prompts (action=plan shows what they "
        "take)\n"
    )
    assert contextcliff(*SIMULATED, *SMALL, *PERFECT, f"budget.tokens={enough}", cwd=tmp_path).returncode == 0
