"""MLflow's page on the store of a sweep, looked at in a real browser: what people see who live there."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.chromium import CHROMIUM, opened_pages
from tests.commands import contextcliff_process, tracked_runs

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SHOWN_WITHIN_MS = 40_000
F16, Q8_0, Q4_0 = NAMES = [f"smollm2 (simulated) · niah · {policy}" for policy in ("f16", "q8_0", "q4_0")]
SWEEP = "sweep · none, q8_0, q4_0 (simulated)"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: install Debian's package `chromium`"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over three KV policies of one model, with a cliff and failures."""
    folder = tmp_path_factory.mktemp("sweep")
    swept = ("engine=simulated", "kv_policy=none,q8_0,q4_0", "engine.cliff_tokens=1100", "reporting.progress=false")
    done = contextcliff_process(*swept, cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "stdout").write_text(done.stdout)
    return folder


@pytest.fixture(scope="module")
def leaderboard(folder: Path) -> Iterator[str]:
    """The address that `contextcliff ui` prints, while it serves."""
    server = subprocess.Popen(
        [sys.executable, "-m", "contextcliff", "ui", "--no-browser"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = first_line(server, within_s=120)
        yield address
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 0
        with pytest.raises(urllib.error.URLError):  # MLflow has ended with it
            urllib.request.urlopen(address.partition("/#")[0], timeout=5)


def first_line(server: subprocess.Popen[str], *, within_s: float) -> str:
    lines: Queue[str] = Queue()
    assert server.stdout is not None
    read = server.stdout.readline
    threading.Thread(target=lambda: lines.put(read().strip()), daemon=True).start()
    try:
        return lines.get(timeout=within_s)
    except Empty:
        raise AssertionError("the page did not come up") from None


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with opened_pages(width=1700, scheme="light") as page:
        page.set_default_timeout(_SHOWN_WITHIN_MS)
        yield page


def shown(page: Page, address: str, *texts: str) -> str:
    """The text of a page once it has all of these; a page that lacks one fails.

    Parts of a page come one after another: what a test expects stands in `texts`, and not in an assertion on the text.
    """
    page.goto("about:blank")
    page.goto(address)
    # Texts may be parted over several elements.
    page.wait_for_function(
        "texts => texts.every(each => document.body.innerText.replace(/\\s+/g, ' ').includes(each))", arg=list(texts)
    )
    return " ".join(page.inner_text("body").split())


def runs(folder: Path) -> dict[str, Any]:
    return {str(run.info.run_name): run for run in tracked_runs(folder)}


def base(leaderboard: str) -> str:
    return leaderboard.partition("/runs?")[0]


def test_the_page_opens_with_the_leaderboard(leaderboard: str, page: Page) -> None:
    text = shown(page, leaderboard, "Leaderboard", *NAMES, "safe_cap", "engine", "kv_policy", "verdict")
    assert leaderboard.endswith("#/experiments/1/runs?viewStateShareKey=leaderboard")
    order = [text.index(name) for name in NAMES]
    assert order[0] == min(order), "the largest cap stands first"


@pytest.mark.parametrize(
    ("run", "below", "texts"),
    [
        (SWEEP, "", ("Child runs", "3 of 3 jobs ended", Q8_0)),
        (Q8_0, "", ("Parent run", "SAFE CAP:", SWEEP, "essays")),
        (F16, "/model-metrics", ("answer (", "by_length (", "cells (", "safe_cap (")),
        (F16, "/artifacts/figures/score_by_length.png", ("score_by_length.png",)),
        (F16, "/artifacts/samples_table.json", ("question", "prediction", "failure", "sample_id")),
        (F16, "/artifacts/report.md", ("Worth a look",)),
        (F16, "/artifacts/config.yaml", ("cliff_tokens",)),
        (SWEEP, "/artifacts/leaderboard.json", ("safe_cap", "q4_0")),
    ],
)
def test_a_run_shows_its_sweep_curves_and_files(
    leaderboard: str, page: Page, folder: Path, run: str, below: str, texts: tuple[str, ...]
) -> None:
    text = shown(page, f"{base(leaderboard)}/runs/{runs(folder)[run].info.run_id}{below}", *texts)
    if below == "/model-metrics":
        assert sorted(texts, key=text.index) == list(texts), "the curve stands before the charts of single depths"


def test_failures_are_read_one_by_one(leaderboard: str, page: Page, folder: Path) -> None:
    address = f"{base(leaderboard)}/runs/{runs(folder)[Q4_0].info.run_id}/traces"
    shown(page, address, "Request", "What is the special magic", "score")
    page.get_by_text("What is the special magic").first.click()
    page.get_by_text("Assessments").first.wait_for()


def test_two_kv_policies_are_compared(leaderboard: str, page: Page, folder: Path) -> None:
    ids = [runs(folder)[name].info.run_id for name in (F16, Q4_0)]
    root = leaderboard.partition("#")[0]
    address = f"{root}#/compare-runs?runs={quote(json.dumps(ids))}&experiments={quote(json.dumps(['1']))}"
    shown(page, address, "Comparing 2 Runs", "kv_policy.name", F16, Q4_0)


@pytest.mark.parametrize(
    ("key", "chart"), [("curves", "ContextCliff (3)"), ("kv-policies", "ContextCliff (5)"), ("by-task", "One task")]
)
def test_the_other_views_open(leaderboard: str, page: Page, key: str, chart: str) -> None:
    mode = "" if key == "by-task" else "&compareRunsMode=CHART"
    text = shown(page, f"{base(leaderboard)}/runs?viewStateShareKey={key}{mode}", chart)
    assert "Error loading shared view" not in text


def test_a_sweep_ends_with_the_command_that_opens_its_own_view(folder: Path, leaderboard: str, page: Page) -> None:
    last = (folder / "stdout").read_text().splitlines()[-1]
    assert last.startswith("in MLflow: contextcliff ui --view sweep-")
    address = f"{base(leaderboard)}/runs?viewStateShareKey={last.rpartition(' ')[2]}"
    shown(page, address, SWEEP, *NAMES, "3 matching runs")
    shown(page, f"{address}&compareRunsMode=CHART", "ContextCliff (2)")
