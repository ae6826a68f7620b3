"""Dataset `hotpotqa`: HotpotQA (Yang et al. 2018), questions that need two of ten paragraphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from contextcliff.datasets.entries import Entry, Row
from contextcliff.datasets.hub_questions import Columns, HubQuestions
from contextcliff.records.corpus import Span
from contextcliff.settings import settings

_BREAK = "\n\n"
_ABSENT_FACTS = "supporting facts name a sentence that is not in the text, and are left out"
_Sentence = tuple[str, int]
"""The title of a paragraph, and the number of a sentence in it."""


@settings
class HotpotQA(HubQuestions):
    """Schema of `hotpotqa/hotpot_qa`: `id, question, answer, supporting_facts, context {title, sentences}`.

    Each paragraph follows its title. The supporting sentences are the evidence. Every question is of level 2.
    """

    repository: str = "hotpotqa/hotpot_qa"
    configuration: str | None = "distractor"
    split: str = "validation"

    @property
    def name(self) -> str:
        """Name in reports."""
        return "hotpotqa"

    @property
    def columns(self) -> Columns:
        """The columns to read."""
        return Columns(required=("id", "question", "answer", "supporting_facts", "context"), optional=("type", "level"))

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
        """The one question of a row."""
        context, spans = _joined_paragraphs(row)
        facts = [(fact.text("title"), fact.integer("sent_id")) for fact in row.mappings("supporting_facts")]
        evidence = [spans[fact] for fact in facts if fact in spans]
        left_out[_ABSENT_FACTS] += len(facts) - len(evidence)
        metadata_columns = {"question_type": "type", "difficulty": "level"}
        yield Entry(
            place=row.place,
            context=context,
            question=row.text("question"),
            answers=(row.text("answer"),),
            question_id=row.label("id"),
            evidence=tuple(evidence),
            level=2,
            metadata={name: row.text(column) for name, column in metadata_columns.items() if row.holds(column)},
        )


def _joined_paragraphs(row: Row) -> tuple[str, dict[_Sentence, Span]]:
    """The paragraphs as one text, and the span of each sentence in it, without the blanks around it."""
    text, spans = "", dict[_Sentence, Span]()
    for paragraph in row.mappings("context"):
        title = paragraph.text("title")
        text += f"{_BREAK if text else ''}{title}\n"
        for number, sentence in enumerate(paragraph.texts("sentences")):
            piece, bare = sentence.lstrip() if number == 0 else sentence, sentence.strip()
            start = len(text) + piece.find(bare)
            text += piece
            if bare:
                spans.setdefault((title, number), Span(start=start, end=start + len(bare)))
    return text, spans
