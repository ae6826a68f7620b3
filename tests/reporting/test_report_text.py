"""The report as a person reads it: on a console, and as a Markdown page that is read back with a parser."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from contextcliff.records.note import as_it_is
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.markdown import escape, render_markdown
from tests.reporting.made_reports import console_of, search_report
from tests.simulated_reports import edited, findings_in, relaid

FOLDER = Path("outputs") / "default" / "a-rather-long-run-identity-that-goes-on-and-on-and-on-and-on-and-on-and-on"


def printed(
    report: Report,
    *,
    width: int = 80,
    encoding: str = "utf-8",
    colour: bool = False,
    tracking_command: str | None = None,
) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    console = Console(file=stream, width=width, force_terminal=colour, color_system="truecolor" if colour else None)
    render_console(report, console=console, folder=FOLDER, tracking_command=tracking_command)
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_a_path_and_a_command_longer_than_the_console_are_not_broken(cliff: Report) -> None:
    command = "mlflow ui --backend-store-uri sqlite:////" + "deep/" * 30 + "mlflow.db"
    lines = printed(cliff, tracking_command=command).splitlines()
    assert lines[-2:] == [f"Report: {FOLDER / 'report.html'}", f"Compare: {command}"]
    assert "mlflow" not in printed(cliff).lower()


@pytest.mark.parametrize("width", [40, 50, 60, 70, 80, 120])
def test_no_number_of_the_table_is_cut_at_any_width(cliff: Report, width: int) -> None:
    lengths = (131_072, 262_144, 524_288, 1_048_576)
    lines = printed(relaid(cliff, lengths=lengths, n=1000), width=width).splitlines()
    for length in lengths:
        row = next(line for line in lines if line.split()[:1] == [f"{length:,}"])
        assert len(row) <= width
        assert "1,000" in row.split()
        assert "…" not in row


def test_markup_is_printed_and_not_interpreted_and_no_control_character_reaches_the_terminal(full: Report) -> None:
    bins = tuple(replace(b, failures={"[red]t": 3}) for b in full.analysis.bins)
    cap = replace(full.analysis.safe_cap, reason=as_it_is("[red]x[/] \x1b[2J"))
    text = printed(edited(full, model="[link=http://x]y[/] [/] a\x1b[2Jb\rc\x07", bins=bins, safe_cap=cap))
    for shown in ("[link=http://x]y[/] [/] a\\x1b[2Jb", "[red]t x3", "[red]x[/] \\x1b[2J"):
        assert shown in text
    assert not {"\x1b", "\r", "\x07"} & set(text)


def test_an_ascii_console_gets_every_line(cliff: Report) -> None:
    text = printed(edited(cliff, model="模型"), encoding="ascii")
    assert "\\u6a21" in text
    assert "(95% CI 0.26-0.66)" in text


MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = "a|b <script>alert(1)</script> `c` [d](http://e) ![f](g) *h* _i_ # & ~~j~~ \\"


@given(st.text(max_size=60))
def test_any_text_is_one_plain_paragraph_that_reads_as_it_was(text: str) -> None:
    shown = "".join(char if char.isprintable() else " " for char in text).split()
    tokens = MARKDOWN.parse(escape(text))
    if not shown:
        assert tokens == []
        return
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children).split() == shown


def test_hostile_text_stands_on_the_page_as_it_was_written_and_a_command_in_its_block(full: Report) -> None:
    found = findings_in(full)
    report = edited(
        full,
        **dict.fromkeys(("model", "label", "dataset"), HOSTILE),
        command="echo ```` <b>",
        notes=(HOSTILE,),
        bins=tuple(replace(b, failures={"a|b": 1, "`": 2, **b.failures}) for b in full.analysis.bins),
        half_life=replace(found.half_life, reason=as_it_is(HOSTILE)),
        position=replace(found.position, reason=as_it_is(HOSTILE)),
        guide=replace(found.guide, advice=(as_it_is(HOSTILE), as_it_is(f"# {HOSTILE}"))),
        facets=tuple(replace(row, facet=HOSTILE, value=HOSTILE) for row in found.facets),
        judgement=replace(found.judgement, judge=HOSTILE),
    )
    html = MARKDOWN.render(render_markdown(report, figures=[]))
    assert "echo ```` &lt;b&gt;\n</code></pre>\n</details>" in html
    assert not re.search(r"<(script|a|img|em|del|code(?! class))", html)
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 16
    for table in re.findall(r"<table>.*?</table>", html, flags=re.DOTALL):
        cells = re.findall(r"<tr>(.*?)</tr>", table, flags=re.DOTALL)
        assert len({len(re.findall(r"<t[hd]", row)) for row in cells}) == 1


@pytest.mark.parametrize(
    "law",
    [
        {},
        {"cliff_at": 100},
        {"most_asked": 4},
        {"cliff_at": 9_000},
        {"before": 0.8},
        {"relative": True},
        {"most_asked": 1, "relative": True},
        {"before": 0.1, "relative": True},
    ],
    ids=["cliff", "below", "open", "whole range", "unsettled", "share", "share open", "low baseline"],
)
def test_no_sentence_of_a_fixed_design_is_said_of_a_search(law: Any) -> None:
    report = search_report(**law)
    text = f"{render_markdown(report, figures=())} {' '.join(console_of(report).split())}"
    for wrong in ("too few", "a new run with", "exact for 0/1", "at every length tested", "samples were planned"):
        assert wrong not in text
    if report.analysis.safe_cap.tokens is None:
        assert report.analysis.caps["any_depth"] is None
        assert not report.analysis.safe_cap.censored
