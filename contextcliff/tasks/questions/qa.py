"""Task `qa`: questions on whole documents of natural length.

The blueprint's method: a document is asked about as it is, without a cut, without padding, with nothing inserted.
Documents are put into bins by their length, as many questions are drawn of each bin, and each question is put
`repeats` times, since a model that answers now so and now so is near its limit. One short frame, the same bytes for
every length, stands around the document. Scored 0-1 by token F1 (or `metric`), by letter where there are choices.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import GivenPath, NonNegativeInt, PositiveInt, settings
from contextcliff.tasks.questions.qa_samples import QaSamples
from contextcliff.tasks.questions.qa_scoring import METRICS, refuse_metric, score_answer
from contextcliff.tasks.questions.taxonomy import context_words_of
from contextcliff.tasks.task import UNJUDGED, ContextBudget, Materials, ScoringContext, Task, TaskPlan


@settings
class Qa(Task):
    """Up to `samples_per_bin` questions for each of `analysis.bins` bins of documents, `repeats` times each."""

    name = "qa"
    designed_lengths = False
    relative_by_default = True  # how hard a set's questions are is the set's; length shows against short documents
    reads_documents = True  # whether an answer's words stand in the document decides its failure tag
    findings = ("answer_measures",)
    not_asked = (*UNJUDGED, "metric")

    format: Literal["json", "plain"]
    """`{"answer": …}`, or the answer as text."""
    metric: str
    samples_per_bin: PositiveInt
    repeats: PositiveInt
    min_samples: PositiveInt
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
    save_contexts: bool = False
    like: GivenPath | None = None
    """The run that has to ask the same: a run id, a run's folder, or `first` of the sweep."""
    instruction: Annotated[str, Field(min_length=1)]
    """Stands before the document."""
    question_label: str
    """Stands before the question."""
    json_format: str
    plain_format: str
    choice_format: str
    """One of these stands after the question."""

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise ValueError(refuse_metric(self.metric))

    @property
    def chooses_by_answers(self) -> str:
        """A pilot's answers choose the bins."""
        return f"task.pilot={self.pilot}" if self.pilot else ""

    @property
    def more_samples(self) -> str:
        return "raise task.samples_per_bin, if the dataset has as many questions, or lower analysis.bins"

    def longest_context(self, context_budget: ContextBudget) -> int:
        """The longest prompt that the window admits."""
        longest = context_budget.context_window - max(self.reserve_tokens, self.longest_answer(context_budget))
        if longest < 1:
            raise ConfigError(
                f"model.context_window={context_budget.context_window:,}: no document fits beside the answer; lower "
                "task.max_tokens or task.reserve_tokens"
            )
        return longest

    def longest_answer(self, context_budget: ContextBudget) -> int:  # noqa: ARG002 - the same in every window
        """What an answer may take."""
        return self.max_tokens

    def build(self, materials: Materials) -> TaskPlan:
        """Draw the questions and build their prompts. Raises `ConfigError` for a dataset that has none to ask."""
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
        """F1 (or the metric asked for) against the best reference, with the one tag of a failure."""
        text = "" if context.document is None else context.document.text
        scored = score_answer(
            generation.text,
            question_kind=sample.reference.kind,
            references=sample.answers,
            choices=sample.reference.choices,
            format=self.format,
            context_words=context_words_of(text),
            question=sample.question,
            finish_reason=generation.finish_reason,
            metric=self.metric,
            evidence_present=sample.control != "floor",
        )
        details = {"em": scored.em, "f1": scored.f1, "false_refusal": float(scored.false_refusal)}
        if scored.contains_reference is not None:
            details["contains_reference"] = scored.contains_reference
        return Score(value=scored.value, prediction=scored.prediction, failure=scored.failure, details=details)
