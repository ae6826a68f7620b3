"""The report as a Markdown page, read back with a Markdown parser."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from contextcliff.records.report import Report
from contextcliff.reporting.markdown import escape, render_markdown
from tests.simulated_reports import edited

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = "a|b <script>alert(1)</script> `c` [d](http://e) ![f](g) *h* _i_ # & ~~j~~ \\"


def test_the_page_gives_the_cap_and_links_its_figures_relatively(cliff: Report) -> None:
    page = render_markdown(cliff, figures=["figures/score_by_length.png", "figures/heatmap.png"])
    assert "**Safe cap: 4,096 tokens (95% confidence, 50% of the window)**" in page
    assert "![Score by length](figures/score_by_length.png)" in page
    assert "![Score by depth and length](figures/heatmap.png)" in page


def test_a_page_without_a_cap_says_so(without_cap: Report) -> None:
    assert "Safe cap: none - no tested length was shown to be safe" in render_markdown(without_cap, figures=[])


def test_the_appendix_puts_every_rule_side_by_side_but_for_the_half_life_which_is_no_cap(cliff: Report) -> None:
    appendix = render_markdown(cliff, figures=[]).split("## Appendix")[1]
    assert "half_life" not in appendix
    for rule, tokens in cliff.analysis.caps.items():
        assert rule == "half_life" or re.search(
            rf"\| {rule} \| {'-' if tokens is None else f'{tokens:,}'} \|", appendix
        )


def test_every_row_of_every_table_has_as_many_cells_as_its_head(any_report: Report) -> None:
    bins = tuple(replace(b, failures={"a|b": 1, "`": 2, **b.failures}) for b in any_report.analysis.bins)
    html = MARKDOWN.render(render_markdown(edited(any_report, bins=bins), figures=[]))
    for table in re.findall(r"<table>.*?</table>", html, flags=re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", table, flags=re.DOTALL)
        assert len({len(re.findall(r"<t[hd]", row)) for row in rows}) == 1


def test_hostile_text_stands_on_the_page_as_it_was_written(cliff: Report) -> None:
    report = edited(cliff, model=HOSTILE, label=HOSTILE, notes=(HOSTILE,), dataset=HOSTILE)
    html = MARKDOWN.render(render_markdown(report, figures=[]))
    assert not re.search(r"<(script|a|img|em|del|code(?! class))", html)
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 4


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
    assert MARKDOWN.render(page).rstrip().endswith("echo ```` &lt;b&gt;\n</code></pre>")


def test_the_failure_table_counts_each_tag_at_each_length(cliff: Report) -> None:
    section = render_markdown(cliff, figures=[]).split("## Failures by length")[1].split("##")[0]
    assert "| asked tokens | failure rate | wrong_needle | empty |" in section
    assert "| 8,192 | 55% | 7 | 4 |" in section


def test_the_method_names_the_confidence_and_what_the_interval_is(cliff: Report) -> None:
    method = render_markdown(cliff, figures=[]).split("## Method")[1].split("##")[0]
    assert "95% confidence" in method
    assert "Wilson" in method
    assert "100 samples were planned over 5 lengths, 512 to 8,192 tokens, at 5 depths" in method


def test_a_page_of_a_run_without_scores_or_bins_can_be_written(nothing_scored: Report) -> None:
    for report in (nothing_scored, edited(nothing_scored, bins=(), cells=(), caps={}, notes=())):
        page = render_markdown(report, figures=[])
        assert "None of" not in page
        assert not re.search(r"\b(None|nan)\b(?!\.)", page)
