"""Task `qa_distractors`: a question whose document stands among documents that do not answer it.

RULER's question answering (Hsieh et al. 2024, arXiv:2404.06654): further documents of the same dataset fill the length,
those of the same article, story or question first. Scored 1 where an accepted answer stands in what the model says, or
by another `metric`. The document stands at each of `task.depths` in turn; `docs/ruler.md` has what else differs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Annotated

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Question, Span
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Reference, Sample
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import PositiveInt, settings
from contextcliff.tasks.grid import NOT_IN_A_SAMPLE, WHICH_SAMPLES, Depths, filled, naming
from contextcliff.tasks.questions.answers import contains_reference
from contextcliff.tasks.questions.document_row import DocumentPool, RowBuilder, pool_of
from contextcliff.tasks.questions.qa_scoring import MetricChoice, OwnMetric, claim_by, deciding, refuse_metric, scored
from contextcliff.tasks.task import (
    Cell,
    Maker,
    Materials,
    ScoringContext,
    Traits,
    configured,
    control_over,
    distances,
    far_note,
    sample_at,
)
from contextcliff.text.tokens import token_counts


@settings
class DistractedQa(Depths):
    """A grid of lengths and depths (of the document that answers); every length asks the same questions."""

    name = "qa_distractors"

    metric: MetricChoice = "auto"

    document_characters: PositiveInt
    evidence_characters: PositiveInt
    instruction: Annotated[str, Field(min_length=1)]
    heading: Annotated[str, naming("{number}")]
    question_label: str
    answer_format: str
    max_tokens: PositiveInt

    def __post_init__(self) -> None:
        super().__post_init__()
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

    claim_by = staticmethod(claim_by)

    @property
    def _metric(self) -> str | OwnMetric:
        return "contains" if self.metric == "auto" else self.metric

    def answer_tokens(self, context_tokens: int) -> int:  # noqa: ARG002 - the same at every length
        return self.max_tokens

    @property
    def questions_a_length(self) -> int:
        return self.max_trials if self.trials == "auto" else self.trials * len(self.places)

    def text_holds(self, materials: Materials) -> int | None:
        return self.maker(materials).held(max(self.lengths_in(materials.context_budget)))

    def maker(self, materials: Materials) -> DistractedMaker:
        """Cut the texts and choose the questions. Raises `ConfigError` where a length would ask one twice."""
        corpus, places = materials.corpus, len(self.places)
        if not corpus.questions:
            raise ConfigError(
                f"dataset: this one has no questions, and task={self.name} asks them; take dataset=stories, squad, "
                "hotpotqa, narrativeqa, qasper, jsonl, documents or mixed"
            )
        pool = pool_of(corpus, self.document_characters)
        left_out: Counter[str] = Counter()
        posed = in_rounds(_askable(corpus.questions, pool, self.evidence_characters, left_out), pool, materials.seed)
        if len(posed) < places:
            why = "; ".join(_reasons(left_out)) or "it has no more"
            raise ConfigError(
                f"dataset: has {len(posed):,} questions that can be asked, and task={self.name} takes one for each of "
                f"{places} depths ({why}); take another dataset, or fewer depths"
            )
        if len(posed) < self.questions_a_length:
            searched = self.trials == "auto"
            given = f"max_trials={self.max_trials}" if searched else f"trials={self.trials}"
            raise ConfigError(
                f"task.{given}: a length asks each question once, and the dataset has {len(posed):,} that can be "
                f"asked; give {len(posed) if searched else len(posed) // places:,} or fewer, or take a dataset with "
                "more questions"
            )
        rows = RowBuilder(pool=pool, tokenizer=materials.tokenizer, headed=self.headed)
        asked = digest_of(dict(configured(self, but=(*WHICH_SAMPLES, "metric", "max_tokens"))))
        return DistractedMaker(
            task=self, materials=materials, pool=pool, rows=rows, posed=posed, left_out=left_out, asked=asked
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        return scored(
            sample,
            generation,
            answer=generation.text.strip(),
            format="plain",
            context_words=frozenset(),
            metric=self._metric,
        )

    def framed(self, question: str) -> tuple[str, str]:
        return f"{self.instruction}\n\n", f"{self.question_label} {question}\n{self.answer_format}".rstrip()

    def headed(self, number: int) -> str:
        return f"{filled(self.heading, number=str(number))}\n"


_FAR_LONGER = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class DistractedMaker(Maker):
    """Makes the samples of a run. `asked` names what of the configuration determines a single sample."""

    task: DistractedQa
    materials: Materials
    pool: DocumentPool
    rows: RowBuilder
    posed: tuple[Question, ...]
    left_out: Mapping[str, int]
    asked: str
    off: dict[str, float] = field(default_factory=dict)

    def make(self, at: Cell) -> Iterator[Sample]:
        task, identity, (context_tokens, depth, trial) = self.task, self.materials.text_identity, at
        # A search may draw a depth more often than others: a question that comes again is no further evidence.
        question = self.posed[(trial * len(task.places) + task.places.index(depth)) % len(self.posed)]
        golden, document = self.pool.golden(question), self.pool.texts[question.document_id]
        coordinates = (*(self.materials.seed, task.name, self.asked, identity), *(*at, question.question_id))
        frame = task.framed(question.text)
        row = self.rows.filled(frame, question, golden, context_tokens, depth or 0.0, seed_of(*coordinates))
        evidence = question.evidence or (Span(start=0, end=len(document.text)),)
        sample = sample_at(
            task,
            coordinates,
            at,
            built_tokens=row.tokens,
            document_id=document.document_id,
            question=question.text,
            answers=question.answers,
            reference=Reference(evidence=evidence, reply=question.answers[0]),
            recipe=row.recipe,
            metadata={**question.metadata, "level": question.level, **distances(row.starts)},
            answer_tokens=task.max_tokens,
        )
        if task.trials == "auto":
            sample = replace(sample, item=question.question_id)
        self.off[sample.sample_id] = row.off
        yield sample
        if task.controls:
            shortest = min(task.lengths_in(self.materials.context_budget))
            alone = self.rows.alone(frame, golden)
            bare = self.rows.filled(frame, question, (), shortest, 0.0, sample.seed)
            yield control_over(sample, "ceiling", self.materials, recipe=alone.recipe, tokens=alone.tokens)
            yield control_over(sample, "floor", self.materials, recipe=bare.recipe, tokens=bare.tokens)

    def held(self, longest: int) -> int | None:
        """Tokens of the documents that do not hold the answer, for the question that leaves the fewest. None where the
        texts are far longer than the `longest` prompt: they are then not searched for answers."""
        pool = self.pool
        if sum(piece.end - piece.start for piece in pool.pieces) > _FAR_LONGER * longest:
            return None
        tokens = token_counts([pool.text(piece) for piece in range(len(pool.pieces))], self.materials.tokenizer)
        return min(
            sum(tokens[piece] for piece in pool.distractors(question, random.Random(0)))
            for question in self.posed[: self.task.questions_a_length]
        )

    def notes(self, sample_ids: Collection[str]) -> tuple[str, ...]:
        most, left_out = self.task.misplaced, "; ".join(_reasons(self.left_out))
        what = f"their document more than {most:.2g} of the text from its depth"
        why = "few others stand around it; ask for more tokens"
        far = far_note([self.off.get(name, 0.0) for name in sample_ids], most, what, why)
        return (*([f"questions of the dataset that are left out: {left_out}"] if left_out else []), *far)


def in_rounds(questions: Iterable[Question], pool: DocumentPool, seed: int) -> tuple[Question, ...]:
    """The questions in random order, one of each document before the second of any."""
    by_document: dict[int, list[Question]] = {}
    for question in sorted(questions, key=lambda each: digest_of("order", seed, each.question_id)):
        by_document.setdefault(pool.golden(question)[0], []).append(question)
    rounds = zip_longest(*by_document.values())
    return tuple(each for around in rounds for each in around if each is not None)


def _askable(
    questions: Iterable[Question], pool: DocumentPool, characters: int, left_out: Counter[str]
) -> Iterator[Question]:
    """The questions that can be asked. Each that can't is counted in `left_out`, under the words that report it."""
    for question in questions:
        golden = [pool.pieces[piece] for piece in pool.golden(question)]
        if question.kind != "short":
            left_out["with choices or for a summary"] += 1
        elif not golden:
            left_out["on a long text whose evidence is not marked"] += 1
        elif sum(piece.end - piece.start for piece in golden) > characters:
            left_out[f"that task.evidence_characters={characters} is too small for"] += 1
        elif not contains_reference(question.answers[0], question.answers, question=question.text):
            left_out["with an answer that can't be told in a sentence"] += 1
        else:
            yield question


def _reasons(left_out: Mapping[str, int]) -> list[str]:
    return [f"{count:,} {reason}" for reason, count in left_out.items()]
