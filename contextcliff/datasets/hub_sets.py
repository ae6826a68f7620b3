"""The question sets of the hub, a class each: what their columns are called, and where the evidence stands.

| dataset | |
| --- | --- |
| `squad` | SQuAD 1.1 (Rajpurkar et al. 2016), questions on one fact in one paragraph of Wikipedia |
| `narrativeqa` | NarrativeQA (Kočiský et al. 2018), questions on stories, or on summaries of them |
| `quality` | QuALITY (Pang et al. 2022), four-choice questions on texts of some 5,000 words |
| `longbench_v2` | LongBench v2 (Bai et al. 2024), four-choice questions on 8,000 to 2 million words |
| `qasper` | QASPER (Dasigi et al. 2021), questions on whole papers about language processing |
| `hotpotqa` | HotpotQA (Yang et al. 2018), questions that need two of ten paragraphs |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from contextcliff.datasets.entries import Entry, Row, are_distinct, choice_at
from contextcliff.datasets.hub_questions import EQUAL_CHOICES, HubQuestions
from contextcliff.records.corpus import Span
from contextcliff.settings import Name, NonNegativeInt, settings

_BREAK = "\n\n"
_MISPLACED = "answers do not stand where answer_start says; their evidence is left out"


@settings
class Squad(HubQuestions):
    """Schema of `rajpurkar/squad`: `id, title, context, question, answers {text, answer_start}`."""

    name = "squad"

    repository: Name = "rajpurkar/squad"
    split: str = "validation"

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
        context, given = row.text("context"), row.mapping("answers")
        answers, starts = given.texts("text"), given.sequence("answer_start")
        evidence = [
            Span(start=start, end=start + len(answer))
            for answer, start in zip(answers[:1], starts, strict=False)
            if isinstance(start, int) and answer and context.startswith(answer, start)
        ]
        left_out[_MISPLACED] += bool(starts) and not evidence
        yield Entry(
            place=row.place,
            context=context,
            question=row.text("question"),
            answers=answers,
            question_id=row.label("id"),
            title=row.heading("title"),
            evidence=tuple(evidence),
        )


@settings
class NarrativeQA(HubQuestions):
    """Schema of `deepmind/narrativeqa`: `document {id, kind, summary {text, title}, text}, question {text}, answers`.
    The questions were written from the summaries, so a few are answered in the story only indirectly."""

    name = "narrativeqa"
    schema_keys = ("text",)

    repository: Name = "deepmind/narrativeqa"
    split: str = "test"
    text: Literal["summary", "story"] = "summary"
    """`summary` has about a thousand tokens; `story` is the whole book or film script."""

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:  # noqa: ARG002 - nothing is left out
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


@settings
class Quality(HubQuestions):
    """Schema of `tasksource/QuALITY`: `article, question, options, gold_label`; the label counts from 1.
    `emozilla/quality` has the same texts with `label=answer` and `first_label=0`."""

    name = "quality"
    schema_keys = ("label", "first_label")

    repository: Name = "tasksource/QuALITY"
    split: str = "validation"
    label: str = "gold_label"
    """The column with the number of the right option."""
    first_label: NonNegativeInt = 1

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
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


_LETTERS = "ABCD"
_CHOICES = tuple(f"choice_{letter}" for letter in _LETTERS)
_METADATA = ("domain", "sub_domain", "difficulty")


@settings
class LongBenchV2(HubQuestions):
    """Schema of `THUDM/LongBench-v2`: `_id, context, question, choice_A … choice_D, answer`; the answer is a letter."""

    name = "longbench_v2"

    repository: Name = "THUDM/LongBench-v2"
    split: str = "train"

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
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


_UNANSWERABLE = "questions that the annotators could not answer from their paper are left out"
_Answer = tuple[str, str, tuple[str, ...]]
_ABSENT_EVIDENCE = "pieces of evidence are figures, tables or otherwise not in the text, and are left out"


@settings
class Qasper(HubQuestions):
    """Schema of `allenai/qasper`: a row is a paper, `title, abstract, full_text` in sections, and its questions `qas`.

    Answers are read as in the authors' scoring: spans joined by commas, free text, or yes or no. The evidence is that
    of the first annotator who answered. The repository has a loading script, which is not run: `revision` names
    the hub's conversion to Parquet, which has no named configuration."""

    name = "qasper"

    repository: Name = "allenai/qasper"
    split: str = "validation"
    revision: str | None = "refs/convert/parquet"

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
        context, title = _BREAK.join(_paragraphs(row)), row.heading("title")
        for question in row.mappings("qas"):
            answers = [answer for given in question.mappings("answers") if (answer := _answer(given.mapping("answer")))]
            if not answers:
                left_out[_UNANSWERABLE] += 1
                continue
            _, kind, quotes = answers[0]
            evidence = _spans(context, quotes)
            left_out[_ABSENT_EVIDENCE] += len(quotes) - len(evidence)
            yield Entry(
                place=row.place,
                context=context,
                question=question.text("question"),
                answers=tuple(text for text, *_ in answers),
                question_id=question.label("question_id"),
                document_id=row.label("id"),
                title=title,
                evidence=evidence,
                level=min(2, max(1, len(evidence))),
                metadata={"answer_kind": kind},
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
    spans = ", ".join(filter(None, map(str.strip, given.texts("extractive_spans"))))
    free = given.text("free_form_answer").strip() if given.holds("free_form_answer") else ""
    yes_no = ("Yes" if given.values["yes_no"] else "No") if given.holds("yes_no") else ""
    kinds = {"extractive": spans, "free_form": free, "yes_no": yes_no}
    return next(((text, kind, given.texts("evidence")) for kind, text in kinds.items() if text), None)


def _spans(context: str, evidence: Sequence[str]) -> tuple[Span, ...]:
    quotes = (quote.strip() for quote in evidence)
    starts = ((context.find(quote), quote) for quote in quotes if quote)
    return tuple(Span(start=start, end=start + len(quote)) for start, quote in starts if start >= 0)


_ABSENT_FACTS = "supporting facts name a sentence that is not in the text, and are left out"
_Sentence = tuple[str, int]


@settings
class HotpotQA(HubQuestions):
    """Schema of `hotpotqa/hotpot_qa`: `id, question, answer, supporting_facts, context {title, sentences}`. Each
    paragraph follows its title. The supporting sentences are the evidence. Every question is of level 2."""

    name = "hotpotqa"

    repository: Name = "hotpotqa/hotpot_qa"
    configuration: str | None = "distractor"
    split: str = "validation"

    def entries(self, row: Row, left_out: Counter[str]) -> Iterator[Entry]:
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
