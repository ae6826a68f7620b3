"""What console, page and figures show of a model's prose, on one axis of lengths: measured prompts, as the cap's."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from matplotlib.figure import Figure

from contextcliff.records.note import as_it_is
from contextcliff.records.report import Report
from contextcliff.reporting.markdown import render_markdown
from contextcliff.writing.levels import as_shown
from tests.make import known
from tests.reporting.figure_texts import drawn, overlaps
from tests.simulated_reports import edited
from tests.writing.made_writing import TIERS, by_health, make_rounds, with_writing, writing_in

PROMPTS = tuple(tokens - 9 for tokens in TIERS)
"""As the server counts the prompts of made rounds."""
NINE = tuple(1024 * 2**i for i in range(9))
TWELVE = tuple(round(2048 * 2 ** (i / 2)) for i in range(12))
HOSTILE = "a|b <script>alert(1)</script> `c` [d](http://e) *h*"


def test_every_table_of_the_page_is_a_table_and_hostile_words_stay_words(cliff: Report) -> None:
    report, said = with_writing(cliff), as_it_is(HOSTILE)
    hostile = replace(writing_in(report), verdict=said, warnings=(said,), document_id=HOSTILE, embeddings=HOSTILE)
    html = MarkdownIt("commonmark").enable("table").render(render_markdown(edited(report, writing=hostile), figures=[]))
    assert not re.search(r"<(script|a |img|em)", html)
    for table in re.findall(r"<table>.*?</table>", html, flags=re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", table, flags=re.DOTALL)
        assert len({len(re.findall(r"<t[hd]", row)) for row in rows}) == 1


def test_tables_sentences_and_healthy_rounds_are_by_measured_prompts(cliff: Report) -> None:
    writing = writing_in(with_writing(cliff, make_rounds(rounds=8)))
    shown = as_shown(writing)
    assert tuple(tier.context_tokens for tier in shown.tiers) == PROMPTS
    assert {test.context_tokens for test in shown.tests} | {step.context_tokens for step in shown.steps} <= set(PROMPTS)
    assert tuple(level.context_tokens for level in known(shown.health).levels) == PROMPTS
    assert as_shown(shown) == shown
    assert f"{PROMPTS[-1]:,} tokens" in str(writing.verdict)
    assert not any(f"{tokens:,}" in str(writing.verdict) for tokens in TIERS)


def figures_of(report: Report) -> list[Figure]:
    return [drawn(report, name) for name in ("core_metrics", "writing_dashboard", "healthy_rounds")]


ALSO = (((4096,), True), (TIERS, False), (NINE, True), (TWELVE, False), (TWELVE, True))


@pytest.mark.parametrize(
    ("tiers", "coherence"),
    [((2048, 1_048_576), True), *(pytest.param(*each, marks=pytest.mark.slow) for each in (((4096,), False), *ALSO))],
)
def test_no_text_of_any_figure_covers_another(cliff: Report, tiers: tuple[int, ...], coherence: bool) -> None:
    for figure in figures_of(by_health(cliff, tiers, make_rounds(tiers=tiers, rounds=4, coherence=coherence))):
        assert overlaps(figure) == []
