"""Dataset `narrativeqa`: NarrativeQA (Kočiský et al. 2018), questions on whole stories or on their summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from contextcliff.datasets.entries import Entry
from contextcliff.datasets.hub_questions import HubQuestions
from contextcliff.datasets.hub_rows import Columns
from contextcliff.datasets.rows import Row
from contextcliff.settings import settings


@settings
class NarrativeQA(HubQuestions):
    """Schema of `deepmind/narrativeqa`: `document {id, kind, summary {text, title}, text}, question {text}, answers`.

    The questions were written from the summaries: a few need an inference from the story.
    """

    repository: str = "deepmind/narrativeqa"
    split: str = "test"
    text: Literal["summary", "story"] = "summary"
    """About a thousand tokens, or the whole book or film script."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "narrativeqa"

    @property
    def columns(self) -> Columns:
        """What is read of a row."""
        return Columns(required=("document", "question", "answers"))

    def reading(self) -> Mapping[str, object]:
        """Which text is asked about."""
        return {"text": self.text}

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:  # noqa: ARG002 - all can be asked
        """The one question of a row."""
        document = row.part("document")
        summary = document.part("summary")
        context = summary.text("text") if self.text == "summary" else document.text("text")
        if not context.strip():
            other = "story" if self.text == "summary" else "summary"
            raise row.fault(f"has no {self.text}; take dataset.text={other}")
        yield Entry(
            place=row.place,
            context=context,
            question=row.part("question").text("text"),
            answers=tuple(answer.text("text") for answer in row.parts("answers")),
            document_id=document.label("id"),
            title=summary.heading("title"),
            metadata={"document_kind": document.text("kind")} if document.holds("kind") else {},
        )
