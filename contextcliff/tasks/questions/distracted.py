"""Task `qa_distractors`: a question whose document stands among documents that do not answer it.

RULER's question answering (Hsieh et al. 2024, arXiv:2404.06654): further documents of the same dataset fill the length,
numbered in one row. Those of the same article, story or question come first, others after them. Scored 1 where an
accepted answer stands in what the model says, or by another `metric`.

Other than in RULER, the document stands at each of `task.depths` in turn (its share of the other documents' tokens),
not anywhere; no distractor holds an accepted answer; the last one is cut at a word, so that the length is met; a
dataset too small for a length is refused, where RULER repeats its documents. An answer counts in whole words, and not
where it is denied or one of several candidates (`contained.py`); RULER looks for any substring of the reply.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest
from typing import Annotated, Self

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Question, Span
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Recipe, Reference, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import PositiveInt, settings
from contextcliff.tasks.grid import NOT_IN_A_SAMPLE, WHICH_SAMPLES, Depths, filled, require_fields
from contextcliff.tasks.questions.answers import contains_reference
from contextcliff.tasks.questions.document_row import DocumentPool, Frame, Row, RowBuilder, pool_of
from contextcliff.tasks.questions.qa_scoring import MetricChoice, OwnMetric, deciding, refuse_metric, scored
from contextcliff.tasks.task import Maker, Materials, ScoringContext, Traits, configured
from contextcliff.text.tokens import token_counts


@settings
class DistractedQa(Depths):
    """A grid of lengths and depths (of the document that answers); every length asks the same questions."""

    name = "qa_distractors"

    metric: MetricChoice = "auto"
    """What an answer is scored by; `auto`: contains."""

    document_characters: PositiveInt
    """Paragraphs of a text are joined to documents of up to so many characters; 1: each is a document."""
    evidence_characters: PositiveInt
    """Most that the documents which a question needs may have together."""
    instruction: Annotated[str, Field(min_length=1)]
    """Stands before the documents."""
    heading: str
    """Stands over each of them; names `{number}`."""
    question_label: str
    """Stands before the question."""
    answer_format: str
    """Stands after it."""
    max_tokens: PositiveInt
    """Tokens that an answer may take."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fields("task.heading", self.heading, ("{number}",))
        refuse_metric(self.metric)

    @property
    def traits(self) -> Traits:
        return replace(
            super().traits,
            relative_by_default=True,  # how hard a set's questions are is the set's; length shows against short prompts
            is_judged=self.metric == "judge",
            findings=("answer_measures",),
            not_asked=(*NOT_IN_A_SAMPLE, "metric"),
        )

    def metrics_of(self, samples: Iterable[Sample]) -> tuple[str, ...]:
        return deciding(samples, self._metric)

    @property
    def _metric(self) -> str | OwnMetric:
        return "contains" if self.metric == "auto" else self.metric

    def answer_tokens(self, context_tokens: int) -> int:  # noqa: ARG002 - the same at every length
        return self.max_tokens

    @property
    def questions_a_length(self) -> int:
        """Questions that every length asks, each once."""
        trials = self.most_blocks if self.trials == "auto" else self.trials
        return trials * len(self.places)

    def text_holds(self, materials: Materials) -> int | None:
        """The documents of the dataset that any question leaves for the others of its row."""
        longest = max(self.lengths_in(materials.context_budget))
        maker = self.maker(materials)
        return maker.held(longest)

    def maker(self, materials: Materials) -> DistractedMaker:
        if not materials.corpus.questions:
            raise ConfigError(
                f"dataset: this one has no questions, and task={self.name} asks them; take dataset=stories, squad, "
                "hotpotqa, narrativeqa, qasper, jsonl, documents or mixed"
            )
        return DistractedMaker.of(
            self, materials, asked=digest_of(dict(configured(self, but=(*WHICH_SAMPLES, "metric", "max_tokens"))))
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        """What the answer is worth, with the tag of the failure, as task `qa` has them."""
        return scored(
            sample,
            generation,
            answer=generation.text.strip(),
            format="plain",
            context_words=frozenset(),
            metric=self._metric,
        )

    def framed(self, question: str) -> tuple[str, str]:
        """What stands before the documents and after them."""
        return f"{self.instruction}\n\n", f"{self.question_label} {question}\n{self.answer_format}".rstrip()

    def headed(self, number: int) -> str:
        """What stands over a document."""
        return f"{filled(self.heading, number=str(number))}\n"


_FAR_LONGER = 16
"""Characters of the documents for each token of a length."""
_MISPLACED = 0.2
"""Of the documents, where one depth is asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Posed:
    """A question that can be asked, with the pieces that answer it."""

    question: Question
    golden: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DistractedMaker(Maker):
    """Makes the samples of a run. `asked` names what of the configuration determines a single sample."""

    task: DistractedQa
    materials: Materials
    pool: DocumentPool
    rows: RowBuilder
    posed: tuple[Posed, ...]
    left_out: Mapping[str, int]
    asked: str
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
        rows = RowBuilder(pool=pool, tokenizer=materials.tokenizer)
        return cls(task=task, materials=materials, pool=pool, rows=rows, posed=posed, left_out=left_out, asked=asked)

    def make(self, *, context_tokens: int, depth: float | None, trial: int) -> Iterator[Sample]:
        places = self.task.places
        posed = self.posed[trial * len(places) + places.index(depth)]
        question = posed.question
        context = (self.materials.seed, self.task.name, self.asked, self.materials.text_identity, context_tokens)
        coordinates = (*context, depth, trial, question.question_id)
        seed, digest = seed_of(*coordinates), digest_of(*coordinates)[:8]
        row = self._filled(posed, posed.golden, context_tokens, depth or 0.0, seed)
        name = f"{self.task.name}-{context_tokens:06d}-d{depth or 0.0:.3f}-t{trial:02d}-{digest}"
        sample = replace(
            self._sample(posed, row, name=name, seed=seed),
            context_tokens=context_tokens,
            depth=depth,
            trial=trial,
            metadata={
                **question.metadata,
                "level": question.level,
                **({} if row.distance is None else {"evidence_distance_tokens": row.distance}),
            },
        )
        self.off[name] = row.off
        yield sample
        if self.task.controls:
            yield from self._controls(posed, seed)

    def held(self, longest: int) -> int | None:
        """Tokens of the documents that do not hold the answer, for the question that leaves the fewest.

        None where the texts are far longer than the `longest` prompt: they are then not searched for answers.
        """
        pool, asked = self.pool, self.posed[: self.task.questions_a_length]
        if sum(piece.characters for piece in pool.pieces) > _FAR_LONGER * longest:
            return None
        texts = [pool.text(piece) for piece in range(len(pool.pieces))]
        tokens = token_counts(texts, self.materials.tokenizer)
        return min(
            sum(tokens[piece] for piece in pool.distractors(posed.question, posed.golden, random.Random(0)))
            for posed in asked
        )

    def notes(self, sample_ids: Collection[str]) -> tuple[str, ...]:
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
        alone = self.rows.alone(self._frame(posed), posed.golden)
        shortest = min(self.task.lengths_in(self.materials.context_budget))
        without = self._filled(posed, (), shortest, 0.0, seed)
        return tuple(
            replace(
                self._sample(posed, row, name=f"{self.task.name}-{kind}-{identity[:16]}", seed=seed_of(identity)),
                control=kind,
            )
            for kind, row in (("ceiling", alone), ("floor", without))
            for identity in [digest_of(self.task.name, kind, self.materials.text_identity, _pieces(row.recipe))]
        )

    def _sample(self, posed: Posed, row: Row, *, name: str, seed: int) -> Sample:
        question, document = posed.question, self.pool.texts[posed.question.document_id]
        evidence = question.evidence or (Span(start=0, end=len(document.text)),)
        return Sample(
            sample_id=name,
            task=self.task.name,
            context_tokens=row.tokens,
            built_tokens=row.tokens,
            depth=None,
            trial=0,
            document_id=document.document_id,
            question=question.text,
            answers=question.answers,
            reference=Reference(evidence=evidence, reply=question.answers[0]),
            recipe=row.recipe,
            seed=seed,
            answer_tokens=self.task.max_tokens,
        )

    def _filled(self, posed: Posed, golden: Sequence[int], context_tokens: int, depth: float, seed: int) -> Row:
        rng = random.Random(seed)
        return self.rows.filled(
            self._frame(posed),
            golden,
            self.pool.distractors(posed.question, posed.golden, rng),
            context_tokens=context_tokens,
            depth=depth,
            rng=rng,
        )

    def _frame(self, posed: Posed) -> Frame:
        before, after = self.task.framed(posed.question.text)
        return Frame(before=before, after=after, headed=self.task.headed)


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
