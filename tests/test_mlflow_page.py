"""MLflow's page on the store of a sweep, looked at in a real browser: what people see who live there."""

from __future__ import annotations

import json
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.chromium import CHROMIUM, opened_pages
from tests.commands import contextcliff_process, started, tracked_runs

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SHOWN_WITHIN_MS = 40_000
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
    server = started(folder, "ui", "--no-browser")
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        yield address
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 0
        with pytest.raises(urllib.error.URLError):  # MLflow has ended with it
            urllib.request.urlopen(address.partition("/#")[0], timeout=5)


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


def id_of(folder: Path, name: str) -> str:
    """The run of a policy, or of the sweep."""
    (found,) = (run.info.run_id for run in tracked_runs(folder) if name in str(run.info.run_name).split(" "))
    return str(found)


def base(leaderboard: str) -> str:
    return leaderboard.partition("/runs?")[0]


def test_the_page_opens_with_the_leaderboard(leaderboard: str, page: Page) -> None:
    names = [f"smollm2 (simulated) · niah · {policy}" for policy in ("f16", "q8_0", "q4_0")]
    text = shown(page, leaderboard, "Leaderboard", *names, "safe_cap", "kv_policy", "verdict")
    assert leaderboard.endswith("#/experiments/1/runs?viewStateShareKey=leaderboard")
    order = [text.index(name) for name in names]
    assert order == sorted(order), "the largest cap stands first"


PAGES = {
    ("sweep", ""): ("Child runs", "3 of 3 jobs ended", "smollm2 (simulated) · niah · q8_0"),
    ("sweep", "/artifacts/leaderboard.json"): ("safe_cap", "q4_0"),
    ("q8_0", ""): ("Parent run", "SAFE CAP:", "sweep · none, q8_0, q4_0", "essays"),
    ("f16", "/model-metrics"): ("by_length (", "safe_cap (", "by_depth (11)"),
    ("f16", "/artifacts/figures/score_by_length.png"): ("score_by_length.png",),
    ("f16", "/artifacts/samples_table.json"): ("question", "prediction", "failure", "sample_id"),
    ("f16", "/artifacts/report.md"): ("Worth a look",),
    ("f16", "/artifacts/config.yaml"): ("cliff_tokens",),
    ("q4_0", "/traces"): ("Request", "What is the special magic", "score"),
}
"""What the pages of a run show."""


@pytest.mark.parametrize(("run", "place"), PAGES)
def test_the_pages_of_a_run_show_what_is_looked_for_there(
    leaderboard: str, page: Page, folder: Path, run: str, place: str
) -> None:
    shown(page, f"{base(leaderboard)}/runs/{id_of(folder, run)}{place}", *PAGES[run, place])
    if place == "/model-metrics":
        page.locator(".js-plotly-plot").first.wait_for()
    if place.endswith(".png"):
        picture = page.locator("img[src^='blob:'], img[src*='score_by_length'], .image-container")
        picture.first.wait_for(state="attached")
    if place == "/traces":
        page.get_by_text("What is the special magic").first.click()
        page.get_by_text("Assessments").first.wait_for()


def test_two_kv_policies_are_compared(leaderboard: str, page: Page, folder: Path) -> None:
    ids = quote(json.dumps([id_of(folder, policy) for policy in ("f16", "q4_0")]))
    address = f"{leaderboard.partition('#')[0]}#/compare-runs?runs={ids}&experiments={quote(json.dumps(['1']))}"
    names = [f"smollm2 (simulated) · niah · {policy}" for policy in ("f16", "q4_0")]
    shown(page, address, "Comparing 2 Runs", "kv_policy.name", *names)


@pytest.mark.parametrize(
    ("key", "chart"), [("curves", "ContextCliff (3)"), ("kv-policies", "ContextCliff (5)"), ("by-task", "One task")]
)
def test_the_other_views_open(leaderboard: str, page: Page, key: str, chart: str) -> None:
    mode = "" if key == "by-task" else "&compareRunsMode=CHART"
    text = shown(page, f"{base(leaderboard)}/runs?viewStateShareKey={key}{mode}", chart)
    assert "Error loading shared view" not in text


def test_the_sweep_ends_with_the_address_of_the_leaderboard(folder: Path, leaderboard: str) -> None:
    last = (folder / "stdout").read_text().splitlines()[-1]
    assert last.startswith("in MLflow (contextcliff ui opens it): http://127.0.0.1:")
    assert last.partition("#")[2] == leaderboard.partition("#")[2]
