"""Dataset `narrativeqa`: NarrativeQA (Kočiský et al. 2018), questions on stories, or on summaries of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from contextcliff.datasets.entries import Entry, Row
from contextcliff.datasets.hub_questions import Columns, HubQuestions
from contextcliff.settings import settings


@settings
class NarrativeQA(HubQuestions):
    """Schema of `deepmind/narrativeqa`: `document {id, kind, summary {text, title}, text}, question {text}, answers`.

    The questions were written from the summaries, so a few are answered in the story only indirectly.
    """

    repository: str = "deepmind/narrativeqa"
    split: str = "test"
    text: Literal["summary", "story"] = "summary"
    """`summary` has about a thousand tokens; `story` is the whole book or film script."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "narrativeqa"

    @property
    def columns(self) -> Columns:
        """The columns to read."""
        return Columns(required=("document", "question", "answers"))

    def schema_identity(self) -> Mapping[str, object]:
        """The text that the questions are on."""
        return {"text": self.text}

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:  # noqa: ARG002 - nothing is left out
        """The one question of a row."""
        document = row.mapping("document")
        summary = document.mapping("summary")
        context = summary.text("text") if self.text == "summary" else document.text("text")
        if not context.strip():
            other = "story" if self.text == "summary" else "summary"
            raise row.error(f"has no {self.text}; take dataset.text={other}")
        yield Entry(
            place=row.place,
            context=context,
            question=row.mapping("question").text("text"),
            answers=tuple(answer.text("text") for answer in row.mappings("answers")),
            document_id=document.label("id"),
            title=summary.heading("title"),
            metadata={"document_kind": document.text("kind")} if document.holds("kind") else {},
        )
