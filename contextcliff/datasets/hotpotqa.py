"""Dataset `hotpotqa`: HotpotQA (Yang et al. 2018), two paragraphs among ten have to be brought together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from contextcliff.datasets.entries import Entry
from contextcliff.datasets.hub_questions import HubQuestions
from contextcliff.datasets.hub_rows import Columns
from contextcliff.datasets.rows import Row
from contextcliff.records.corpus import Span
from contextcliff.settings import settings

_BREAK = "\n\n"
_NOT_THERE = "supporting facts name a sentence that is not in the text, and are left out"
_Sentence = tuple[str, int]


@settings
class HotpotQA(HubQuestions):
    """Schema of `hotpotqa/hotpot_qa`: `id, question, answer, supporting_facts, context {title, sentences}`.

    Each paragraph stands under its title. The supporting sentences are the evidence, and every question is of level 2.
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
        """What is read of a row."""
        return Columns(required=("id", "question", "answer", "supporting_facts", "context"), optional=("type", "level"))

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
        """The one question of a row."""
        context, places = _joined(row)
        facts = [(fact.text("title"), fact.whole("sent_id")) for fact in row.parts("supporting_facts")]
        found = [places[fact] for fact in facts if fact in places]
        left_out[_NOT_THERE] += len(facts) - len(found)
        told = {"question_type": "type", "difficulty": "level"}
        yield Entry(
            place=row.place,
            context=context,
            question=row.text("question"),
            answers=(row.text("answer"),),
            question_id=row.label("id"),
            evidence=tuple(found),
            level=2,
            metadata={name: row.text(column) for name, column in told.items() if row.holds(column)},
        )


def _joined(row: Row) -> tuple[str, dict[_Sentence, Span]]:
    """The paragraphs as one text, and where each sentence stands in it, without the blanks around it."""
    text, places = "", dict[_Sentence, Span]()
    for paragraph in row.parts("context"):
        title = paragraph.text("title")
        text += f"{_BREAK if text else ''}{title}\n"
        for number, sentence in enumerate(paragraph.texts("sentences")):
            piece, bare = sentence.lstrip() if number == 0 else sentence, sentence.strip()
            start = len(text) + piece.find(bare)
            text += piece
            if bare:
                places.setdefault((title, number), Span(start=start, end=start + len(bare)))
    return text, places
