"""The built-in question set: every text and every quote is where it is said to be."""

from __future__ import annotations

from contextcliff.datasets.stories import Stories

CORPUS = Stories().corpus(tokens=1, seed=0)
TEXTS = {document.document_id: document.text for document in CORPUS.documents}


def test_every_text_is_asked_about_and_every_question_has_evidence() -> None:
    assert {question.document_id for question in CORPUS.questions} == set(TEXTS)
    for question in CORPUS.questions:
        assert question.evidence
        assert question.metadata["domain"]
        assert question.level in (1, 2)
