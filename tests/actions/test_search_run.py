"""A search as a run: the same whatever the order, killed and gone on with, and never paid twice."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.actions.test_run import kept
from tests.actions.test_stopped_run import ended, once, started
from tests.commands import QUIET, SIMULATED, contextcliff, reports, samples
from tests.engines.fake_server import FakeServer, serving

SEARCH = (
    *("task.trials=auto", "task.haystacks=fresh", "task.lengths=[256,512,1024]", "task.depths=[0.0,0.5,1.0]"),
    *("task.max_trials=60", "dataset=synthetic"),
)
CLIFF = (*SIMULATED, *SEARCH, "engine.cliff_tokens=700")
WINDOW = [{"id": "m", "max_model_len": 4096}]


def decisions(report: dict[str, Any]) -> Any:
    return {key: report[key] for key in ("safe_cap", "caps", "zones", "search")}


def run(folder: Path, *overrides: str, code: int = 0) -> dict[str, Any]:
    """The report of a run in a folder of its own name."""
    done = contextcliff(*overrides, cwd=folder)
    assert done.returncode == code, done.stderr
    (report,) = reports(folder)
    return report


def test_any_concurrency_and_any_speculation_give_the_same_samples_and_decisions(tmp_path: Path) -> None:
    seen = []
    for concurrency, speculation in ((1, "0"), (8, "null"), (64, "200"), (64, "0")):
        folder = tmp_path / f"{concurrency} {speculation}"
        folder.mkdir()
        how = (f"engine.concurrency={concurrency}", f"engine.speculation={speculation}", "engine.delay_ms=4")
        report = run(folder, *CLIFF, *how)
        lines = [{**line, "ttft_ms": 0, "latency_ms": 0} for line in samples(folder)]
        counts = {key: report["counts"][key] for key in ("planned", "completed", "unscored")}
        seen.append((decisions(report), report["bins"], counts, lines))
    assert all(other == seen[0] for other in seen[1:])
    assert len(seen[0][3]) == seen[0][2]["planned"]


def test_a_run_repeated_sends_nothing_and_says_the_same(tmp_path: Path) -> None:
    first = run(tmp_path, *CLIFF)
    before = kept(tmp_path / "outputs" / "state.db")
    again = run(tmp_path, *CLIFF)
    assert kept(tmp_path / "outputs" / "state.db") == before
    assert decisions(again) == decisions(first)
    assert again["counts"]["reused"] == again["counts"]["completed"]


def test_a_larger_max_trials_tops_an_unsettled_length_up(tmp_path: Path) -> None:
    law = (*SIMULATED, *SEARCH, "engine.law=flat", "engine.ceiling=0.86", "engine.speculation=0")
    small = run(tmp_path, *law, "task.max_trials=6", "label=small")
    done = contextcliff(*law, "task.max_trials=6", "task.max_trials=300", "label=small", cwd=tmp_path)
    assert done.returncode == 2  # another search: a label names one configuration
    folder = tmp_path / "topped"
    folder.mkdir()
    assert contextcliff(*law, "task.max_trials=6", f"output_dir={folder}", cwd=tmp_path).returncode == 0
    assert contextcliff(*law, "task.max_trials=300", f"output_dir={folder}", cwd=tmp_path).returncode == 0
    by_planned = sorted(reports(folder), key=lambda report: int(report["counts"]["planned"]))
    assert by_planned[0]["counts"]["planned"] == small["counts"]["planned"] == 6
    assert by_planned[1]["counts"]["reused"] == 6
    assert by_planned[1]["counts"]["planned"] > 6


def asking(server: FakeServer, *overrides: str) -> tuple[str, ...]:
    return ("engine=vllm", f"engine.base_url={server.address}", "model=served", *QUIET, *SEARCH, *overrides)


def prompts(server: FakeServer) -> Counter[str]:
    return Counter(str(body["messages"][-1]["content"]) for body in server.bodies)


def served(**behaviour: Any) -> FakeServer:
    return FakeServer(models=WINDOW, counts="/tokenize", **behaviour)


class FallingShort(FakeServer):
    """Finds nothing in prompts that are longer than a page."""

    def answer(self, prompt: str) -> str:
        return "I do not know." if len(prompt) > 3000 else FakeServer.answer(self, prompt)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_search_that_was_killed_inside_a_block_goes_on_and_pays_nothing_twice(
    tmp_path: Path, concurrency: int
) -> None:
    (tmp_path / "undisturbed").mkdir()
    (tmp_path / "killed").mkdir()
    how = (f"engine.concurrency={concurrency}", "engine.speculation=0")
    with serving(FallingShort(models=WINDOW, counts="/tokenize")) as server:
        whole = run(tmp_path / "undisturbed", *asking(server, *how))
        needed = len(server.bodies)
    with serving(FallingShort(models=WINDOW, counts="/tokenize", pause_s=0.1)) as server:
        killed_at = []
        for answers in (4, 11, 20):
            process = started(tmp_path / "killed", *asking(server, *how))
            store = tmp_path / "killed" / "outputs" / "state.db"
            once(process, lambda answers=answers: kept(store) >= answers)  # type: ignore[misc]
            process.send_signal(signal.SIGKILL)
            ended(process)
            killed_at.append(kept(store))
        server.pause_s = 0.0
        sent_before = len(server.bodies)
        report = run(tmp_path / "killed", *asking(server, *how))
        # What was under way when the process died was never answered, and only that is asked again.
        assert len(server.bodies) - sent_before == needed - killed_at[-1]
        assert len(server.bodies) - needed <= 3 * concurrency
        assert set(prompts(server)) == {prompt for prompt in prompts(server)}
    assert whole["search"]["tested"]
    assert decisions(report) == decisions(whole)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_leaves_a_partial_report_and_the_same_command_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    with serving(FallingShort(models=WINDOW, counts="/tokenize", pause_s=0.1)) as server:
        how = asking(server, "engine.concurrency=4")
        process = started(tmp_path, *how)
        once(process, lambda: kept(tmp_path / "outputs" / "state.db") >= 7)
        process.send_signal(number)
        assert ended(process)[0] == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
        (partial,) = reports(tmp_path)
        assert partial["partial"] is True
        assert partial["search"]["tested"][-1]["decision"] == "open"
        server.pause_s = 0.0
        whole = run(tmp_path, *how)
        assert whole["partial"] is False
        assert whole["search"]["tested"][-1]["decision"] != "open"
        assert set(prompts(server).values()) <= {1, 2}
        assert sum(prompts(server).values()) <= kept(tmp_path / "outputs" / "state.db") + 4


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_budget_that_runs_out_leaves_a_partial_report_and_a_new_one_goes_on(tmp_path: Path, concurrency: int) -> None:
    how = (*CLIFF, f"engine.concurrency={concurrency}", "engine.speculation=0")
    whole_folder = tmp_path / "whole"
    whole_folder.mkdir()
    whole = run(whole_folder, *how)
    spent = whole["usage"]["prompt_tokens"] + whole["usage"]["completion_tokens"]
    tokens, codes = spent * 2 // 3, []
    for _ in range(4):
        done = contextcliff(*how, f"budget.tokens={tokens}", cwd=tmp_path)
        codes.append(done.returncode)
        if done.returncode == 0:
            break
    assert codes[:2] == [5, 0], done.stderr
    (report,) = [each for each in reports(tmp_path / "outputs")]
    assert decisions(report) == decisions(whole)
    assert (report["partial"], report["usage"]["prompt_tokens"]) == (False, whole["usage"]["prompt_tokens"])


def test_a_budget_is_not_used_up_by_samples_that_only_wait_for_their_prefix(tmp_path: Path) -> None:
    how = (*SIMULATED, *SEARCH, "engine.law=flat", "engine.ceiling=1.0", "task.haystacks=1", "engine.concurrency=64")
    free = tmp_path / "free"
    free.mkdir()
    whole = run(free, *how, "engine.speculation=0")
    spent = whole["usage"]["prompt_tokens"] + whole["usage"]["completion_tokens"]
    report = (
        run(tmp_path / "..", *how, "engine.speculation=0", f"budget.tokens={spent + 5000}", f"output_dir={tmp_path}/b")
        if False
        else None
    )
    done = contextcliff(*how, "engine.speculation=0", f"budget.tokens={spent + 5000}", cwd=tmp_path)
    assert (done.returncode, report) == (0, None)


def test_faults_that_persist_count_against_both_claims_and_are_asked_again(tmp_path: Path) -> None:
    lost: Callable[[int], str | None] = lambda n: "server_error" if n % 3 == 0 else None
    with serving(served(fault=lost)) as server:
        how = asking(
            server, "engine.concurrency=1", "engine.max_retries=0", "task.max_trials=6", "engine.speculation=0"
        )
        first = run(tmp_path, *how)
        assert first["counts"]["unscored"] == 2
        (block, *_, last) = first["search"]["tested"][0]["blocks"]
        assert last["e_above"] < 1.0
        assert last["e_below"] < 1.0
        assert first["search"]["tested"][0]["decision"] == "unsettled"
        server.fault = lambda _: None
        sent = len(server.bodies)
        second = run(tmp_path, *how)
        assert len(server.bodies) == sent + 2
        assert second["counts"]["unscored"] == 0
        assert second["search"]["tested"][0]["blocks"][-1]["e_above"] > 1.0 > block["e_above"]


def test_controls_are_sent_once(tmp_path: Path) -> None:
    with serving(served()) as server:
        report = run(tmp_path, *asking(server, "task.controls=true", "engine.concurrency=8"))
        assert set(prompts(server).values()) == {1}
    assert report["counts"]["controls"] > 0


def test_a_cut_prompt_counts_as_unscored_while_the_search_goes_on(tmp_path: Path) -> None:
    with serving(served(reads_tokens=300)) as server:
        report = run(tmp_path, *asking(server, "engine.concurrency=4", "engine.speculation=0"))
    by_length = {tested["context_tokens"]: tested["decision"] for tested in report["search"]["tested"]}
    assert by_length == {256: "passed", 512: "unsettled"}
    assert report["counts"]["unscored"] == 60


def test_another_threshold_is_judged_on_the_blocks_that_are_stored(tmp_path: Path) -> None:
    how = (*CLIFF, "engine.speculation=0")
    at_first = run(tmp_path, *how)
    before = kept(tmp_path / "outputs" / "state.db")
    lower = run(tmp_path, *how, "action=analyze", "analysis.threshold=0.5")
    higher = run(tmp_path, *how, "action=analyze", "analysis.threshold=0.95")
    assert lower["search"]["tested"][0]["decision"] == "passed"
    assert higher["search"]["tested"][0]["decision"] == "open"
    assert higher["safe_cap"]["tokens"] is None
    assert decisions(run(tmp_path, *how, "action=analyze")) == decisions(at_first)
    assert kept(tmp_path / "outputs" / "state.db") == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "launcher", [(), ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")], ids=["basic", "joblib"]
)
def test_searches_can_be_swept(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    done = contextcliff(*CLIFF, "engine.ceiling=0.98,0.5", *launcher, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first = sorted(str(report["search"]["tested"][0]["decision"]) for report in reports(tmp_path))
    assert first == ["below", "passed"]


def test_a_search_is_shown_live(tmp_path: Path) -> None:
    done = contextcliff(*CLIFF, "reporting.live=true", "engine.concurrency=1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (report,) = reports(tmp_path)
    assert done.stdout.count(" tokens, round ") == report["counts"]["planned"] + report["counts"].get("ahead", 0)
    assert json.dumps(report)
