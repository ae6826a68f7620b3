"""`report.html` in a real headless Chromium: it asks for nothing, obeys nothing, and can be read and filtered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contextcliff.records.generation import ScoredSample
from contextcliff.reporting.figures import draw_figures
from contextcliff.reporting.page.report_page import Excerpt
from tests.chromium import CHROMIUM, opened_pages
from tests.make import scored_sample
from tests.reporting.report_pages import HOSTILE, answered, page_of
from tests.simulated_reports import CLIFF, edited, simulated

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: install Debian's package `chromium`"),
]

READY = "body[data-ready=samples]"


@pytest.fixture(params=[("desktop", "dark"), ("phone", "light")], ids="-".join)
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    device, scheme = request.param
    with opened_pages(width=1280 if device == "desktop" else 390, scheme=scheme) as opened:
        yield opened


def samples() -> list[ScoredSample]:
    right = [scored_sample(512, 1.0, depth=0.5) for _ in range(60)]
    wrong = [
        answered(scored_sample(8_192, 0.0, depth=0.0, failure="hallucination"), f"{HOSTILE} {i}") for i in range(3)
    ]
    return [*right, *wrong, scored_sample(8_192, None, depth=1.0, failure="timeout")]


def shown(page: Page, path: Path, html: str) -> list[str]:
    """Open a page; what it asked for beyond itself, and its errors."""
    path.write_text(html, encoding="utf-8")
    trouble: list[str] = []
    page.on("request", lambda request: None if request.url == path.as_uri() else trouble.append(request.url[:80]))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    page.goto(path.as_uri())
    page.wait_for_selector(READY)
    return trouble


def test_it_fits_its_width_and_its_figures_and_hostile_answers_are_read_and_do_nothing(
    page: Page, tmp_path: Path
) -> None:
    report = edited(simulated(CLIFF), model=HOSTILE, command=HOSTILE)
    around = {item.sample.sample_id: (Excerpt(before=HOSTILE, evidence=HOSTILE, after=HOSTILE),) for item in samples()}
    figures = draw_figures(report, folder=tmp_path, dpi=20)
    trouble = shown(page, tmp_path / "report.html", page_of(report, samples(), excerpts=around, figures=figures))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.title().startswith("<script>")
    text = page.locator("figure svg text", has_text="threshold").first
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert page.locator("figure svg").first.evaluate("each => getComputedStyle(each).fill") == ink
    assert text.bounding_box() is not None
    page.locator("#rows tr.sample").first.click()
    detail = page.locator("td.detail").first.inner_text()
    assert "<script>document.title='owned'</script>\\x1b[31mred\\u202egnp\\u2069" in detail
    assert trouble == []
    assert page.locator("#rows img, #rows script, #rows b, img").count() == 0


def test_samples_are_filtered_by_failure_length_depth_and_text(page: Page, tmp_path: Path) -> None:
    shown(page, tmp_path / "report.html", page_of(simulated(CLIFF), samples()))
    count, rows = page.locator("#count"), page.locator("#rows tr.sample")
    assert count.inner_text() == "64 of 64"
    assert rows.count() == 50
    assert rows.first.inner_text().split("\t")[4] == "hallucination", "what went wrong stands first"
    page.locator("#later").click()
    assert page.locator("#page").inner_text() == "51 to 64"
    page.locator("#outcome").select_option("failure: hallucination")
    assert count.inner_text() == "3 of 64"
    page.locator("#text").fill(f"{HOSTILE.rpartition('%')[2]} 2".upper())
    assert count.inner_text() == "1 of 64"
    page.locator("#text").fill("")
    page.locator("#outcome").select_option("unscored")
    assert count.inner_text() == "1 of 64"
    page.locator("#outcome").select_option("")
    page.locator("#length").select_option("512")
    assert count.inner_text() == "60 of 64"
    page.locator("#depth").select_option("0")
    assert count.inner_text() == "0 of 64"


def test_ten_thousand_samples_can_be_filtered_within_two_seconds(page: Page, tmp_path: Path) -> None:
    """Not a timed test: the page says itself when its samples can be used, and the size is exact."""
    many = [
        answered(scored_sample(512 << i % 5, float(i % 3 > 0), depth=i % 11 / 10), f"{i} is the number. " * 20)
        for i in range(10_000)
    ]
    html = page_of(simulated(CLIFF), many)
    assert len(html) < 15_000_000
    shown(page, tmp_path / "report.html", html)
    assert page.locator("#count").inner_text() == "10,000 of 10,000"
