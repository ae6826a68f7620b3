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
from contextcliff.tasks.fit import too_short
from contextcliff.tasks.values import plain, stands_in
from contextcliff.text.tokens import TokenisedText, Tokenizer, tokenise

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


_BETWEEN = "\n\n"
_COUNTED_NUMBER = 10
"""Documents are counted with this number over them."""
_FEWEST_TOKENS = 4
"""Of the text of a cut document."""
_NEARLY_FULL_TOKENS = 3
_FULL_TOKENS = 16
"""A row this near to its length is long enough, and so is one within a hundredth of it."""
_ATTEMPTS = 4
"""So often the cut is moved to come nearer to the length."""
_CANDIDATES = 24
"""Documents among which one is looked for that is long enough to be cut."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """What stands before a row and after it, and over each of its documents by their number."""

    before: str
    after: str
    headed: Callable[[int], str]


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

    @property
    def distance(self) -> int | None:
        """Tokens between neighbouring documents that answer, on average; None where there is one or none."""
        apart = len(self.starts) - 1
        return round((self.starts[-1] - self.starts[0]) / apart) if apart > 0 else None


@dataclass(frozen=True, kw_only=True, slots=True)
class RowBuilder:
    """Builds rows of the documents of one pool, each of which is tokenised once."""

    pool: DocumentPool
    tokenizer: Tokenizer
    counted: dict[tuple[int, str], TokenisedText] = field(default_factory=dict)

    def alone(self, frame: Frame, answering: Sequence[int]) -> Row:
        """Only the documents that answer."""
        return self._row(frame, [], [self._placed(frame, piece) for piece in answering], 0.0)

    def filled(
        self,
        frame: Frame,
        answering: Sequence[int],
        others: Iterator[int],
        *,
        context_tokens: int,
        depth: float,
        rng: random.Random,
    ) -> Row:
        """The documents that answer among as many of `others`, in their order of drawing, as the length holds.

        Raises `ConfigError` where those that answer do not fit, and where there are too few others.
        """
        golden = [self._placed(frame, piece) for piece in answering]
        rng.shuffle(golden)
        bare = self._row(frame, [], golden, 0.0)
        if bare.tokens > context_tokens:
            raise too_short(context_tokens, bare.tokens, lower="task.evidence_characters")
        drawn: Iterator[Placed] = (self._placed(frame, piece) for piece in others)
        whole: list[Placed] = []
        seed, row = rng.getrandbits(32), bare
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
            row = self._shuffled(frame, whole, golden, depth, seed)
        room = context_tokens - row.tokens
        if last is None and room > max(_FULL_TOKENS, context_tokens // 100):
            raise ConfigError(
                f"task.lengths: {context_tokens:,} tokens are {room:,} more than all documents of the dataset fill "
                "that do not hold the answer; ask for shorter ones, or take a dataset with more documents"
            )
        if last is None or 0 <= room <= _NEARLY_FULL_TOKENS:
            return row
        if room < 0 or (whole and not self._cut(frame, last, room).end):
            # The last whole document gives way to one that is longer, and is cut there.
            shorter = whole.pop()
            room += shorter.tokens
            longer = (each for each in chain([shorter, last], islice(drawn, _CANDIDATES)) if each.tokens > room)
            last = next(longer, shorter)
        return self._fitted(frame, whole, last, room, golden, context_tokens, depth, seed)

    def _fitted(
        self,
        frame: Frame,
        whole: Sequence[Placed],
        last: Placed,
        room: int,
        golden: Sequence[Placed],
        context_tokens: int,
        depth: float,
        seed: int,
    ) -> Row:
        """The row with `last` cut until it fits, by a count of the whole."""
        best: Row | None = None
        for attempt in count():
            cut = self._cut(frame, last, room)
            row = self._shuffled(frame, [*whole, *([cut] if cut.end else [])], golden, depth, seed)
            missing = context_tokens - row.tokens
            if missing >= 0 and (best is None or row.tokens > best.tokens):
                best = row
            if best is not None and (0 <= missing <= _NEARLY_FULL_TOKENS or cut == last or attempt >= _ATTEMPTS):
                return best
            room += missing
        raise AssertionError("a cut document is empty in the end")

    def _shuffled(
        self, frame: Frame, others: Sequence[Placed], golden: Sequence[Placed], depth: float, seed: int
    ) -> Row:
        """The others in an order that another cut of the last one does not change."""
        order = list(range(len(others)))
        random.Random(seed).shuffle(order)
        return self._row(frame, [others[place] for place in order], golden, depth)

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
        recipe = self._recipe(frame, documents)
        return Row(
            recipe=recipe,
            tokens=self.tokenizer.count_prompt(render(recipe, self.pool.texts)),
            starts=tuple(starts),
            off=abs(before[places[0]] / before[-1] - depth) if places and before[-1] else 0.0,
        )

    def _recipe(self, frame: Frame, documents: Sequence[Placed]) -> Recipe:
        pieces: list[Words | Passage] = [Words(text=frame.before)]
        for number, document in enumerate(documents, start=1):
            found = self.pool.pieces[document.piece]
            start = found.span.start
            pieces += [
                Words(text=f"{_BETWEEN if number > 1 else ''}{frame.headed(number)}"),
                Passage(document_id=found.document_id, start=start, end=start + document.end),
            ]
        return Recipe(user=(*pieces, Words(text=f"{_BETWEEN if documents else ''}{frame.after}")))

    def _placed(self, frame: Frame, piece: int) -> Placed:
        heading, text = self._tokenised(frame, piece)
        return Placed(piece=piece, end=len(text.text) - heading, tokens=text.tokens)

    def _cut(self, frame: Frame, document: Placed, tokens: int) -> Placed:
        """The beginning of a document in so many tokens; its `end` is 0 where hardly any of it is left."""
        if tokens >= document.tokens:
            return document
        heading, text = self._tokenised(frame, document.piece)
        end = text.end_for(0, max(0, tokens))
        if text.tokens_between(heading, end) < _FEWEST_TOKENS:
            return Placed(piece=document.piece, end=0, tokens=0)
        return Placed(piece=document.piece, end=end - heading, tokens=text.tokens_between(0, end))

    def _tokenised(self, frame: Frame, piece: int) -> tuple[int, TokenisedText]:
        """The characters of the heading, and the document under it."""
        heading = f"{_BETWEEN}{frame.headed(_COUNTED_NUMBER)}"
        key = (piece, heading)
        if key not in self.counted:
            self.counted[key] = tokenise(f"{heading}{self.pool.text(piece)}", self.tokenizer)
        return len(heading), self.counted[key]
