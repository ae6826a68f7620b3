"""What a task has to do: say how long its prompts get, build samples, score answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from contextcliff.records.corpus import Corpus, LengthAudit
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.text.tokens import Tokenizer
from contextcliff.writing.measures.familiar import WordList

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextBudget:
    """The window of the model, and the part of it that the answer takes."""

    context_window: int
    answer_tokens: int
    thinking_tokens: int = 0
    """The part of them that a thinking model may think before it answers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Materials:
    """What samples are built from. `text_identity` tells the dataset's texts apart in sample ids."""

    corpus: Corpus
    tokenizer: Tokenizer
    context_budget: ContextBudget
    seed: int
    text_identity: str
    bins: int = 1
    """Bins that documents of natural length are drawn for, by `binning`: `quantile` or `fixed` widths."""
    binning: str = "quantile"


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskPlan:
    """What a run asks: its samples, their controls, and what a reader has to know of how they were made."""

    samples: tuple[Sample, ...]
    controls: tuple[Sample, ...] = ()
    notes: tuple[str, ...] = ()
    audit: LengthAudit | None = None
    """How long the documents are, where they have their natural length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Raised:
    """A task with more samples a length, and the override that makes it so: `task.trials=8`."""

    override: str
    task: Task


@dataclass(frozen=True, kw_only=True, slots=True)
class Lever:
    """A setting that gives more samples a length, or more texts to cut them from, the higher it is."""

    now: int
    at: Callable[[int], Raised]


def configured(task: DataclassInstance, *, but: Collection[str]) -> dict[str, object]:
    """All keys of a task but those of these names, in its sections too.

    What determines a prompt is told by what does not, so that a new key is part of it until it is named.
    """
    return asdict(task, dict_factory=lambda items: {key: value for key, value in items if key not in but})


class Task(Protocol):
    """One benchmark; a dataclass in `conf/task/`."""

    @property
    def name(self) -> str:
        """Name in reports."""
        ...

    @property
    def designed_lengths(self) -> bool:
        """Whether the task chooses its lengths (then each is a bin) or takes documents as they are."""
        ...

    @property
    def relative_by_default(self) -> bool:
        """Whether the threshold is a share of the baseline's score where the analysis doesn't say."""
        ...

    @property
    def texts(self) -> int:
        """Different texts (or stretches of one) that the dataset has to give."""
        ...

    @property
    def reads_documents(self) -> bool:
        """Whether scoring reads the documents, which are then kept with the run."""
        ...

    @property
    def save_contexts(self) -> bool:
        """Whether the prompts are kept beside the report."""
        ...

    @property
    def perfect_score(self) -> float:
        """What the best possible answers score on average."""
        ...

    @property
    def levers(self) -> Sequence[Lever]:
        """What gives more evidence at each length, the cheapest first."""
        ...

    def shortened(self, context_budget: ContextBudget) -> Task:
        """The same task at its two shortest lengths alone, where it designs them: as many samples at each."""
        ...

    def identity(self) -> Mapping[str, object]:
        """What determines the samples, for the run's fingerprint."""
        ...

    def longest_context(self, context_budget: ContextBudget) -> int:
        """Tokens of the longest prompt. Raises `ConfigError` where it does not fit into the window."""
        ...

    def longest_answer(self, context_budget: ContextBudget) -> int:
        """Most tokens that an answer may take."""
        ...

    def build(self, materials: Materials) -> TaskPlan:
        """All samples of the run, without their prompts. Raises `ConfigError` for texts too short."""
        ...

    def score(self, sample: Sample, generation: Generation) -> Score:
        """Score one answer: pure, and without regard to any other."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """A text that the model wrote, what the author wrote in its place, and windows of as much of the author's text."""

    written: str
    original: str
    windows: tuple[str, ...]
    language: str


@runtime_checkable
class ProseTask(Protocol):
    """A task whose answers are prose, judged against an author's."""

    def familiar(self) -> WordList:
        """The words that count as familiar."""
        ...

    def compared(self, sample: Sample, generation: Generation) -> Compared:
        """The texts that an answer is held against."""
        ...

    def author(self, answered: Sequence[tuple[Sample, Generation]]) -> Mapping[str, Sequence[float]]:
        """z-scores of the author's own windows, as long as these answers on average, by measure."""
        ...
