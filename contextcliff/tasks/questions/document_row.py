"""Numbered documents in a row that fills a length: those that answer at their depth, the last of the others cut."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, count, islice

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document, Question, Span
from contextcliff.records.sample import Passage, Recipe, Words, render
from contextcliff.tasks.grid import too_short
from contextcliff.tasks.values import plain, stands_in
from contextcliff.text.tokens import TokenisedText, Tokenizer, tokenise

_PARAGRAPH = re.compile(r"\S(?:(?!\n\s*\n).)*(?<!\s)", re.DOTALL)
_IN_NO_TEXT = frozenset({"yes", "no"})
"""Answers that no text gives by holding them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentPool:
    """The pieces of all texts, each a document of its own in prompts, and named by its place here."""

    pieces: tuple[Passage, ...]
    texts: Mapping[str, Document]
    paragraphs: Mapping[str, Sequence[tuple[Span, int]]]
    titled: Mapping[str, Sequence[str]]

    def text(self, piece: int) -> str:
        found = self.pieces[piece]
        return self.texts[found.document_id].text[found.start : found.end]

    def golden(self, question: Question) -> tuple[int, ...]:
        """The pieces that hold the evidence, in its order; without evidence the whole text, where it is one piece."""
        paragraphs = self.paragraphs[question.document_id]
        if not question.evidence:
            whole = {piece for _, piece in paragraphs}
            return tuple(whole) if len(whole) == 1 else ()
        holding = (
            piece
            for span in question.evidence
            for paragraph, piece in paragraphs
            if paragraph.start < span.end and span.start < paragraph.end
        )
        return tuple(dict.fromkeys(holding))

    def distractors(self, question: Question, rng: random.Random) -> Iterator[int]:
        """The pieces that hold no accepted answer, in random order: those of the same text or title first."""
        golden, title = set(self.golden(question)), self.texts[question.document_id].title
        near = {piece for name in self.titled[title] for _, piece in self.paragraphs[name]} - golden
        first, apart = sorted(near), near | golden
        rng.shuffle(first)
        rest = (piece for piece in in_random_order(len(self.pieces), rng) if piece not in apart)
        return (piece for piece in chain(first, rest) if not holds_answer(self.text(piece), question.answers))


def pool_of(corpus: Corpus, characters: int) -> DocumentPool:
    """Cut every text between paragraphs into pieces of up to so many characters; a longer paragraph is one piece. Equal
    pieces are one, and a text whose paragraphs all stand in texts before it adds none."""
    pieces: list[Passage] = []
    by_text: dict[str, int] = {}
    by_paragraph: dict[str, int] = {}
    paragraphs: dict[str, list[tuple[Span, int]]] = {}
    titled: dict[str, list[str]] = {}
    for document in corpus.documents:
        name, text = document.document_id, document.text
        titled.setdefault(document.title, []).append(name)
        spans = [Span(start=found.start(), end=found.end()) for found in _PARAGRAPH.finditer(text)]
        if spans and all(text[span.start : span.end] in by_paragraph for span in spans):
            known = [by_paragraph[text[span.start : span.end]] for span in spans]
        else:
            known = []
            for group in _joined(spans, characters):
                start, end = group[0].start, group[-1].end
                piece = by_text.setdefault(text[start:end], len(pieces))
                if piece == len(pieces):
                    pieces.append(Passage(document_id=name, start=start, end=end))
                known += [piece] * len(group)
        for span, piece in zip(spans, known, strict=True):
            by_paragraph.setdefault(text[span.start : span.end], piece)
        paragraphs[name] = list(zip(spans, known, strict=True))
    texts = {document.document_id: document for document in corpus.documents}
    return DocumentPool(pieces=tuple(pieces), texts=texts, paragraphs=paragraphs, titled=titled)


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether a text holds one of the answers, as whole words; `yes` and `no` are held by none."""
    return any(stands_in(answer, text) for answer in answers if plain(answer) not in _IN_NO_TEXT)


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


_BETWEEN = "\n\n"
_COUNTED_NUMBER = 10
_FEWEST_TOKENS = 4
_NEARLY_FULL_TOKENS = 3
_FULL_TOKENS = 16
"""A row this near to its length is long enough, and so is one within a hundredth of it."""
_ATTEMPTS = 4
_CANDIDATES = 24


Frame = tuple[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """A document of a row: a piece of the pool up to the character `end` of its text, with its heading's tokens."""

    piece: int
    end: int
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A prompt. `starts` are the tokens before each document that answers, `off` is how far the first stands from its
    depth, as a share of the other documents."""

    recipe: Recipe
    tokens: int
    starts: tuple[int, ...] = ()
    off: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RowBuilder:
    """Builds rows of the documents of one pool, each of which is tokenised once."""

    pool: DocumentPool
    tokenizer: Tokenizer
    headed: Callable[[int], str]
    counted: dict[int, TokenisedText] = field(default_factory=dict)

    def alone(self, frame: Frame, answering: Sequence[int]) -> Row:
        return self._row(frame, [], [self._placed(piece) for piece in answering], 0.0)

    def filled(
        self, frame: Frame, question: Question, answering: Sequence[int], context_tokens: int, depth: float, seed: int
    ) -> Row:
        """The documents that answer among as many distractors, in their order of drawing, as the length holds. Raises
        `ConfigError` where those that answer do not fit, and where there are too few others."""
        rng = random.Random(seed)
        others = self.pool.distractors(question, rng)
        golden = [self._placed(piece) for piece in answering]
        rng.shuffle(golden)
        row = self._row(frame, [], golden, 0.0)
        if row.tokens > context_tokens:
            raise too_short(context_tokens, row.tokens, lower="task.evidence_characters")
        order_seed = rng.getrandbits(32)

        def shuffled(others: Sequence[Placed]) -> Row:
            """In an order that another cut of the last one does not change."""
            order = list(range(len(others)))
            random.Random(order_seed).shuffle(order)
            return self._row(frame, [others[place] for place in order], golden, depth)

        drawn: Iterator[Placed] = (self._placed(piece) for piece in others)
        whole: list[Placed] = []
        while (last := next(drawn, None)) is not None:
            room = context_tokens - row.tokens
            if last.tokens > room:
                break
            whole.append(last)
            # Counts of documents add up to nearly that of the row, which is counted where it is nearly full.
            room -= last.tokens
            while (following := next(drawn, None)) is not None and following.tokens <= room:
                whole.append(following)
                room -= following.tokens
            drawn = drawn if following is None else chain([following], drawn)
            row = shuffled(whole)
        room = context_tokens - row.tokens
        if last is None and room > max(_FULL_TOKENS, context_tokens // 100):
            raise ConfigError(
                f"task.lengths: {context_tokens:,} tokens are {room:,} more than all documents of the dataset fill "
                "that do not hold the answer; ask for shorter ones, or take a dataset with more documents"
            )
        if last is None or 0 <= room <= _NEARLY_FULL_TOKENS:
            return row
        if room < 0 or (whole and not self._cut(last, room).end):
            # The last whole document gives way to one that is longer, and is cut there.
            shorter = whole.pop()
            room += shorter.tokens
            longer = (each for each in chain([shorter, last], islice(drawn, _CANDIDATES)) if each.tokens > room)
            last = next(longer, shorter)
        best: Row | None = None
        for attempt in count():  # until the last document is cut so that the whole fits, by a count of it
            cut = self._cut(last, room)
            row = shuffled([*whole, *([cut] if cut.end else [])])
            missing = context_tokens - row.tokens
            if missing >= 0 and (best is None or row.tokens > best.tokens):
                best = row
            if best is not None and (0 <= missing <= _NEARLY_FULL_TOKENS or cut == last or attempt >= _ATTEMPTS):
                return best
            room += missing
        raise AssertionError("a cut document is empty in the end")

    def _row(self, frame: Frame, others: Sequence[Placed], golden: Sequence[Placed], depth: float) -> Row:
        """The first that answers at its depth, the rest evenly after it, by the tokens of the other documents."""
        before = list(accumulate((document.tokens for document in others), initial=0))
        wanted = [depth + (1.0 - depth) * rank / len(golden) for rank in range(len(golden))]
        places = [min(range(len(before)), key=lambda at: abs(before[at] - share * before[-1])) for share in wanted]
        documents: list[Placed] = []
        starts: list[int] = []
        passed = 0
        for place in range(len(before)):
            for document in (each for each, at in zip(golden, places, strict=True) if at == place):
                starts.append(before[place] + passed)
                passed += document.tokens
                documents.append(document)
            documents += others[place : place + 1]
        pieces: list[Words | Passage] = [Words(text=frame[0])]
        for number, document in enumerate(documents, start=1):
            found = self.pool.pieces[document.piece]
            pieces += [
                Words(text=f"{_BETWEEN if number > 1 else ''}{self.headed(number)}"),
                Passage(document_id=found.document_id, start=found.start, end=found.start + document.end),
            ]
        recipe = Recipe(user=(*pieces, Words(text=f"{_BETWEEN if documents else ''}{frame[1]}")))
        return Row(
            recipe=recipe,
            tokens=self.tokenizer.count_prompt(render(recipe, self.pool.texts)),
            starts=tuple(starts),
            off=abs(before[places[0]] / before[-1] - depth) if places and before[-1] else 0.0,
        )

    def _placed(self, piece: int) -> Placed:
        heading, text = self._tokenised(piece)
        return Placed(piece=piece, end=len(text.text) - heading, tokens=text.tokens)

    def _cut(self, document: Placed, tokens: int) -> Placed:
        """The beginning of a document in so many tokens; its `end` is 0 where hardly any of it is left."""
        if tokens >= document.tokens:
            return document
        heading, text = self._tokenised(document.piece)
        end = text.end_for(0, max(0, tokens))
        if text.tokens_between(heading, end) < _FEWEST_TOKENS:
            return Placed(piece=document.piece, end=0, tokens=0)
        return Placed(piece=document.piece, end=end - heading, tokens=text.tokens_between(0, end))

    def _tokenised(self, piece: int) -> tuple[int, TokenisedText]:
        heading = f"{_BETWEEN}{self.headed(_COUNTED_NUMBER)}"
        if piece not in self.counted:
            self.counted[piece] = tokenise(f"{heading}{self.pool.text(piece)}", self.tokenizer)
        return len(heading), self.counted[piece]
