"""The interactive page of several runs: what it draws, and that nothing of a run gets out of its place."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from contextcliff.records.note import as_it_is
from contextcliff.reporting.page.chart import in_chart
from contextcliff.writing.comparison.runs_page import WritingRun, differing_parameters, page_data, page_of
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.words.english_writing import say
from tests.reporting.report_pages import packed_in
from tests.writing.made_writing import make_rounds, make_writing

HOSTILE = "</script><b onmouseover=alert(1)>&lt; ]]> <!-- %{y} $x$ {{ data }} {% raw %} {# ' \""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def run(name: str = "smollm2", *, coherence: bool = False, parameters: Mapping[str, str] | None = None) -> WritingRun:
    return WritingRun(
        name=name, parameters=parameters or {"model": name}, writing=make_writing(make_rounds(coherence=coherence))
    )


class Tags(HTMLParser):
    """Every tag of a page with its attributes, and the text outside of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[str]]] = []
        self.text = ""
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, [name for name, _ in attrs]))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        self.text += "" if self._inside in ("script", "style") else data


def test_every_measure_and_composite_can_be_chosen_and_the_core_ones_are_shown_at_first() -> None:
    measures = packed_in(page_of([run()]))["measures"]
    assert [m["key"] for m in measures] == ["composite", "composite_classic", *(m.name for m in MEASURES)]
    shown = {m["key"] for m in measures if m["on"]}
    assert shown == {"composite", "cloze_score", "vocabulary_diversity", "bigram_repetition_rate"}
    assert {m["key"] for m in measures if not m["measured"]} == {m.name for m in MEASURES if m.embeds}
    assert next(m["title"] for m in measures if m["key"] == "cloze_score") == "<b>Cloze score</b> (up is worse)"


def test_a_measure_is_there_to_choose_where_any_run_has_it() -> None:
    measures = packed_in(page_of([run(), run("other", coherence=True)]))["measures"]
    assert all(m["measured"] for m in measures)


def test_a_line_holds_the_means_intervals_original_and_band_of_its_run() -> None:
    made = run()
    (found,) = packed_in(page_of([made]))["runs"]
    line = found["lines"]["cloze_score"]
    levels = [tier.measures[0] for tier in made.writing.tiers]
    assert found["x"] == [tier.prompt_tokens for tier in made.writing.tiers]
    assert line["y"] == [level.mean for level in levels]
    assert line["original"] == [level.original for level in levels]
    for i, level in enumerate(levels):
        assert level.mean is not None
        assert line["y"][i] + line["above"][i] == pytest.approx(level.ci_high)
        assert line["y"][i] - line["below"][i] == pytest.approx(level.ci_low)
        assert (line["band_low"][i], line["band_high"][i]) == (pytest.approx(19.3), pytest.approx(25.5))
    assert found["lines"]["adjacent_coherence"]["y"] == [None] * 4
    assert found["lines"]["composite"]["original"] == [None] * 4


def test_a_point_tells_its_figures_before_anything_of_its_run() -> None:
    (found,) = packed_in(page_of([run(parameters={"model": "smollm2", "kv_policy": "q8_0"})]))["runs"]
    hover = found["lines"]["cloze_score"]["hover"][0].split("<br>")
    assert re.fullmatch(r"<b>2,039 tokens: \d\d\.\d\d</b> ± \d\.\d+ \(n = 3\)", hover[0])
    assert "author 22.40 ± 3.100" in hover
    # One run differs from nothing.
    assert hover[-1] == "<b>smollm2</b>"


def test_a_point_tells_what_the_runs_differ_in_and_not_what_says_nothing_of_the_answers() -> None:
    one = run(parameters={"model": "a", "x.y": "1", "z": "0", "tracking.uri": "u", "engine._target_": "e"})
    other = run(parameters={"model": "a", "x.y": "2", "z": "0", "tracking.uri": "v", "engine._target_": "f"})
    assert differing_parameters(one, [one, other]) == [("x.y", "1")]
    hover = packed_in(page_of([one, other]))["runs"][0]["lines"]["cloze_score"]["hover"][0].split("<br>")
    assert hover[-2:] == ["<b>smollm2</b>", "x.y: 1"]


def test_the_page_begins_with_cap_and_verdict_of_each_run_and_where_its_texts_can_be_read() -> None:
    made = replace(run("one"), cap="4,096 tokens (95% confidence)", folder="continuation-1a2b")
    text = Tags(page_of([made, run("two")])).text
    ours, theirs = text[text.index("one") : text.index("two")], text[text.index("two") : text.index("Measures")]
    assert "Safe cap: 4,096 tokens (95% confidence)" in ours
    assert say(made.writing.verdict) in ours
    assert "continuation-1a2b/writing.html" in ours
    assert "Safe cap" not in theirs  # nobody sought one
    assert "Texts to read" not in theirs
    assert text.index("Safe cap") < text.index("What the runs differ in") < text.index("Measures")


def test_a_page_shows_file_names_and_not_on_whose_disk_they_lie() -> None:
    runs = [
        run(
            name, parameters={"model": name, "dataset.path": f"/home/ada/{name}.txt", "output_dir": "/home/ada/outputs"}
        )
        for name in ("one", "two")
    ]
    page = page_of(runs)
    assert "/home/ada" not in page
    assert {"one.txt", "two.txt"} <= set(re.findall(r"<td>([^<]*)</td>", page))
    assert "dataset.path: two.txt" in packed_in(page)["runs"][1]["lines"]["cloze_score"]["hover"][0].split("<br>")


def test_no_name_gets_out_of_its_place() -> None:
    made = run(HOSTILE, parameters={HOSTILE: HOSTILE, "model": HOSTILE})
    made = replace(made, writing=replace(made.writing, document_id=HOSTILE, verdict=as_it_is(HOSTILE)))
    bare, hostile = Tags(page_of([run()])), Tags(page_of([made]))
    # The same tags as on a harmless page, but for the row of the one more parameter.
    assert [tag for tag in hostile.tags if tag[0] not in ("tr", "th", "td")] == [
        tag for tag in bare.tags if tag[0] not in ("tr", "th", "td")
    ]
    assert not [names for _, names in hostile.tags if "onmouseover" in names]
    assert HOSTILE in hostile.text
    found = packed_in(page_of([made]))["runs"][0]
    assert found["name"] == in_chart(HOSTILE)
    assert "<b onmouseover" not in json.dumps(found)


def test_the_page_asks_nothing_of_a_network() -> None:
    page = page_of([run()])
    assert "default-src 'none'" in page
    tags = Tags(page).tags
    assert not [
        names for tag, names in tags if tag in ("script", "link", "img", "iframe") and {"src", "href"} & set(names)
    ]


def test_no_run_makes_a_page_too() -> None:
    assert packed_in(page_of([]))["runs"] == []
    assert page_data([])["lengths"] == []


# ---------------------------------------------------------------- in a browser


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: install Debian's package `chromium`")
def test_a_browser_draws_the_runs_and_hides_one_in_every_panel(tmp_path: Path) -> None:
    page = page_of([run(HOSTILE), run("other")])
    # What a person does: choose one more measure, then click the first run's name in the legend.
    script = """<script>window.onerror = e => { document.title = "ERROR " + e; };
    setTimeout(() => {
      [...document.querySelectorAll("button")].find(b => b.textContent === "MTLD").click();
      const at = panels.data.findIndex(t => t.meta === 0 && t.showlegend);
      panels.emit("plotly_legendclick", { curveNumber: at });
      const of = run => panels.data.filter(t => t.meta === run).map(t => t.visible);
      const other = panels.data.findIndex(t => t.meta === 1 && t.showlegend);
      Plotly.Fx.hover(panels, [{ curveNumber: other, pointNumber: 0 }]);
      document.title = JSON.stringify({ first: [...new Set(of(0))], second: [...new Set(of(1))],
        panels: Object.keys(panels.layout).filter(k => k.startsWith("xaxis")).length,
        legend: [...document.querySelectorAll(".legendtext")].map(t => t.textContent),
        hover: document.querySelector(".hoverlayer").textContent.includes("(n = 3)"),
        images: document.querySelectorAll("b[onmouseover]").length });
    }, 1500);</script></body>"""
    path = tmp_path / "page.html"
    path.write_text(page.replace("</body>", script), encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --dump-dom"
    shown = subprocess.run(
        [str(CHROMIUM), *flags.split(), "--virtual-time-budget=8000", f"--user-data-dir={tmp_path}", path.as_uri()],
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    title = re.search(r"<title>(.*?)</title>", shown.stdout)
    assert title is not None
    found = json.loads(unescape(title.group(1)))
    assert found == {
        "first": ["legendonly"],
        "second": [True],
        "panels": 5,
        "legend": [HOSTILE, "other"],
        "hover": True,
        "images": 0,
    }
