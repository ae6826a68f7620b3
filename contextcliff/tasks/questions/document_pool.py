"""The documents among which a question's own ones stand: the texts of a dataset in pieces, each of them once.

Pure, and apart from any tokenizer: every model has the same documents.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from contextcliff.records.corpus import Corpus, Document, Question, Span
from contextcliff.tasks.answer_texts import plain, stands_in

_BREAK = re.compile(r"\n\s*\n")
_IN_NO_TEXT = frozenset({"yes", "no"})
"""Answers that no text gives by holding them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A stretch of a text that stands in prompts as a document of its own."""

    document_id: str
    span: Span

    @property
    def characters(self) -> int:
        """Its length."""
        return self.span.end - self.span.start


@dataclass(frozen=True, kw_only=True, slots=True)
class _Paragraph:
    span: Span
    piece: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentPool:
    """The pieces of all texts; `pieces` are named by their place in it."""

    pieces: tuple[Piece, ...]
    texts: Mapping[str, Document]
    paragraphs: Mapping[str, Sequence[_Paragraph]]
    """Of each text, with the piece that each is in; a text that only repeats others has theirs."""
    titled: Mapping[str, Sequence[str]]
    """The texts of each title."""

    def text(self, piece: int) -> str:
        """What stands in the prompt."""
        found = self.pieces[piece]
        return self.texts[found.document_id].text[found.span.start : found.span.end]

    def golden(self, question: Question) -> tuple[int, ...]:
        """The pieces that hold the evidence, in its order; without evidence the whole text, where it is one piece."""
        paragraphs = self.paragraphs[question.document_id]
        if not question.evidence:
            whole = {paragraph.piece for paragraph in paragraphs}
            return tuple(whole) if len(whole) == 1 else ()
        holding = (
            paragraph.piece
            for span in question.evidence
            for paragraph in paragraphs
            if paragraph.span.start < span.end and span.start < paragraph.span.end
        )
        return tuple(dict.fromkeys(holding))

    def distractors(self, question: Question, golden: Sequence[int], rng: random.Random) -> Iterator[int]:
        """All other pieces that hold no accepted answer, in random order: those of the same text or title first."""
        title = self.texts[question.document_id].title
        near = {paragraph.piece for name in self.titled[title] for paragraph in self.paragraphs[name]} - set(golden)
        apart = near | set(golden)
        first = sorted(near)
        rng.shuffle(first)
        rest = (piece for piece in in_random_order(len(self.pieces), rng) if piece not in apart)
        return (piece for piece in chain(first, rest) if not holds_answer(self.text(piece), question.answers))


def pool_of(corpus: Corpus, characters: int) -> DocumentPool:
    """Cut every text between paragraphs into pieces of up to so many characters; a longer paragraph is one piece.

    Equal pieces are one, and a text whose paragraphs all stand in texts before it adds none.
    """
    pieces: list[Piece] = []
    by_text: dict[str, int] = {}
    by_paragraph: dict[str, int] = {}
    paragraphs: dict[str, list[_Paragraph]] = {}
    titled: dict[str, list[str]] = {}
    for document in corpus.documents:
        titled.setdefault(document.title, []).append(document.document_id)
        spans = paragraph_spans(document.text)
        texts = [document.text[span.start : span.end] for span in spans]
        if spans and all(text in by_paragraph for text in texts):
            known = [by_paragraph[text] for text in texts]
        else:
            known = []
            for group in _joined(spans, characters):
                whole = Span(start=group[0].start, end=group[-1].end)
                piece = by_text.setdefault(document.text[whole.start : whole.end], len(pieces))
                if piece == len(pieces):
                    pieces.append(Piece(document_id=document.document_id, span=whole))
                known += [piece] * len(group)
        for text, piece in zip(texts, known, strict=True):
            by_paragraph.setdefault(text, piece)
        paragraphs[document.document_id] = [
            _Paragraph(span=span, piece=piece) for span, piece in zip(spans, known, strict=True)
        ]
    return DocumentPool(
        pieces=tuple(pieces),
        texts={document.document_id: document for document in corpus.documents},
        paragraphs=paragraphs,
        titled=titled,
    )


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether a text holds one of the answers, as whole words; `yes` and `no` are held by none."""
    return any(stands_in(answer, text) for answer in answers if plain(answer) not in _IN_NO_TEXT)


def paragraph_spans(text: str) -> tuple[Span, ...]:
    """The paragraphs of a text, which blank lines separate, without the blanks around them."""
    spans: list[Span] = []
    start = 0
    for end, following in [*((gap.start(), gap.end()) for gap in _BREAK.finditer(text)), (len(text), len(text))]:
        bare = text[start:end]
        if bare.strip():
            first = start + len(bare) - len(bare.lstrip())
            spans.append(Span(start=first, end=first + len(bare.strip())))
        start = following
    return tuple(spans)


def _joined(spans: Sequence[Span], characters: int) -> Iterator[list[Span]]:
    group: list[Span] = []
    for span in spans:
        if group and span.end - group[0].start > characters:
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def in_random_order(count: int, rng: random.Random) -> Iterator[int]:
    """Numbers below `count`, shuffled as far as they are taken (Fisher and Yates): a few of a million cost little."""
    moved: dict[int, int] = {}
    for place in range(count):
        drawn = rng.randrange(place, count)
        yield moved.get(drawn, drawn)
        moved[drawn] = moved.get(place, place)
