"""`writing.html` of a run: what a reader finds on it, and that no text of a model gets out of its place."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.writing.page import writing_page
from tests.writing.made_writing import make_round, make_rounds, with_writing, writing_in

HOSTILE = "<script>document.title='owned'</script>\x1b[31m\u202e<img src=x onerror=alert(1)>{{ run }}"


def page_of(report: Report, scored: list[ScoredSample], **parameters: str) -> str:
    made = with_writing(report, scored)
    return writing_page(made, writing_in(made), scored=scored, parameters=parameters)


def texts_of(page: str) -> list[str]:
    return [unescape(text) for text in re.findall(r'<div class="text" dir="auto">(.*?)</div>', page, flags=re.DOTALL)]


def test_every_round_can_be_read_beside_the_authors_own_words(cliff: Report) -> None:
    scored = make_rounds(tiers=(512, 1024), rounds=2)
    scored = [
        replace(item, generation=replace(item.generation, text=f"text {i}")) if item.generation else item
        for i, item in enumerate(scored)
    ]
    page = page_of(cliff, scored)
    original, *texts = texts_of(page)
    assert texts == ["text 0", "text 1", "text 2", "text 3"]
    assert original.split() == original.split()[:2]  # as many words as the longest round
    assert '<a href="#l512">503 tokens</a>' in page
    assert '<h3 id="l1024">After 1,015 tokens (1,024 asked for, with the answer)</h3>' in page
    # The first of each length is open.
    assert page.count("<details open>") == 2


def test_no_text_of_a_model_gets_out_of_its_place(cliff: Report) -> None:
    page = page_of(cliff, [make_round(text=HOSTILE, details={}), make_round(trial=1)], **{"model.name": HOSTILE})
    assert "<script" not in page
    assert "<img" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "onerror=alert(1)&gt;{{ run }}" in page


def test_the_page_has_no_script_asks_nothing_of_a_network_and_says_not_on_whose_disk_files_lie(cliff: Report) -> None:
    page = page_of(cliff, make_rounds(), **{"dataset.path": "/home/ada/novel.txt"})
    assert "default-src 'none'; style-src" in page
    assert not re.search(r"<(script|link|iframe|img)\b", page)
    assert "/home/ada" not in page
    assert "novel.txt" in page


def test_many_long_texts_are_cut_alike_so_that_the_page_stays_small(cliff: Report) -> None:
    scored = make_rounds(tiers=(512,), rounds=3)
    long = [
        replace(item, generation=replace(item.generation, text="word " * 1_000_000)) if item.generation else item
        for item in scored
    ]
    made = with_writing(cliff, scored)
    page = writing_page(made, writing_in(made), scored=long, parameters={})
    assert "Texts are cut after 3,000,000 characters; generations.txt has them whole." in page
    assert [len(text) for text in texts_of(page)[1:]] == [3_000_001] * 3
