"""The built-in question set: every text and every quote is where it is said to be."""

from __future__ import annotations

from contextcliff.datasets.essays import Essays
from contextcliff.datasets.stories import Stories

CORPUS = Stories().corpus(tokens=1, seed=0)
TEXTS = {document.document_id: document.text for document in CORPUS.documents}


def test_the_novella_stands_in_it_by_chapters_and_by_parts() -> None:
    chapters = [TEXTS[f"the_tide_clerk_ch{number:02d}"] for number in range(1, 21)]
    parts = [TEXTS[f"the_tide_clerk_part{number}"] for number in range(1, 5)]
    assert chapters[0].startswith("I. Four Pages\n\n")
    assert chapters[19].startswith("XX. ")
    assert "\n\n".join(parts) == "\n\n".join(chapters)
    assert parts[1] == "\n\n".join(chapters[5:10])
    assert "\n\n".join(chapters) in Essays().corpus(tokens=1, seed=0).documents[0].text


def test_texts_begin_with_their_title_and_have_unix_lines() -> None:
    for document in CORPUS.documents:
        part = document.document_id.startswith("the_tide_clerk_part")
        assert document.title.startswith("The Tide Clerk, part ") if part else document.text.startswith(document.title)
        assert document.text == document.text.strip()
        assert "\r" not in document.text


def test_every_text_is_asked_about_and_every_question_has_evidence() -> None:
    assert {question.document_id for question in CORPUS.questions} == set(TEXTS)
    for question in CORPUS.questions:
        assert question.evidence
        assert question.metadata["domain"]
        assert question.level in (1, 2)
