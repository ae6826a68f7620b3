"""The report as a Markdown page, read back with a Markdown parser."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from contextcliff.records.note import as_it_is
from contextcliff.records.report import Report
from contextcliff.reporting.markdown import escape, render_markdown
from tests.simulated_reports import edited, findings_in

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


def test_a_command_with_backticks_stays_in_its_block(cliff: Report) -> None:
    page = render_markdown(edited(cliff, command="echo ```` <b>"), figures=[])
    assert "echo ```` &lt;b&gt;\n</code></pre>\n</details>" in MARKDOWN.render(page)


def test_hostile_text_stands_on_the_page_as_it_was_written(full: Report) -> None:
    found = findings_in(full)
    report = edited(
        full,
        **dict.fromkeys(("model", "label", "dataset"), HOSTILE),
        notes=(HOSTILE,),
        bins=tuple(replace(b, failures={"a|b": 1, "`": 2, **b.failures}) for b in full.analysis.bins),
        half_life=replace(found.half_life, reason=as_it_is(HOSTILE)),
        position=replace(found.position, reason=as_it_is(HOSTILE)),
        guide=replace(found.guide, advice=(as_it_is(HOSTILE), as_it_is(f"# {HOSTILE}"))),
        facets=tuple(replace(row, facet=HOSTILE, value=HOSTILE) for row in found.facets),
        judgement=replace(found.judgement, judge=HOSTILE),
    )
    html = MARKDOWN.render(render_markdown(report, figures=[]))
    assert not re.search(r"<(script|a|img|em|del|code(?! class))", html)
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 16
    for table in re.findall(r"<table>.*?</table>", html, flags=re.DOTALL):
        cells = re.findall(r"<tr>(.*?)</tr>", table, flags=re.DOTALL)
        assert len({len(re.findall(r"<t[hd]", row)) for row in cells}) == 1
