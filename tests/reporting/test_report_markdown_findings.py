"""The sections of the Markdown page for what was found beside the cap."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from contextcliff.records.fact import Said
from contextcliff.records.report import Report
from contextcliff.reporting.markdown import render_markdown
from contextcliff.reporting.words.english import say
from tests.reporting.conftest import MakeFacets
from tests.simulated_reports import edited, findings_in

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = "a|b <script>alert(1)</script> `c` [d](http://e) ![f](g) *h* _i_ # & ~~j~~ \\ $x$"
SECTIONS = ["Sensitivity", "Fitted length", "Half-life", "Position", "Every depth", "By facet", "Controls", "Judge"]


def section(report: Report, name: str) -> str:
    """The text under a heading, up to the next one of its rank."""
    page = render_markdown(report, figures=[])
    return re.split(r"^## ", page.split(f"\n## {name}\n")[1], flags=re.MULTILINE)[0]


def headings(report: Report) -> list[str]:
    return re.findall(r"^## (.*)$", render_markdown(report, figures=[]), flags=re.MULTILINE)


def test_a_full_report_has_every_section_between_the_scores_and_the_failures(full: Report) -> None:
    said = headings(full)
    at = said.index("Score by length") + 1
    assert said[at : at + len(SECTIONS) + 1] == [*SECTIONS, "Failures by length"]


def test_a_report_has_only_the_sections_that_it_has_data_for(cliff: Report, nothing_scored: Report) -> None:
    assert set(headings(cliff)) & set(SECTIONS) == {
        "Sensitivity",
        "Fitted length",
        "Half-life",
        "Position",
        "Every depth",
    }
    assert set(headings(edited(nothing_scored, bins=(), cells=()))) & set(SECTIONS) == set()


def test_the_guide_has_a_row_a_length_and_its_advice(full: Report) -> None:
    text = section(full, "Operating guide")
    assert r"| \[OK\] safe | 512 | 512 | 20 | 1.00 | 0.84-1.00 | yes |" in text
    assert r"| \[XX\] danger | 8,192 | 8,192 | 20 | 0.45 | 0.26-0.66 | yes |" in text
    assert all(f"- {say(advice)}" in text for advice in findings_in(full).guide.advice)


def test_the_half_life_stands_with_its_interval_and_the_least_squares_in_the_appendix(full: Report) -> None:
    found = replace(findings_in(full).half_life, tokens=6500, ci_low=4900, ci_high=9800, censored=False, initial=0.98)
    text = section(edited(full, half_life=found, half_life_lsq=7100), "Half-life")
    assert "| Maximum likelihood | 6,500 tokens (4,900-9,800) |" in text
    assert "| Score at length 0 | 0.98 |" in text
    assert re.search(
        r"\| Misfit \| 0\.\d\d root mean square; at most 0\.\d\d, at [\d,]+ tokens, .* of 5 lengths \|", text
    )
    assert "7,100" not in text
    assert say(found.reason) in text
    appendix = section(edited(full, half_life=found, half_life_lsq=7100), "Appendix: further figures")
    assert "at most 1: 7,100 tokens." in appendix


def test_a_censored_half_life_says_that_it_lies_beyond_the_longest_test(full: Report) -> None:
    found = replace(findings_in(full).half_life, tokens=30_000, ci_low=9_000, ci_high=90_000, censored=True)
    assert "| 30,000 tokens (9,000-90,000), beyond the longest test |" in section(
        edited(full, half_life=found), "Half-life"
    )


def test_where_there_is_no_half_life_the_reason_and_what_is_ruled_out_are_given(full: Report) -> None:
    found = replace(
        findings_in(full).half_life,
        tokens=None,
        ci_low=21_000,
        ci_high=None,
        initial=None,
        reason=Said(text="no fall (5 lengths)"),
    )
    text = section(edited(full, half_life=found, half_life_lsq=None), "Half-life")
    assert "| Maximum likelihood | none |" in text
    assert "| At least | 21,000 tokens |" in text
    edited_full = edited(full, half_life=found, half_life_lsq=None)
    assert "at most 1: none." in section(edited_full, "Appendix: further figures")
    assert "| Reason | no fall (5 lengths) |" in text


def test_the_half_life_is_no_longer_a_sentence_of_the_appendix(full: Report) -> None:
    assert "Half-life:" not in section(full, "Appendix: every cap rule")


def test_the_position_gives_pattern_p_value_reason_and_profile(full: Report) -> None:
    text = section(full, "Position")
    assert "| Pattern | middle collapse (p &lt; 0.001) |" in text
    assert say(findings_in(full).position.reason) in text
    assert "| 0.5 | 20 | 0.80 | 0.58-0.92 |" in text


@pytest.mark.parametrize(
    ("value", "said"), [(0.00025, "p < 0.001"), (0.0312, "p = 0.031"), (1.0, "p = 1.000"), (0.001, "p = 0.001")]
)
def test_a_tiny_p_value_is_never_shown_as_zero(full: Report, value: float, said: str) -> None:
    report = edited(full, position=replace(findings_in(full).position, p_value=value))
    assert f"({said})" in section(report, "Position").replace("&lt;", "<")


def test_a_profile_without_a_tested_pattern_says_why(full: Report) -> None:
    position = replace(findings_in(full).position, pattern=None, p_value=None, reason=Said(text="there are 2 depths"))
    text = section(edited(full, position=position), "Position")
    assert "| Pattern | not tested |" in text
    assert "| Reason | there are 2 depths |" in text


def test_each_facet_has_a_table_with_the_cap_of_its_samples(full: Report, facet_rows: MakeFacets) -> None:
    text = section(edited(full, facets=facet_rows()), "By facet")
    assert re.findall(r"^### (.*)$", text, flags=re.MULTILINE) == ["hops", "hops_1"]
    assert text.count("| value 1 | 10 | 1.00 | 0.80-1.00 | 4,096 |") == 2
    assert text.count("| value 3 | 30 | 0.33 | 0.13-0.43 | - |") == 2


def test_the_controls_give_ceiling_and_floor_of_each_length(full: Report) -> None:
    text = section(full, "Controls")
    assert "| 512 | 8 | 0.38 | 0.14-0.69 | 6 | 0.00 | 0.00-0.39 | no |" in text
    assert "| 1,024 | 8 | 1.00 | 0.68-1.00 | 6 | 0.00 | 0.00-0.39 | yes |" in text
    assert "5 of 25 cells of length and depth are not informative." in text


def test_a_control_that_was_not_scored_is_a_dash_and_not_zero(full: Report) -> None:
    silent = replace(findings_in(full).controls[0], floor_n=0, floor=None, floor_ci_low=None, floor_ci_high=None)
    assert "| 0 | - | - | no |" in section(edited(full, controls=(silent,)), "Controls")


def test_the_judge_is_named_with_both_directions_of_disagreement_and_the_unjudged(full: Report) -> None:
    text = section(full, "Judge")
    for row in (
        "| Judge | qwen3-4b |",
        "| Rated | 98 answers, 2 unjudged |",
        "| Mean rating | 8.4 of 10 |",
        "| Disagreement with the score | 6.1% (2.8%-12.7%), 6 answers |",
        "| Judge says right, score wrong | 4 |",
        "| Score says right, judge wrong | 2 |",
    ):
        assert row in text
    assert "right from 7 of 10 up" in text


def test_a_judge_that_rated_nothing_has_no_disagreement(full: Report) -> None:
    silent = replace(
        findings_in(full).judgement, n_judged=0, n_unjudged=100, mean_rating=None, share=None, ci_low=None, ci_high=None
    )
    text = section(edited(full, judgement=silent), "Judge")
    assert "| Rated | 0 answers, 100 unjudged |" in text
    assert "isagreement" not in text


def test_shared_texts_are_a_column_only_where_samples_share_some(cliff: Report) -> None:
    shared = edited(cliff, bins=tuple(replace(b, n_clusters=4) for b in cliff.analysis.bins))
    assert "| 512 | 500 | 20 | 4 | 0 |" in section(shared, "Score by length")
    assert "effective number of samples" in section(shared, "Method")
    assert "shared texts" not in section(cliff, "Score by length")
    assert "effective number of samples" not in section(cliff, "Method")


def test_a_figure_stands_in_its_section(full: Report) -> None:
    names = ["heatmap", "decay_curve", "depth_profile", "facets"]
    page = render_markdown(full, figures=[f"figures/{name}.png" for name in names])
    under = {}
    for part in re.split(r"^## ", page, flags=re.MULTILINE):
        under.update(dict.fromkeys(re.findall(r"\(figures/(\w+)\.png\)", part), part.splitlines()[0]))
    assert under == {
        "heatmap": "Score by length",
        "decay_curve": "Half-life",
        "depth_profile": "Position",
        "facets": "By facet",
    }


def test_hostile_text_of_a_finding_stands_on_the_page_as_it_was_written(full: Report) -> None:
    report = edited(
        full,
        half_life=replace(findings_in(full).half_life, reason=Said(text=HOSTILE)),
        position=replace(findings_in(full).position, reason=Said(text=HOSTILE), pattern=HOSTILE),
        guide=replace(
            findings_in(full).guide,
            rows=(replace(findings_in(full).guide.rows[0], level=HOSTILE),),
            advice=(Said(text=HOSTILE), Said(text=f"# {HOSTILE}")),
        ),
        facets=tuple(replace(row, facet=HOSTILE, value=HOSTILE) for row in findings_in(full).facets),
        judgement=replace(findings_in(full).judgement, judge=HOSTILE),
    )
    html = MARKDOWN.render(render_markdown(report, figures=[]))
    assert not re.search(r"<(script|a|img|em|del|h[14]>.*alert|code(?! class))", html)
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 13
    for table in re.findall(r"<table>.*?</table>", html, flags=re.DOTALL):
        cells = re.findall(r"<tr>(.*?)</tr>", table, flags=re.DOTALL)
        assert len({len(re.findall(r"<t[hd]", row)) for row in cells}) == 1
