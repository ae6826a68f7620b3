"""Dataset `quality`: QuALITY (Pang et al. 2022), four-choice questions on texts of some 5,000 words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from contextcliff.datasets.entries import Entry, Row, are_distinct, choice_at
from contextcliff.datasets.hub_questions import EQUAL_CHOICES, Columns, HubQuestions
from contextcliff.settings import NonNegativeInt, settings


@settings
class Quality(HubQuestions):
    """Schema of `tasksource/QuALITY`: `article, question, options, gold_label`; the label counts from 1.

    `emozilla/quality` has the same texts with `label=answer` and `first_label=0`.
    """

    repository: str = "tasksource/QuALITY"
    split: str = "validation"
    label: str = "gold_label"
    """The column with the number of the right option."""
    first_label: NonNegativeInt = 1
    """The number of the first option."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "quality"

    @property
    def columns(self) -> Columns:
        """The columns to read."""
        return Columns(
            required=("article", "question", "options", self.label),
            optional=("article_id", "question_unique_id", "title", "difficult", "hard"),
        )

    def schema_identity(self) -> Mapping[str, object]:
        """The keys that determine which option is right."""
        return {"label": self.label, "first_label": self.first_label}

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
        """The one question of a row."""
        options = row.texts("options")
        if not are_distinct(options):
            left_out[EQUAL_CHOICES] += 1
            return
        right = choice_at(options, row.integer(self.label), place=row.place, key=self.label, first=self.first_label)
        hard = [bool(row.values[column]) for column in ("difficult", "hard") if row.holds(column)]
        yield Entry(
            place=row.place,
            context=row.text("article"),
            question=row.text("question"),
            answers=(right,),
            question_id=row.label("question_unique_id"),
            document_id=row.label("article_id"),
            title=row.heading("title"),
            choices=options,
            metadata={"difficulty": "hard" if hard[0] else "easy"} if hard else {},
        )
