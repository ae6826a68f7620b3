"""Dataset `squad`: SQuAD 1.1 (Rajpurkar et al. 2016), questions on one fact in one paragraph of Wikipedia."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from contextcliff.datasets.entries import Entry, Row, span_of, squad_answers
from contextcliff.datasets.hub_questions import Columns, HubQuestions
from contextcliff.settings import settings

_MISPLACED = "answers do not stand where answer_start says; their evidence is left out"


@settings
class Squad(HubQuestions):
    """Schema of `rajpurkar/squad`: `id, title, context, question, answers {text, answer_start}`.

    The span of the first reference answer is the evidence.
    """

    repository: str = "rajpurkar/squad"
    split: str = "validation"

    @property
    def name(self) -> str:
        """Name in reports."""
        return "squad"

    @property
    def columns(self) -> Columns:
        """The columns to read."""
        return Columns(required=("id", "context", "question", "answers"), optional=("title",))

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
        """The one question of a row."""
        context = row.text("context")
        answers, starts = squad_answers(row)
        span = span_of(context, answers[0], starts[0]) if starts else None
        if starts and span is None:
            left_out[_MISPLACED] += 1
        yield Entry(
            place=row.place,
            context=context,
            question=row.text("question"),
            answers=answers,
            question_id=row.label("id"),
            title=row.heading("title"),
            evidence=() if span is None else (span,),
        )
