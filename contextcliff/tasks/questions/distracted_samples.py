"""The samples of task `qa_distractors`: which questions are asked, and the documents around those that answer them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, count, pairwise, zip_longest
from typing import TYPE_CHECKING, Self

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Question, Span
from contextcliff.records.sample import Passage, Recipe, Reference, Sample, Words, render
from contextcliff.seeding import digest_of, seed_of
from contextcliff.tasks.grid_blocks import Asked
from contextcliff.tasks.needles.haystack import SEAM_TOKENS
from contextcliff.tasks.questions.contained import contains_reference
from contextcliff.tasks.questions.document_pool import DocumentPool, pool_of
from contextcliff.tasks.task import Materials
from contextcliff.text.tokens import TokenisedText, tokenise

if TYPE_CHECKING:
    from contextcliff.tasks.questions.distracted import DistractedQa

_BETWEEN = "\n\n"
_FEWEST_TOKENS = 4
"""Of a cut document: what is left of a length below that stays empty."""
_ATTEMPTS = 4
"""So often the cut is moved to come nearer to the length."""
_MISPLACED = 0.2
"""Of the documents, where one depth is asked for."""
_COUNTED_NUMBER = 10
"""Documents are counted with this number over them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Posed:
    """A question that can be asked, with the pieces that answer it."""

    question: Question
    golden: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Placed:
    """A document of a prompt: a piece of the pool up to the character `end` of its text."""

    piece: int
    end: int
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Built:
    """The documents of a prompt in their order. `off` is how far the first that answers stands from its depth."""

    recipe: Recipe
    tokens: int
    off: float = 0.0
    metadata: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class DistractedMaker:
    """Makes the samples of a run. `asked` names what of the configuration determines a single sample."""

    task: DistractedQa
    materials: Materials
    pool: DocumentPool
    posed: tuple[Posed, ...]
    left_out: Mapping[str, int]
    asked: str
    counted: dict[int, TokenisedText] = field(default_factory=dict)
    off: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, task: DistractedQa, materials: Materials, *, asked: str) -> Self:
        """Cut the texts and choose the questions. Raises `ConfigError` where a length would ask one twice."""
        pool = pool_of(materials.corpus, task.document_characters)
        left_out: Counter[str] = Counter()
        posed = in_rounds(
            _askable(materials.corpus.questions, pool, task.evidence_characters, left_out), materials.seed
        )
        if len(posed) < len(task.places):
            why = "; ".join(_reasons(left_out)) or "it has no more"
            raise ConfigError(
                f"dataset: has {len(posed):,} questions that can be asked, and task={task.name} takes one for each of "
                f"{len(task.places)} depths ({why}); take another dataset, or fewer depths"
            )
        if len(posed) < task.questions_a_length:
            key, given, most = (
                ("max_trials", task.max_trials, len(posed))
                if task.trials == "auto"
                else ("trials", task.trials, len(posed) // len(task.places))
            )
            raise ConfigError(
                f"task.{key}={given}: a length asks each question once, and the dataset has {len(posed):,} that can be "
                f"asked; give {most:,} or fewer, or take a dataset with more questions"
            )
        return cls(task=task, materials=materials, pool=pool, posed=posed, left_out=left_out, asked=asked)

    def make(self, *, context_tokens: int, depth: float | None, trial: int) -> Asked:
        """The sample of one length, depth and trial, and its controls."""
        places = self.task.places
        posed = self.posed[trial * len(places) + places.index(depth)]
        question = posed.question
        context = (self.materials.seed, self.task.name, self.asked, self.materials.text_identity, context_tokens)
        coordinates = (*context, depth, trial, question.question_id)
        seed, digest = seed_of(*coordinates), digest_of(*coordinates)[:8]
        built = self._filled(posed, posed.golden, context_tokens, depth or 0.0, seed)
        name = f"{self.task.name}-{context_tokens:06d}-d{depth or 0.0:.3f}-t{trial:02d}-{digest}"
        sample = replace(
            self._sample(posed, built, name=name, seed=seed),
            context_tokens=context_tokens,
            depth=depth,
            trial=trial,
            metadata={**question.metadata, "level": question.level, **built.metadata},
        )
        self.off[name] = built.off
        controls = self._controls(posed, seed) if self.task.controls else ()
        return Asked(
            sample=replace(sample, controls=tuple(control.sample_id for control in controls)), controls=controls
        )

    def notes(self, sample_ids: Collection[str]) -> tuple[str, ...]:
        """Questions that are left out, and documents that stand far from their depth."""
        depths = sorted({depth for depth in self.task.places if depth is not None})
        most = min((right - left for left, right in pairwise(depths)), default=_MISPLACED)
        off = [self.off[name] for name in sample_ids if self.off.get(name, 0.0) > most]
        left_out = "; ".join(_reasons(self.left_out))
        notes = [f"questions of the dataset that are left out: {left_out}"] if left_out else []
        if off:
            notes.append(
                f"{len(off):,} of {len(sample_ids):,} samples have their document more than {most:.2g} of the text "
                f"from its depth (the farthest {max(off):.2f}), since few others stand around it; ask for more tokens"
            )
        return tuple(notes)

    def _controls(self, posed: Posed, seed: int) -> tuple[Sample, ...]:
        """The documents that answer alone, and the shortest length without them."""
        golden = [self._placed(piece) for piece in posed.golden]
        alone = self._built(posed, self._ordered([], golden, 0.0))
        shortest = min(self.task.lengths_in(self.materials.context_budget))
        without = self._filled(posed, (), shortest, 0.0, seed)
        return tuple(
            replace(
                self._sample(posed, built, name=f"{self.task.name}-{kind}-{identity[:16]}", seed=seed_of(identity)),
                control=kind,
            )
            for kind, built in (("ceiling", alone), ("floor", without))
            for identity in [digest_of(self.task.name, kind, self.materials.text_identity, _pieces(built.recipe))]
        )

    def _sample(self, posed: Posed, built: _Built, *, name: str, seed: int) -> Sample:
        question, document = posed.question, self.pool.texts[posed.question.document_id]
        evidence = question.evidence or (Span(start=0, end=len(document.text)),)
        return Sample(
            sample_id=name,
            task=self.task.name,
            context_tokens=built.tokens,
            built_tokens=built.tokens,
            depth=None,
            trial=0,
            document_id=document.document_id,
            question=question.text,
            answers=question.answers,
            reference=Reference(evidence=evidence, reply=question.answers[0]),
            recipe=built.recipe,
            seed=seed,
            answer_tokens=self.task.max_tokens,
        )

    def _filled(self, posed: Posed, golden: Sequence[int], context_tokens: int, depth: float, seed: int) -> _Built:
        """The documents that answer among as many others as the length holds, the last of them cut to fit.

        Raises `ConfigError` where what answers does not fit, and where the dataset is too small.
        """
        rng = random.Random(seed)
        answering = [self._placed(piece) for piece in golden]
        rng.shuffle(answering)
        frame = self._count(self._recipe(posed, ())) + SEAM_TOKENS
        room = context_tokens - frame - sum(document.tokens for document in answering)
        if room < 0:
            raise ConfigError(
                f"task.lengths: {context_tokens:,} is too short: template, question and the documents that answer it "
                f"take {context_tokens - room:,} tokens; ask for longer ones, or lower task.evidence_characters"
            )
        others: list[_Placed] = []
        for piece in self.pool.distractors(posed.question, posed.golden, rng):
            others.append(self._placed(piece))
            room -= others[-1].tokens
            if room <= 0:
                break
        if room > _FEWEST_TOKENS + self._heading_tokens:
            raise ConfigError(
                f"task.lengths: {context_tokens:,} tokens are {room:,} more than all documents of the dataset fill "
                "that do not hold the answer; ask for shorter ones, or take a dataset with more documents"
            )
        return self._fitted(posed, answering, others, room, context_tokens, depth, rng.getrandbits(32))

    def _fitted(
        self,
        posed: Posed,
        answering: Sequence[_Placed],
        others: Sequence[_Placed],
        room: int,
        context_tokens: int,
        depth: float,
        seed: int,
    ) -> _Built:
        """The prompt with the last of the others cut until it fits, by a count of the whole."""
        *whole, last = others or [_Placed(piece=0, end=0, tokens=0)]
        allowed = last.tokens + min(0, room)
        order = [*range(len(whole) + 1)]
        random.Random(seed).shuffle(order)
        best: _Built | None = None
        for attempt in count():
            cut = self._cut(last, allowed)
            around = [[*whole, cut][place] for place in order]
            built = self._built(posed, self._ordered([each for each in around if each.end], answering, depth))
            missing = context_tokens - built.tokens
            if missing >= 0 and (best is None or built.tokens > best.tokens):
                best = built
            if best is not None and (missing <= SEAM_TOKENS or cut == last or attempt >= _ATTEMPTS):
                return best
            allowed += missing
        raise AssertionError("a cut document is empty in the end")

    def _ordered(self, others: Sequence[_Placed], answering: Sequence[_Placed], depth: float) -> _Order:
        """The first that answers at its depth, the rest evenly after it, by the tokens of the other documents."""
        before = list(accumulate((document.tokens for document in others), initial=0))
        wanted = [depth + (1.0 - depth) * rank / len(answering) for rank in range(len(answering))]
        places = [
            min(range(len(before)), key=lambda place: abs(before[place] - share * before[-1])) for share in wanted
        ]
        documents: list[_Placed] = []
        starts: list[int] = []
        for place in range(len(before)):
            for rank in (rank for rank, at in enumerate(places) if at == place):
                starts.append(sum(document.tokens for document in documents))
                documents.append(answering[rank])
            documents += others[place : place + 1]
        off = abs(before[places[0]] / before[-1] - depth) if places and before[-1] else 0.0
        return _Order(documents=tuple(documents), starts=tuple(starts), off=off)

    def _built(self, posed: Posed, order: _Order) -> _Built:
        recipe = self._recipe(posed, order.documents)
        apart = len(order.starts) - 1
        distances = (
            {"evidence_distance_tokens": round((order.starts[-1] - order.starts[0]) / apart)} if apart > 0 else {}
        )
        return _Built(recipe=recipe, tokens=self._count(recipe), off=order.off, metadata=distances)

    def _recipe(self, posed: Posed, documents: Sequence[_Placed]) -> Recipe:
        before, after = self.task.framed(posed.question.text)
        pieces: list[Words | Passage] = [Words(text=before)]
        for number, document in enumerate(documents, start=1):
            found = self.pool.pieces[document.piece]
            start = found.span.start
            pieces += [
                Words(text=f"{_BETWEEN if number > 1 else ''}{self.task.headed(number)}"),
                Passage(document_id=found.document_id, start=start, end=start + document.end),
            ]
        return Recipe(user=(*pieces, Words(text=f"{_BETWEEN if documents else ''}{after}")))

    def _placed(self, piece: int) -> _Placed:
        text = self._tokenised(piece)
        return _Placed(piece=piece, end=len(text.text), tokens=text.tokens + self._heading_tokens)

    def _cut(self, document: _Placed, tokens: int) -> _Placed:
        """The beginning of a document in so many tokens, its heading included; nothing where hardly any is left."""
        if tokens >= document.tokens:
            return document
        text, left = self._tokenised(document.piece), tokens - self._heading_tokens
        end = text.end_for(0, left) if left >= _FEWEST_TOKENS else 0
        used = text.tokens_between(0, end) + self._heading_tokens if end else 0
        return _Placed(piece=document.piece, end=end, tokens=used)

    @property
    def _heading_tokens(self) -> int:
        return len(self.materials.tokenizer.starts(f"{_BETWEEN}{self.task.headed(_COUNTED_NUMBER)}"))

    def _tokenised(self, piece: int) -> TokenisedText:
        if piece not in self.counted:
            self.counted[piece] = tokenise(self.pool.text(piece), self.materials.tokenizer)
        return self.counted[piece]

    def _count(self, recipe: Recipe) -> int:
        return self.materials.tokenizer.count_prompt(render(recipe, self.pool.texts))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Order:
    """Documents in their order; `starts` are the tokens before each of those that answer."""

    documents: tuple[_Placed, ...]
    starts: tuple[int, ...]
    off: float


def in_rounds(posed: Iterable[Posed], seed: int) -> tuple[Posed, ...]:
    """The questions in random order, one of each document before the second of any."""
    by_document: dict[int, list[Posed]] = {}
    for each in sorted(posed, key=lambda each: digest_of("order", seed, each.question.question_id)):
        by_document.setdefault(each.golden[0], []).append(each)
    rounds = zip_longest(*by_document.values())
    return tuple(each for around in rounds for each in around if each is not None)


def _askable(
    questions: Iterable[Question], pool: DocumentPool, characters: int, left_out: Counter[str]
) -> Iterator[Posed]:
    """The questions that can be asked. Each that can't is counted in `left_out`, under the words that report it."""
    for question in questions:
        golden = pool.golden(question)
        if question.kind != "short":
            left_out["with choices or for a summary"] += 1
        elif not golden:
            left_out["on a long text whose evidence is not marked"] += 1
        elif sum(pool.pieces[piece].characters for piece in golden) > characters:
            left_out[f"that task.evidence_characters={characters} is too small for"] += 1
        elif not contains_reference(question.answers[0], question.answers, question=question.text):
            left_out["with an answer that can't be told in a sentence"] += 1
        else:
            yield Posed(question=question, golden=golden)


def _reasons(left_out: Mapping[str, int]) -> list[str]:
    return [f"{count:,} {reason}" for reason, count in left_out.items()]


def _pieces(recipe: Recipe) -> list[object]:
    return [
        piece.text if isinstance(piece, Words) else [piece.document_id, piece.start, piece.end] for piece in recipe.user
    ]
