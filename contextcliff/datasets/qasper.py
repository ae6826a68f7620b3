"""Dataset `qasper`: QASPER (Dasigi et al. 2021), questions on whole papers about language processing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contextcliff.datasets.entries import Entry, Row
from contextcliff.datasets.hub_questions import Columns, HubQuestions
from contextcliff.records.corpus import Span
from contextcliff.settings import settings

_BREAK = "\n\n"
_UNANSWERABLE = "questions that the annotators could not answer from their paper are left out"
_ABSENT_EVIDENCE = "pieces of evidence are figures, tables or otherwise not in the text, and are left out"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    text: str
    kind: str
    evidence: tuple[str, ...]


@settings
class Qasper(HubQuestions):
    """Schema of `allenai/qasper`: a row is a paper, `title, abstract, full_text` in sections, and its questions `qas`.

    Answers are read as in the authors' scoring: spans joined by commas, free text, or yes or no. The evidence is that
    of the first annotator who answered. The repository has a loading script, which is not run: `revision` names
    the hub's conversion to Parquet, which has no named configuration.
    """

    repository: str = "allenai/qasper"
    split: str = "validation"
    revision: str | None = "refs/convert/parquet"

    @property
    def name(self) -> str:
        """Name in reports."""
        return "qasper"

    @property
    def columns(self) -> Columns:
        """The columns to read."""
        return Columns(required=("full_text", "qas"), optional=("id", "title", "abstract"))

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
        """The questions of a paper."""
        context, title = _BREAK.join(_paragraphs(row)), row.heading("title")
        for question in row.mappings("qas"):
            answers = [answer for given in question.mappings("answers") if (answer := _answer(given.mapping("answer")))]
            if not answers:
                left_out[_UNANSWERABLE] += 1
                continue
            evidence = _spans(context, answers[0].evidence)
            left_out[_ABSENT_EVIDENCE] += len(answers[0].evidence) - len(evidence)
            yield Entry(
                place=row.place,
                context=context,
                question=question.text("question"),
                answers=tuple(answer.text for answer in answers),
                question_id=question.label("question_id"),
                document_id=row.label("id"),
                title=title,
                evidence=evidence,
                level=min(2, max(1, len(evidence))),
                metadata={"answer_kind": answers[0].kind},
            )


def _paragraphs(row: Row) -> Iterator[str]:
    yield from filter(None, (row.heading("title"), row.text("abstract").strip() if row.holds("abstract") else ""))
    for section in row.mappings("full_text"):
        named = section.text("section_name").strip() if section.holds("section_name") else ""
        yield from filter(None, (named, *(paragraph.strip() for paragraph in section.texts("paragraphs"))))


def _answer(given: Row) -> _Answer | None:
    """The answer of one annotator; None where the paper does not answer the question."""
    if given.values.get("unanswerable"):
        return None
    evidence = given.texts("evidence")
    spans = tuple(span.strip() for span in given.texts("extractive_spans") if span.strip())
    if spans:
        return _Answer(text=", ".join(spans), kind="extractive", evidence=evidence)
    free = given.text("free_form_answer").strip() if given.holds("free_form_answer") else ""
    if free:
        return _Answer(text=free, kind="free_form", evidence=evidence)
    if given.holds("yes_no"):
        return _Answer(text="Yes" if given.values["yes_no"] else "No", kind="yes_no", evidence=evidence)
    return None


def _spans(context: str, evidence: Sequence[str]) -> tuple[Span, ...]:
    quotes = (quote.strip() for quote in evidence)
    starts = ((context.find(quote), quote) for quote in quotes if quote)
    return tuple(Span(start=start, end=start + len(quote)) for start, quote in starts if start >= 0)
