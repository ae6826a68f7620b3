"""Task `qa_distractors`: a question whose document stands among documents that do not answer it.

RULER's question answering (Hsieh et al. 2024, arXiv:2404.06654): further documents of the same dataset fill the length,
numbered in one row. Those of the same article, story or question come first, others after them. Scored 1 where an
accepted answer stands in what the model says.

Other than in RULER, the document stands at each of `task.depths` in turn (its share of the other documents' tokens),
not anywhere; no distractor holds an accepted answer; the last one is cut at a word, so that the length is met; a
dataset too small for a length is refused, where RULER repeats its documents. An answer counts in whole words, and not
where it is denied or one of several candidates (`contained.py`); RULER looks for any substring of the reply.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.seeding import digest_of
from contextcliff.settings import PositiveInt, settings
from contextcliff.tasks.grid import NOT_IN_A_SAMPLE, Depths
from contextcliff.tasks.needles.niah import filled, require_fields
from contextcliff.tasks.questions.answer_format import Parsed
from contextcliff.tasks.questions.contained import contains_reference
from contextcliff.tasks.questions.distracted_samples import DistractedMaker
from contextcliff.tasks.questions.taxonomy import ContextWords, classify
from contextcliff.tasks.task import Materials, ScoringContext, configured

_UNKNOWN_TEXT = ContextWords(words=frozenset())
_NOT_ASKED = (
    *("lengths", "length_grid", "length_fractions", "depths", "depth_grid", "trials", "max_trials", "resolution"),
    *("reserve_tokens", "controls", "max_tokens"),
    *NOT_IN_A_SAMPLE,
)
"""Keys that say which samples there are, and nothing of what one of them is."""


@settings
class DistractedQa(Depths):
    """A grid of lengths and depths (of the document that answers); every length asks the same questions."""

    name = "qa_distractors"
    relative_by_default = True  # how hard a set's questions are is the set's; length shows against the shortest prompts

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

    def answer_tokens(self, context_tokens: int) -> int:  # noqa: ARG002 - the same at every length
        """What the answer may take."""
        return self.max_tokens

    @property
    def questions_a_length(self) -> int:
        """Questions that every length asks, each once."""
        trials = self.most_blocks if self.trials == "auto" else self.trials
        return trials * len(self.places)

    def maker(self, materials: Materials) -> DistractedMaker:
        """Cuts the texts to documents, and chooses the questions. Raises `ConfigError` where there are too few."""
        if not materials.corpus.questions:
            raise ConfigError(
                f"dataset: this one has no questions, and task={self.name} asks them; take dataset=stories, squad, "
                "hotpotqa, narrativeqa, qasper, jsonl, documents or mixed"
            )
        return DistractedMaker.of(self, materials, asked=digest_of(dict(configured(self, but=_NOT_ASKED))))

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        """1 where the answer gives an accepted one, else 0 with the tag of the failure, as task `qa` has them."""
        said = generation.text.strip()
        if contains_reference(said, sample.answers, question=sample.question):
            return Score(value=1.0, prediction=said, failure=None)
        failure = classify(
            generation.text,
            parsed=Parsed(answer=said),
            question=sample.question,
            references=sample.answers,
            context_words=_UNKNOWN_TEXT,
            finish_reason=generation.finish_reason,
            format="plain",
            evidence_present=sample.control != "floor",
        )
        return Score(
            value=0.0,
            prediction=said,
            failure=failure.tag,
            details={"false_refusal": float(failure.false_refusal)},
        )

    def framed(self, question: str) -> tuple[str, str]:
        """What stands before the documents and after them."""
        return f"{self.instruction}\n\n", f"{self.question_label} {question}\n{self.answer_format}".rstrip()

    def headed(self, number: int) -> str:
        """What stands over a document."""
        return f"{filled(self.heading, number=str(number))}\n"
