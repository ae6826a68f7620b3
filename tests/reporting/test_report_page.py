"""`report.html` as a text: what stands in it, and what never does."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contextcliff.findings.drawing import blank, told
from contextcliff.findings.finding import images_of
from contextcliff.findings.phrases import headline
from contextcliff.records.corpus import Document, Span
from contextcliff.records.note import as_it_is
from contextcliff.records.sample import Passage, Recipe, Reference, Turn, Words
from contextcliff.reporting.figures import draw_figures
from contextcliff.reporting.page.markup import markup_of, svg_of
from contextcliff.reporting.page.report_page import Excerpt, excerpts_of, page_samples, read_excerpts, write_excerpts
from tests import simulated_reports as made
from tests.make import scored_sample
from tests.reporting.report_pages import HOSTILE, Tags, answered, assert_tame, page_of, rows_of, thinking


@pytest.mark.parametrize(
    "law", [made.CLIFF, made.FLAT, made.WITHOUT_CAP, made.PARTIAL, made.NOTHING_SCORED, made.ONE_LENGTH, made.FULL]
)
def test_every_report_has_a_page_that_begins_with_its_answer(law: made.Law) -> None:
    report = made.simulated(law)
    page = page_of(report)
    assert f"<strong>{headline(report)}</strong>" in page.partition("<nav>")[0]


def test_the_figures_are_drawings_in_the_page_that_follow_its_colours_and_it_loads_nothing(tmp_path: Path) -> None:
    report = made.simulated(made.FULL)
    figures = draw_figures(report, folder=tmp_path, dpi=20)
    scored = [scored_sample(512, 1.0)]
    page = page_of(report, scored, figures=figures)
    known = {name: image.caption for name, image in images_of(report).items()}
    drawn = [each["aria-label"] for tag, each in Tags(page).elements if tag == "svg"]
    assert sorted(map(str, drawn)) == sorted(known[name] for name in figures)
    assert re.search(r"<text[^>]*>threshold 0.80</text>", page)
    assert "var(--ink)" in page
    assert_tame(page, scripts=2)
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    few = dict([*figures.items()][:1])
    assert page_of(report, scored, figures=few) == page_of(report, scored, figures=few)
    assert "<svg" not in page_of(report)


def test_a_mark_says_its_numbers() -> None:
    figure, axes = blank(width=3, height=2)
    told(axes.plot([1, 2, 3], [0.1, float("nan"), 0.3], "o-")[0], "one <b>", "three")
    told(axes.bar([1], [2])[0], "a bar")
    axes.set_title("$10^2$ and more")
    svg = svg_of(figure, name="a", caption="A")
    said = re.findall("<title>(.*?)</title>", svg)
    assert sorted(said) == ["a bar", "one &lt;b&gt;", "three"]
    assert "more" in re.sub("<.*?>", "", svg), "a formula is text too"


def test_nothing_from_outside_is_more_than_text_on_the_page(tmp_path: Path) -> None:
    sample = thinking(answered(scored_sample(512, 0.0, failure=HOSTILE), HOSTILE), HOSTILE)
    hostile = replace(sample.sample, document_id=HOSTILE, question=HOSTILE, answers=(HOSTILE,))
    names = dict.fromkeys(("model", "command", "dataset", "task", "label", "kv_policy", "engine"), HOSTILE)
    report = made.edited(made.simulated(made.FULL), notes=(HOSTILE,), **names)
    bins = tuple(replace(each, failures={HOSTILE: 3}) for each in report.analysis.bins)
    report = made.edited(
        report, bins=bins, half_life=replace(made.findings_in(report).half_life, reason=as_it_is(HOSTILE))
    )
    around = {hostile.sample_id: (Excerpt(before=HOSTILE, evidence=HOSTILE, after=HOSTILE),)}
    page = page_of(
        report,
        [replace(sample, sample=hostile)],
        excerpts=around,
        prompts={hostile.sample_id: HOSTILE},
        figures=draw_figures(report, folder=tmp_path, dpi=20),
    )
    assert_tame(page, scripts=2)
    (row,) = rows_of(page)
    texts = [row[name] for name in ("prediction", "question", "prompt", "document", "failure", "reasoning")]
    for text in (*texts, *row["answers"], *row["excerpts"][0]):
        assert text.startswith("<script>document.title='owned'</script>\\x1b[31mred\\u202egnp\\u2069\\x00 <img")
    assert Tags(page).text.count("![i](http://e) [a](javascript:alert(1)) <http://e>") > 10


def test_markdown_of_a_page_has_no_html_no_address_and_no_image_but_its_figures() -> None:
    text = (
        "<b>x</b> [a](javascript:alert(1)) [b](//e) [c](http://e) ![d](http://e/f.png) <http://e> ![a _caption_](a.png)"
    )
    html = str(markup_of(text))
    assert re.findall("<[^/].*?>", html) == ["<p>"]
    assert html.endswith(" a caption</p>\n")


def test_texts_are_cut_so_that_a_page_of_ten_thousand_long_answers_stays_small() -> None:
    long = [answered(scored_sample(512, 0.0), "x" * 30_000) for _ in range(2_000)]
    samples = page_samples(long, excerpts={}, prompts={})
    assert samples.cut_after == 4_000
    assert all(len(str(row[10])) == 4_001 for row in samples.rows)
    assert page_samples(long[:10], excerpts={}, prompts={}).cut_after is None


TEXT = "".join(f"Sentence {number} of the book. " for number in range(200))
BOOK = Document(document_id="book", title="A book", text=TEXT)


PUT = (
    Words(text="Read this.\n\n"),
    Passage(document_id="book", start=0, end=2_000),
    Words(text="The number is 42. "),
    Passage(document_id="book", start=2_000, end=4_000),
    Words(text="\n\nWhich number?"),
)
MARKED = (Span(start=300, end=320), Span(start=0, end=1_000))
TURNS = tuple(
    Turn(user=(Words(text=f"Name bird {n}."),), assistant=(Words(text=f"It is bird {n}!"),)) for n in range(3)
)


@pytest.mark.parametrize(
    ("changes", "documents", "found"),
    [
        ({"recipe": Recipe(user=PUT)}, {"book": BOOK}, [(TEXT[1_840:2_000], "The number is 42. ", TEXT[2_000:2_160])]),
        ({"recipe": Recipe(user=PUT)}, {}, [("", "The number is 42. ", "")]),
        (
            {"reference": Reference(evidence=MARKED)},
            {"book": BOOK},
            [(TEXT[140:300], TEXT[300:320], TEXT[320:480]), ("", f"{TEXT[:600]}…", TEXT[1_000:1_160])],
        ),
        (
            {"answers": ("bird 1!",), "recipe": Recipe(turns=TURNS, user=(Words(text="Which was second?"),))},
            {},
            [("Name bird 1.\n\n", "It is bird 1!", "\n\nName bird 2.")],
        ),
    ],
    ids=["a needle", "a needle without its text", "marked evidence", "the reply that holds the answer"],
)
def test_the_excerpt_of_evidence_is_what_stands_around_it(
    changes: dict[str, Any], documents: dict[str, Document], found: list[tuple[str, str, str]]
) -> None:
    sample = replace(scored_sample(512, 1.0).sample, document_id="book", **changes)
    assert excerpts_of(sample, documents) == tuple(Excerpt(*each) for each in found)


def test_excerpts_are_read_back_as_they_were_kept(tmp_path: Path) -> None:
    kept = {"s1": (Excerpt(before="a\u2028", evidence="<b>", after=""),), "s2": ()}
    path = write_excerpts(kept, path=tmp_path / "evidence.jsonl.gz")
    assert read_excerpts((tmp_path / "none", path)) == {"s1": kept["s1"]}
    assert read_excerpts((tmp_path / "none",)) == {}
    assert write_excerpts(kept, path=tmp_path / "again").read_bytes() == path.read_bytes()
