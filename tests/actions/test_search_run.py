"""A search as a run: the same whatever the order, killed and gone on with, and never paid twice."""

from __future__ import annotations

import signal
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.commands import QUIET, SIMULATED, contextcliff, ended, kept, once, reported, reports, run, started
from tests.engines.fake_server import FakeServer, serving

SEARCH = (
    *("task.trials=auto", "task.haystacks=fresh", "task.lengths=[200,400,800]", "task.depths=[0.0,0.5,1.0]"),
    *("task.max_trials=60", "dataset=synthetic"),
)
CLIFF = (*SIMULATED, *SEARCH, "engine.cliff_tokens=500")
WINDOW = [{"id": "m", "max_model_len": 4096}]


def judged(report: dict[str, Any]) -> Any:
    return {key: report[key] for key in ("safe_cap", "caps", "zones", "bins")}


def generations(folder: Path) -> int:
    return kept(folder / "outputs" / "state.db")


@pytest.mark.slow
def test_another_threshold_goes_as_far_as_the_answers_and_the_run_asks_only_what_is_missing(tmp_path: Path) -> None:
    law = (*SIMULATED, *SEARCH, "engine.law=flat", "engine.ceiling=1.0", "engine.speculation=0")

    def by(threshold: float, *overrides: str) -> tuple[int | None, list[tuple[int, int]], int]:
        run(tmp_path, *law, f"analysis.threshold={threshold}", *overrides)
        (report,) = (each for each in reports(tmp_path) if each["safe_cap"]["threshold"] == threshold)
        shown = [(each["asked_tokens"], each["n_samples"]) for each in report["bins"]]
        return report["safe_cap"]["tokens"], shown, report["counts"]["reused"]

    cap, asked, _ = by(0.8)
    assert cap is not None
    paid = generations(tmp_path)
    for stricter in (0.9, 0.85):  # the shortest length has too few samples for it: the search by it is there
        assert by(stricter, "action=analyze") == (None, asked[:1], asked[0][1])
    assert generations(tmp_path) == paid
    reached, more, reused = by(0.9)
    assert (reached, reused, generations(tmp_path)) == (cap, paid, sum(n for _, n in more))
    assert by(0.8, "action=analyze")[:2] == (cap, asked)
    between, some, _ = by(0.85, "action=analyze")
    assert between == cap
    assert all(n < all_there for (_, n), (_, all_there) in zip(some, more, strict=True))


@pytest.mark.slow
def test_lengths_added_to_a_search_cost_confidence(tmp_path: Path) -> None:
    def by(lengths: list[int], search: str = "walk") -> tuple[list[int], float]:
        run(tmp_path, *CLIFF, f"task.lengths={lengths}".replace(" ", ""), f"search={search}")
        (report,) = (
            each
            for each in reports(tmp_path)
            if (each["search"]["plan"]["lengths"], each["search"]["plan"]["refine"]) == (lengths, search == "refine")
        )
        cap = report["safe_cap"]
        return report["search"]["plan"]["added"], round(cap["confidence"] - cap["lost_confidence"], 6)

    assert by([200, 400, 800]) == ([], 0.95)
    assert by([200, 400, 600, 800]) == ([600], 0.925)
    (page,) = (text for file in tmp_path.rglob("report.md") if "92.5%" in (text := file.read_text(encoding="utf-8")))
    assert "was added after longer ones had been answered" in page
    for _ in range(2):  # again, with its own answers
        assert by([200, 300, 400, 500, 600, 800]) == ([600, 300, 500], 0.90625)
    assert by([200, 400, 800, 1600]) == ([], 0.95)
    assert by([200, 400, 800], "refine") == ([], 0.95)
    assert by([200, 400, 700, 800], "refine") == ([700], 0.9325)


@pytest.mark.slow
def test_a_fixed_design_that_is_topped_up_is_a_later_look_at_half_of_the_error(tmp_path: Path) -> None:
    fixed = (*CLIFF, "search=walk", "task.depths=[0.0,0.25,0.5,0.75,1.0]")

    def lost(trials: int, lengths: str = "[200,400]", *others: str) -> float:
        run(tmp_path, *fixed, f"task.trials={trials}", f"task.lengths={lengths}", *others)
        counted = 5 * trials * len(lengths.split(","))
        (report,) = (each for each in reports(tmp_path) if each["counts"]["planned"] == counted)
        return float(round(report["safe_cap"]["lost_confidence"], 6))

    assert lost(2) == 0.0
    for _ in range(2):  # again, with its own answers
        assert lost(3) == 0.025
    assert lost(4) == 0.0375
    assert lost(4, "[200,400,800]") == 0.0375  # longer lengths are no look at the others
    assert lost(5, "[200,400]", "seed=1") == 0.0


def asking(server: FakeServer, *overrides: str) -> tuple[str, ...]:
    return ("engine=vllm", f"engine.base_url={server.address}", "model=served", *QUIET, *SEARCH, *overrides)


def prompts(server: FakeServer) -> Counter[str]:
    return Counter(str(body["messages"][-1]["content"]) for body in server.bodies)


def served(**behaviour: Any) -> FakeServer:
    return FakeServer(models=WINDOW, counts="/tokenize", **behaviour)


class FallingShort(FakeServer):
    """Finds nothing in prompts that are longer than a page."""

    def answer(self, prompt: str) -> str:
        return "I do not know." if len(prompt) > 2200 else FakeServer.answer(self, prompt)


def falling_short(**behaviour: Any) -> FakeServer:
    return FallingShort(models=WINDOW, counts="/tokenize", **behaviour)


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_search_that_was_killed_inside_a_block_goes_on_and_pays_nothing_twice(
    tmp_path: Path, concurrency: int
) -> None:
    how = (f"engine.concurrency={concurrency}", "engine.speculation=0")
    whole_in, killed_in = tmp_path / "whole", tmp_path / "killed"
    killed_in.mkdir()
    with serving(falling_short()) as server:
        whole = reported(whole_in, *asking(server, *how))
        needed = len(server.bodies)
    assert len(whole["search"]["tested"]) > 2
    with serving(falling_short(pause_s=0.1)) as server:
        for answers in (4, 11):
            process = started(killed_in, *asking(server, *how))
            once(process, partial(lambda least: generations(killed_in) >= least, answers))
            process.send_signal(signal.SIGKILL)
            ended(process)
        server.pause_s = 0.0
        sent, answered = len(server.bodies), generations(killed_in)
        report = reported(killed_in, *asking(server, *how))
        # What was under way when the process died was never answered, and that alone is asked again.
        assert len(server.bodies) - sent == needed - answered
    assert (report["safe_cap"], report["search"]) == (whole["safe_cap"], whole["search"])


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_budget_that_runs_out_leaves_a_partial_report_and_a_new_one_goes_on(tmp_path: Path, concurrency: int) -> None:
    how = (*CLIFF, f"engine.concurrency={concurrency}", "engine.speculation=0")
    whole = reported(tmp_path / "whole", *how)
    usage = whole["usage"]
    folder = tmp_path / "limited"
    folder.mkdir()
    limited = (*how, f"budget.tokens={(usage['prompt_tokens'] + usage['completion_tokens']) * 9 // 10}")
    assert contextcliff(*limited, cwd=folder).returncode == 5
    assert reports(folder)[0]["partial"] is True
    report = reported(folder, *limited)
    assert judged(report) == judged(whole)
    assert (report["partial"], report["usage"]["prompt_tokens"]) == (False, usage["prompt_tokens"])
