"""The interactive page: what it draws, and that nothing of a run gets out of its place."""

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
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.records.fact import Said
from contextcliff.records.report import Report
from contextcliff.reporting.files import write_report_files
from contextcliff.reporting.schema import flatten
from contextcliff.reporting.stored_reports import stored_reports
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.sections.writing_page import (
    WritingRun,
    _template,
    hover_parameters,
    mark_up,
    page_data,
    page_of,
)
from contextcliff.writing.sections.writing_runs import comparable_writing, named_runs
from tests.simulated_reports import edited
from tests.writing.made_writing import make_rounds, make_writing, with_writing

HOSTILE = "</script><b onmouseover=alert(1)>&lt; ]]> <!-- %{y} $x$ {{ data }} {% raw %} {# ' \""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def run(name: str = "smollm2", *, coherence: bool = False, parameters: Mapping[str, str] | None = None) -> WritingRun:
    return WritingRun(
        name=name, parameters=parameters or {"model": name}, writing=make_writing(make_rounds(coherence=coherence))
    )


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


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
    measures = data_of(page_of([run()]))["measures"]
    assert [m["key"] for m in measures] == ["composite", "composite_classic", *(m.name for m in MEASURES)]
    shown = {m["key"] for m in measures if m["on"]}
    assert shown == {"composite", "cloze_score", "vocabulary_diversity", "bigram_repetition_rate"}
    assert {m["key"] for m in measures if not m["measured"]} == {m.name for m in MEASURES if m.embeds}
    assert next(m["title"] for m in measures if m["key"] == "cloze_score") == "<b>Cloze score</b> (up is worse)"


def test_a_measure_is_there_to_choose_where_any_run_has_it() -> None:
    measures = data_of(page_of([run(), run("other", coherence=True)]))["measures"]
    assert all(m["measured"] for m in measures)


def test_a_line_holds_the_means_intervals_original_and_band_of_its_run() -> None:
    made = run()
    (found,) = data_of(page_of([made]))["runs"]
    line = found["lines"]["cloze_score"]
    levels = [tier.measures[0] for tier in made.writing.tiers]
    assert found["x"] == [tier.context_tokens for tier in made.writing.tiers]
    assert line["y"] == [level.mean for level in levels]
    assert line["original"] == [level.original for level in levels]
    for i, level in enumerate(levels):
        assert level.mean is not None
        assert line["y"][i] + line["above"][i] == pytest.approx(level.ci_high)
        assert line["y"][i] - line["below"][i] == pytest.approx(level.ci_low)
        assert (line["band_low"][i], line["band_high"][i]) == (pytest.approx(19.3), pytest.approx(25.5))
    assert found["lines"]["adjacent_coherence"]["y"] == [None] * 4
    assert found["lines"]["composite"]["original"] == [None] * 4


def test_a_point_tells_its_runs_parameters_n_and_spread() -> None:
    parameters = {"model": "smollm2", "kv_policy": "q8_0", "sampling.temperature": "0.8", "rope": "yarn x2"}
    (found,) = data_of(page_of([run(parameters=parameters)]))["runs"]
    hover = found["lines"]["cloze_score"]["hover"][0].split("<br>")
    assert hover[0] == "<b>smollm2</b>"
    assert {"kv_policy: q8_0", "sampling.temperature: 0.8", "rope: yarn x2"} <= set(hover)
    assert re.fullmatch(r"<b>2,048 tokens: \d\d\.\d\d</b> ± \d\.\d+ \(n = 3\)", hover[5])
    assert "author 22.40 ± 3.100" in hover


def test_a_point_tells_what_the_runs_differ_in_and_not_what_says_nothing_of_the_answers() -> None:
    one = run(parameters={"model": "a", "x.y": "1", "z": "0", "tracking.uri": "u", "engine._target_": "e"})
    other = run(parameters={"model": "a", "x.y": "2", "z": "0", "tracking.uri": "v", "engine._target_": "f"})
    assert hover_parameters(one, [one, other]) == [("model", "a"), ("x.y", "1")]


def test_a_page_shows_file_names_and_not_on_whose_disk_they_lie() -> None:
    runs = [
        run(
            name, parameters={"model": name, "dataset.path": f"/home/ada/{name}.txt", "output_dir": "/home/ada/outputs"}
        )
        for name in ("one", "two")
    ]
    page = page_of(runs)
    assert "/home/ada" not in page
    assert {"one.txt", "two.txt", "outputs"} <= set(re.findall(r"<td>([^<]*)</td>", page))
    assert "dataset.path: two.txt" in data_of(page)["runs"][1]["lines"]["cloze_score"]["hover"][0].split("<br>")


def test_no_name_gets_out_of_its_place() -> None:
    made = run(HOSTILE, parameters={HOSTILE: HOSTILE, "model": HOSTILE})
    made = replace(made, writing=replace(made.writing, document_id=HOSTILE, verdict=Said(text=HOSTILE)))
    bare, hostile = Tags(page_of([run()])), Tags(page_of([made]))
    # The same tags as on a harmless page, but for the row of the one more parameter.
    assert [tag for tag in hostile.tags if tag[0] not in ("tr", "th", "td")] == [
        tag for tag in bare.tags if tag[0] not in ("tr", "th", "td")
    ]
    assert not [names for _, names in hostile.tags if "onmouseover" in names]
    assert HOSTILE in hostile.text
    found = data_of(page_of([made]))["runs"][0]
    assert found["name"] == mark_up(HOSTILE)
    assert "<b onmouseover" not in json.dumps(found)


@given(st.text(max_size=40).map("<>&'\u2028\u2029".__add__))
def test_no_character_in_the_data_can_end_its_script(text: str) -> None:
    data = {"text": text}
    page = _template().render(names=[], differing=[], shared=[], plotly="", data=data)
    found = re.search(r'id="data">(.*?)</script>', page, flags=re.DOTALL)
    assert found is not None
    assert not set("<>&'\u2028\u2029") & set(found.group(1))
    assert json.loads(found.group(1)) == data


@given(st.text(max_size=40))
def test_any_name_is_free_of_tags_and_of_template_fields(text: str) -> None:
    shown = mark_up(text)
    assert not {"<", ">"} & set(shown)
    assert "%{" not in shown
    assert shown.isprintable()


def test_the_page_asks_nothing_of_a_network() -> None:
    page = page_of([run()])
    assert "default-src 'none'" in page
    tags = Tags(page).tags
    assert not [
        names for tag, names in tags if tag in ("script", "link", "img", "iframe") and {"src", "href"} & set(names)
    ]


def test_no_run_makes_a_page_too() -> None:
    assert data_of(page_of([]))["runs"] == []
    assert page_data([])["lengths"] == []


# ---------------------------------------------------------------- which runs


def test_runs_are_named_by_what_tells_them_apart(cliff: Report) -> None:
    base = with_writing(cliff)
    again = edited(base, run_id="b", fingerprint="bbbbbbbbbbbb")
    other = edited(base, run_id="c", kv_policy="q4_0", rope="yarn x2")
    assert [found.name for found in named_runs([(base, {})])] == ["smollm2-135m-instruct"]
    assert [found.name for found in named_runs([(base, {}), (again, {}), (other, {})])] == [
        "continuation-smollm2-1a2b3c4d",
        "b",
        "smollm2-135m-instruct · q4_0 · yarn x2",
    ]


@pytest.mark.slow
def test_a_page_shows_the_runs_beside_it_whatever_their_model_with_their_own_parameters(
    cliff: Report, tmp_path: Path
) -> None:
    scored = make_rounds(rounds=1)
    base = with_writing(cliff, scored)
    names = ("one", "two", "three")
    for i, name in enumerate(names):
        report = edited(base, model=name, run_id=name, created_at=f"2026-11-0{i + 1}")
        configured = {"sampling.temperature": f"0.{i}"}
        write_report_files(
            report, scored=scored, manifest={"configuration": configured}, folder=tmp_path / name, dpi=30,
            parameters=configured,
        )  # fmt: skip
    # Neither another task, nor what can't be read, is on the page.
    write_report_files(cliff, scored=[], manifest={}, folder=tmp_path / "needles", dpi=30)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "report.json").write_text("{", encoding="utf-8")
    page = data_of((tmp_path / "three" / "writing.html").read_text(encoding="utf-8"))
    assert [found["name"] for found in page["runs"]] == list(names)
    runs = comparable_writing(
        edited(base, run_id="two"), parameters={"mine": "yes"}, beside=stored_reports(tmp_path).found
    )
    told = {found.parameters["run"]: found.parameters for found in runs}
    assert told["one"]["sampling.temperature"] == "0.0"
    assert told["three"]["sampling.temperature"] == "0.2"
    assert told["two"]["mine"] == "yes"
    assert not (tmp_path / "needles" / "writing.html").exists()


def test_an_old_run_is_on_its_own_page_among_the_latest_others(cliff: Report, tmp_path: Path) -> None:
    base = edited(with_writing(cliff, make_rounds(tiers=(512,), rounds=1)), bins=(), cells=())
    mine = edited(base, run_id="mine", created_at="2020-01-01")
    for i in range(25):
        folder = tmp_path / f"run{i:02}"
        folder.mkdir()
        report = flatten(edited(base, run_id=f"run{i:02}", created_at=f"2026-01-{i + 1:02}"))
        (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
    found = [
        item.parameters["run"]
        for item in comparable_writing(mine, parameters={}, beside=stored_reports(tmp_path).found)
    ]
    assert found == ["mine", *(f"run{i:02}" for i in range(6, 25))]


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
