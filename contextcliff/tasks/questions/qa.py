"""Task `qa`: questions on whole documents of natural length.

The blueprint's method: a document is asked about as it is, without a cut, without padding, with nothing inserted.
Documents are put into bins by their length, as many questions are drawn of each bin, and each question is put
`repeats` times, since a model that answers now so and now so is near its limit. One short frame, the same bytes for
every length, stands around the document. Scored 0-1 by `metric`, by letter where there are choices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import AuditBin, LengthAudit, Question, Span
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Passage, Prompt, Recipe, Reference, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import Count, NonNegativeInt, PositiveInt, settings
from contextcliff.tasks.needles.haystack import SEAM_TOKENS
from contextcliff.tasks.questions.answers import LETTERS, parse_answer
from contextcliff.tasks.questions.length_bins import Draw, draw, redraw
from contextcliff.tasks.questions.qa_scoring import MetricChoice, deciding, refuse_metric, scored
from contextcliff.tasks.questions.taxonomy import context_words_of
from contextcliff.tasks.task import UNJUDGED, ContextBudget, Materials, ScoringContext, Task, TaskPlan, Traits
from contextcliff.text.tokens import TokenisedText, tokenise


@settings
class Qa(Task):
    """Up to `samples_per_bin` questions for each of `analysis.bins` bins of documents, `repeats` times each."""

    name = "qa"

    format: Literal["json", "plain"]
    """`{"answer": …}`, or the answer as text."""
    metric: MetricChoice
    """What an answer is scored by; of `auto` decides `qa_scoring.settled`."""
    samples_per_bin: Count
    repeats: Count
    min_samples: Count
    """A bin with fewer questions is merged with its neighbour."""
    pilot: NonNegativeInt = 0
    """So many questions of each bin first, and the rest only where they point to; 0: all at once."""
    levels: tuple[PositiveInt, ...] = ()
    """1 a single fact, 2 several from different places; none: all."""
    min_context_tokens: NonNegativeInt = 0
    """Shorter documents are dropped."""
    max_context_tokens: PositiveInt | None = None
    """Longer ones are left out; a dataset that does not reach near it is refused. None: what the window holds."""
    reserve_tokens: NonNegativeInt = 200
    """Kept free below the window."""
    max_tokens: PositiveInt
    """Tokens that an answer may take."""
    controls: bool = False
    """Ask the evidence alone (ceiling, where it is known) and the question without its document (floor) as well."""
    instruction: Annotated[str, Field(min_length=1)]
    """Stands before the document."""
    question_label: str
    """Stands before the question."""
    json_format: str
    plain_format: str
    choice_format: str
    """One of these stands after the question."""

    def __post_init__(self) -> None:
        refuse_metric(self.metric)

    @property
    def traits(self) -> Traits:
        return Traits(
            designed_lengths=False,
            chooses_by_answers=f"task.pilot={self.pilot}" if self.pilot else "",
            count_key="task.samples_per_bin",
            more_samples="raise task.samples_per_bin, if the dataset has as many questions, or lower analysis.bins",
            relative_by_default=True,  # how hard a set's questions are is the set's; length shows against shorter ones
            reads_documents=True,  # whether an answer's words stand in the document decides its failure tag
            is_judged=self.metric == "judge",
            findings=("answer_measures",),
            not_asked=(*UNJUDGED, "metric"),
        )

    def metrics_of(self, samples: Iterable[Sample]) -> tuple[str, ...]:
        return deciding(samples, self.metric)

    def longest_context(self, context_budget: ContextBudget) -> int:
        longest = context_budget.context_window - max(self.reserve_tokens, self.longest_answer(context_budget))
        if longest < 1:
            raise ConfigError(
                f"model.context_window={context_budget.context_window:,}: no document fits beside the answer; lower "
                "task.max_tokens or task.reserve_tokens"
            )
        return longest

    def longest_answer(self, context_budget: ContextBudget) -> int:  # noqa: ARG002 - the same in every window
        return self.max_tokens

    def build(self, materials: Materials) -> TaskPlan:
        corpus = materials.corpus
        if not corpus.questions:
            raise ConfigError(
                "dataset: this one has no questions, and task=qa asks them; take dataset=stories, squad, narrativeqa, "
                "quality, qasper, hotpotqa, longbench_v2, jsonl, documents or mixed"
            )
        maker = QaSamples(task=self, materials=materials)
        selection = maker.select()
        samples = [
            sample
            for position, part in enumerate(selection.draw.bins)
            for rank, question in enumerate(part.questions)
            for sample in maker.samples(question, position, pilot=rank < self.pilot)
        ]
        return TaskPlan(
            samples=tuple(samples),
            controls=maker.controls,
            notes=(*selection.notes, *selection.draw.notes),
            audit=selection.audit,
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        """What the answer is worth against the best reference, with the one tag of a failure."""
        text = "" if context.document is None else context.document.text
        return scored(
            sample,
            generation,
            answer=parse_answer(generation.text, format=self.format, whole=sample.reference.kind == "summary"),
            format=self.format,
            context_words=context_words_of(text),
            metric=self.metric,
        )


_SPAN = 2.0
"""A dataset spans a range that is asked for where it reaches to within this factor of both ends."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    draw: Draw
    audit: LengthAudit
    notes: tuple[str, ...]


class QaSamples:
    """The samples of one run: its questions on documents that are tokenised once each."""

    def __init__(self, *, task: Qa, materials: Materials) -> None:
        self._task = task
        self._materials = materials
        self._documents = {document.document_id: document for document in materials.corpus.documents}
        self._tokenised = {
            name: tokenise(document.text, materials.tokenizer) for name, document in self._documents.items()
        }
        self._lengths = {name: text.tokens for name, text in self._tokenised.items()}
        self._frames: dict[str, int] = {}
        self._controls: dict[str, Sample] = {}

    def select(self) -> Selection:
        """Which questions are asked, in which bins. Raises `ConfigError` where hardly any can be."""
        task, materials = self._task, self._materials
        asked = [
            question for question in materials.corpus.questions if not task.levels or question.level in task.levels
        ]
        most = task.longest_context(materials.context_budget)
        if task.max_context_tokens is not None:
            most = min(most, task.max_context_tokens)
        long_enough = [q for q in asked if self._lengths[q.document_id] >= task.min_context_tokens]
        fitting = [q for q in long_enough if self._fits(q, most)]
        self._refuse_unspanned([self._lengths[q.document_id] for q in asked], fitting, most)
        if materials.corpus.drawn:
            drawn = redraw(fitting, self._lengths, materials.corpus.drawn)
        else:
            drawn = draw(
                fitting,
                self._lengths,
                bins=materials.bins,
                binning=materials.binning,
                per_bin=task.pilot + task.samples_per_bin,
                min_samples=task.min_samples,
                seed=materials.seed,
            )
        too_short = len({q.document_id for q in asked} - {q.document_id for q in long_enough})
        too_long = len({q.document_id for q in long_enough} - {q.document_id for q in fitting})
        notes = []
        if too_long:
            notes.append(
                f"{too_long:,} documents are longer than the {most:,} tokens that a prompt can have here and are left "
                "out, never cut"
            )
        if too_short:
            notes.append(
                f"{too_short:,} documents are shorter than task.min_context_tokens={task.min_context_tokens:,}"
            )
        return Selection(draw=drawn, audit=self._audit(drawn, too_short, too_long), notes=tuple(notes))

    def samples(self, question: Question, position: int, *, pilot: bool) -> tuple[Sample, ...]:
        """A question as often as it is repeated; once in a pilot."""
        controls = self._controls_of(question)
        self._controls |= {control.sample_id: control for control in controls}
        named = tuple(control.sample_id for control in controls)
        repeats = 1 if pilot else self._task.repeats
        return tuple(
            replace(self._sample(question, position, repeat), pilot=pilot, controls=named) for repeat in range(repeats)
        )

    @property
    def controls(self) -> tuple[Sample, ...]:
        """Those of all samples made so far, each once."""
        return tuple(self._controls.values())

    def _controls_of(self, question: Question) -> tuple[Sample, ...]:
        """The evidence alone, and the question without its document."""
        if not self._task.controls:
            return ()
        texts = {"floor": ""}
        if question.evidence:
            document = self._documents[question.document_id].text
            texts["ceiling"] = "\n\n".join(document[span.start : span.end] for span in question.evidence)
        return tuple(self._control(question, kind, text) for kind, text in texts.items())

    def _fits(self, question: Question, most: int) -> bool:
        return self._lengths[question.document_id] + self._frame_tokens(question) <= most

    def _refuse_unspanned(self, lengths: Sequence[int], fitting: Sequence[Question], most: int) -> None:
        task = self._task
        if not lengths:
            raise ConfigError(f"task.levels={list(task.levels)}: no question of the dataset has such a level")
        span = f"the dataset spans {min(lengths):,} to {max(lengths):,} tokens in {len(set(lengths)):,} lengths"
        if not fitting:
            raise ConfigError(
                f"dataset: {span}, and none of its documents fits between task.min_context_tokens="
                f"{task.min_context_tokens:,} and the {most:,} tokens that a prompt can have here; take another "
                "dataset, or a model with a longer window"
            )
        if task.max_context_tokens is not None and max(lengths) * _SPAN < task.max_context_tokens:
            raise ConfigError(
                f"task.max_context_tokens={task.max_context_tokens:,}: {span}, so it can't show what happens up to "
                "there; ask for a shorter range, or add longer documents (dataset=mixed)"
            )

    def _audit(self, drawn: Draw, too_short: int, too_long: int) -> LengthAudit:
        return LengthAudit(
            lengths=tuple(sorted(self._lengths.values())),
            too_short=too_short,
            too_long=too_long,
            bins=tuple(
                AuditBin(
                    min_tokens=part.min_tokens,
                    max_tokens=part.max_tokens,
                    documents=part.all_documents,
                    questions=part.available,
                    drawn_documents=part.documents,
                    drawn_questions=len(part.questions),
                )
                for part in drawn.bins
            ),
        )

    def _sample(self, question: Question, position: int, repeat: int) -> Sample:
        document, text = self._documents[question.document_id], self._tokenised[question.document_id]
        before, after = self._frame(question)
        options = (after,) if question.choices else ()
        coordinates = (
            *(self._task.name, self._asked(), document.document_id, question.question_id, question.text),
            *options,
        )
        digest = digest_of(*coordinates)
        again = "" if repeat == 0 else f"-r{repeat}"
        return Sample(
            sample_id=f"qa-{text.tokens:06d}-{digest[:12]}{again}",
            task=self._task.name,
            context_tokens=text.tokens,
            built_tokens=text.tokens + self._frame_tokens(question) - SEAM_TOKENS,
            depth=None,
            trial=repeat,
            document_id=document.document_id,
            question=question.text,
            answers=question.answers,
            recipe=Recipe(
                user=(
                    Words(text=before),
                    Passage(document_id=document.document_id, start=0, end=len(document.text)),
                    Words(text=after),
                )
            ),
            seed=seed_of(*coordinates, repeat),
            cluster=document.document_id,
            metadata={**question.metadata, "level": question.level, **self._evidence(question, text)},
            item=question.question_id,
            repeat=repeat,
            bin=position,
            reference=self._reference(question, evidence=question.evidence),
            answer_tokens=self._task.max_tokens,
        )

    def _control(self, question: Question, kind: str, text: str) -> Sample:
        before, after = self._frame(question)
        prompt = f"{before}{text}{after}"
        identity = digest_of(self._task.name, kind, prompt)
        tokens = self._materials.tokenizer.count_prompt(Prompt(user=prompt))
        return Sample(
            sample_id=f"qa-{kind}-{identity[:16]}",
            task=self._task.name,
            context_tokens=tokens,
            built_tokens=tokens,
            depth=None,
            trial=0,
            document_id=question.document_id,
            question=question.text,
            answers=question.answers,
            recipe=Recipe(user=(Words(text=prompt),)),
            seed=seed_of(identity),
            reference=self._reference(question),
            answer_tokens=self._task.max_tokens,
            control=kind,
        )

    def _asked(self) -> str:
        task = self._task
        return digest_of(task.format, task.instruction, task.question_label, task.json_format, task.plain_format)

    def _frame(self, question: Question) -> tuple[str, str]:
        task = self._task
        options = "".join(f"\n{letter}. {text}" for letter, text in zip(LETTERS, question.choices, strict=False))
        answer_format = task.json_format if task.format == "json" else task.plain_format
        form = f"{task.choice_format} {answer_format}" if question.choices else answer_format
        return f"{task.instruction}\n\n", f"\n\n{task.question_label} {question.text}{options}\n{form}"

    def _frame_tokens(self, question: Question) -> int:
        before, after = self._frame(question)
        if question.question_id not in self._frames:
            prompt = Prompt(user=f"{before}{after}")
            self._frames[question.question_id] = self._materials.tokenizer.count_prompt(prompt) + SEAM_TOKENS
        return self._frames[question.question_id]

    def _reference(self, question: Question, *, evidence: tuple[Span, ...] = ()) -> Reference:
        return Reference(kind=question.kind, choices=question.choices, evidence=evidence, reply=self._reply(question))

    def _reply(self, question: Question) -> str:
        right = question.answers[0]
        if question.choices and right in question.choices:
            right = LETTERS[question.choices.index(right)]
        return json.dumps({"answer": right}, ensure_ascii=False) if self._task.format == "json" else right

    def _evidence(self, question: Question, text: TokenisedText) -> Mapping[str, int | float]:
        """Where the evidence stands, as a share of the document, and how far its neighbouring pieces are apart."""
        if not question.evidence:
            return {}
        places = sorted(text.tokens_between(0, span.start) for span in question.evidence)
        stands: dict[str, int | float] = {"evidence_depth": round(places[0] / max(1, text.tokens), 3)}
        if len(places) > 1:
            stands["evidence_distance_tokens"] = round((places[-1] - places[0]) / (len(places) - 1))
        return stands
