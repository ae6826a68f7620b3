"""Dataset `longbench_v2`: LongBench v2 (Bai et al. 2024), four-choice questions on 8,000 to 2 million words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from contextcliff.datasets.entries import Entry, Row, are_distinct, choice_at
from contextcliff.datasets.hub_questions import EQUAL_CHOICES, Columns, HubQuestions
from contextcliff.settings import settings

_LETTERS = "ABCD"
_CHOICES = tuple(f"choice_{letter}" for letter in _LETTERS)
_METADATA = ("domain", "sub_domain", "difficulty")


@settings
class LongBenchV2(HubQuestions):
    """Schema of `THUDM/LongBench-v2`: `_id, context, question, choice_A … choice_D, answer`; the answer is a letter."""

    repository: str = "THUDM/LongBench-v2"
    split: str = "train"

    @property
    def name(self) -> str:
        """Name in reports."""
        return "longbench_v2"

    @property
    def columns(self) -> Columns:
        """The columns to read."""
        return Columns(required=("context", "question", *_CHOICES, "answer"), optional=("_id", *_METADATA))

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
        """The one question of a row."""
        letter = row.text("answer").strip()
        if letter not in tuple(_LETTERS):
            raise row.error(f"answer={letter[:40]} must be one of {', '.join(_LETTERS)}")
        choices = tuple(row.text(choice) for choice in _CHOICES)
        if not are_distinct(choices):
            left_out[EQUAL_CHOICES] += 1
            return
        right = choice_at(choices, _LETTERS.index(letter), place=row.place, key="answer")
        yield Entry(
            place=row.place,
            context=row.text("context"),
            question=row.text("question"),
            answers=(right,),
            question_id=row.label("_id"),
            choices=choices,
            metadata={column: row.text(column) for column in _METADATA if row.holds(column)},
        )
