"""`report.html` as a text: what stands in it, and what never does."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.records.corpus import Document, Span
from contextcliff.records.sample import Passage, Recipe, Reference, Turn, Words
from contextcliff.reporting.page.excerpts import Excerpt, excerpts_of, read_excerpts, write_excerpts
from contextcliff.reporting.page.packing import LIBRARY
from contextcliff.reporting.page.page_samples import page_samples
from tests.analysis.analysis_samples import scored_sample
from tests.reporting.report_pages import HOSTILE, answered, page_of, rows_of
from tests.simulated_reports import (
    CLIFF,
    FLAT,
    FULL,
    NOTHING_SCORED,
    ONE_LENGTH,
    PARTIAL,
    WITHOUT_CAP,
    Law,
    edited,
    simulated,
)


@pytest.mark.parametrize("law", [CLIFF, FLAT, WITHOUT_CAP, PARTIAL, NOTHING_SCORED, ONE_LENGTH, FULL])
def test_every_report_has_a_page_that_begins_with_its_answer(law: Law) -> None:
    report = simulated(law)
    page = page_of(report)
    tokens = report.analysis.safe_cap.tokens
    answer = "Safe cap:</b> none" if tokens is None else f"Safe cap:</b> {tokens:,} tokens"
    assert answer in page.partition("<nav>")[0]


def test_the_page_loads_nothing_from_anywhere() -> None:
    page = page_of(simulated(CLIFF))
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    outside = page.replace("http://127.0.0.1:8000/v1", "")  # what the run says of its server, as text
    assert "http://" not in outside
    assert "https://" not in outside
    assert " src=" not in page


def test_the_drawing_library_is_the_one_that_the_notice_names() -> None:
    head = gzip.decompress(LIBRARY.read_bytes())[:120].decode()
    notice = (Path(__file__).parents[2] / "NOTICE").read_text(encoding="utf-8")
    version = re.search(r"plotly\.js \(cartesian - minified\) v([\d.]+)", head)
    assert version is not None
    assert f"plotly.js {version.group(1)}" in notice


def test_a_figure_that_was_not_drawn_leaves_no_gap() -> None:
    assert "<img" not in page_of(simulated(CLIFF))


def test_what_a_model_says_is_packed_and_without_control_or_direction_marks() -> None:
    sample = answered(scored_sample(512, 0.0, failure="wrong"), HOSTILE)
    page = page_of(simulated(CLIFF), [sample])
    assert "owned" not in page
    (row,) = rows_of(page)
    assert row["prediction"].startswith("<script>document.title='owned'</script>\\x1b[31mred\\u202egnp\\u2069")


def test_names_from_outside_are_escaped() -> None:
    page = page_of(edited(simulated(CLIFF), model=HOSTILE, command=HOSTILE, dataset=HOSTILE, task=HOSTILE))
    assert "<script>document" not in page
    assert "<img src=x" not in page
    assert "\x1b" not in page


def test_texts_are_cut_so_that_a_page_of_ten_thousand_long_answers_stays_small() -> None:
    long = [answered(scored_sample(512, 0.0), "x" * 30_000) for _ in range(2_000)]
    samples = page_samples(long, excerpts={}, prompts={})
    assert samples.cut_after == 4_000
    assert all(len(str(row[10])) == 4_001 for row in samples.rows)
    assert page_samples(long[:10], excerpts={}, prompts={}).cut_after is None


def test_kept_prompts_of_wrong_answers_come_first_where_not_all_fit() -> None:
    right, wrong = scored_sample(512, 1.0), scored_sample(512, 0.0)
    prompts = {item.sample.sample_id: "p" * 150_000 for item in (right, wrong)}
    samples = page_samples([right, wrong], excerpts={}, prompts=prompts)
    assert samples.n_prompts == 2
    crowded = [*(answered(scored_sample(512, 1.0), "x" * 8_000) for _ in range(1_110)), right, wrong]
    samples = page_samples(crowded, excerpts={}, prompts=prompts)
    assert [row[-1] is not None for row in samples.rows[-2:]] == [False, samples.n_prompts == 1]


# ---------------------------------------------------------------- the evidence's surroundings

TEXT = "".join(f"Sentence {number} of the book. " for number in range(200))
BOOK = Document(document_id="book", title="A book", text=TEXT)


def test_the_excerpt_of_a_needle_is_what_stands_around_it() -> None:
    sample = replace(
        scored_sample(512, 1.0).sample,
        document_id="book",
        recipe=Recipe(
            user=(
                Words(text="Read this.\n\n"),
                Passage(document_id="book", start=0, end=2_000),
                Words(text="The number is 42. "),
                Passage(document_id="book", start=2_000, end=4_000),
                Words(text="\n\nWhich number?"),
            )
        ),
    )
    (excerpt,) = excerpts_of(sample, {"book": BOOK})
    assert excerpt == Excerpt(before=TEXT[1_840:2_000], evidence="The number is 42. ", after=TEXT[2_000:2_160])
    (alone,) = excerpts_of(sample, {})
    assert alone == Excerpt(before="", evidence="The number is 42. ", after="")


def test_the_excerpt_of_marked_evidence_is_cut_from_the_document() -> None:
    sample = replace(
        scored_sample(512, 1.0).sample,
        document_id="book",
        reference=Reference(evidence=(Span(start=300, end=320), Span(start=0, end=1_000))),
    )
    first, second = excerpts_of(sample, {"book": BOOK})
    assert first == Excerpt(before=TEXT[140:300], evidence=TEXT[300:320], after=TEXT[320:480])
    assert second == Excerpt(before="", evidence=f"{TEXT[:600]}…", after=TEXT[1_000:1_160])


def test_the_excerpt_of_a_conversation_is_the_reply_that_holds_the_answer() -> None:
    turns = [(f"Name bird {number}.", f"It is bird {number}!") for number in range(3)]
    sample = replace(
        scored_sample(512, 1.0).sample,
        answers=("bird 1!",),
        recipe=Recipe(
            turns=tuple(Turn(user=(Words(text=asked),), assistant=(Words(text=said),)) for asked, said in turns),
            user=(Words(text="Which was second?"),),
        ),
    )
    (excerpt,) = excerpts_of(sample, {})
    assert excerpt == Excerpt(before="Name bird 1.\n\n", evidence="It is bird 1!", after="\n\nName bird 2.")


def test_excerpts_are_read_back_as_they_were_kept(tmp_path: Path) -> None:
    kept = {"s1": (Excerpt(before="a\u2028", evidence="<b>", after=""),), "s2": ()}
    path = write_excerpts(kept, path=tmp_path / "evidence.jsonl.gz")
    assert read_excerpts((tmp_path / "none", path)) == {"s1": kept["s1"]}
    assert read_excerpts((tmp_path / "none",)) == {}
    assert write_excerpts(kept, path=tmp_path / "again").read_bytes() == path.read_bytes()
