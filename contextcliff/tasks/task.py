"""What a task has to do: say how long its prompts get, build samples, score answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count, islice
from sys import intern
from typing import ClassVar, Literal

from contextcliff.errors import ConfigError
from contextcliff.records.amounts import Quantity
from contextcliff.records.analysis import EARNS_POINTS
from contextcliff.records.corpus import Corpus, Document, LengthAudit
from contextcliff.records.generation import Generation, Score
from contextcliff.records.note import Note
from contextcliff.records.sample import Recipe, Reference, Sample, Words
from contextcliff.records.search_record import SearchPlan
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import GivenPath, settings
from contextcliff.text.tokens import Tokenizer

UNJUDGED = ("save_contexts", "like", "longest_pairs")
"""Keys that say neither what a report rests on nor how that is judged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextBudget:
    """The window of the model, and the part of it that the answer takes."""

    context_window: int
    answer_tokens: int
    thinking_tokens: int = 0
    fits_lengths: bool = False
    """Whether designed lengths that the window can't hold are left out; else they are refused."""
    most_lengths: int | None = None
    """Most lengths to test where the window decides them; None if there is no limit."""
    text_tokens: int | None = None
    """The longest prompt that the texts fill, where the window decides the lengths; None: any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Materials:
    """What samples are built from. `text_identity` tells the dataset's texts apart in sample ids."""

    corpus: Corpus
    tokenizer: Tokenizer
    context_budget: ContextBudget
    seed: int
    text_identity: str
    bins: int = 1
    """Bins that documents of natural length are drawn for, by `analysis.binning`."""
    binning: str = "auto"


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskPlan:
    """What a run asks: its samples, their controls, and what a reader has to know of how they were made."""

    samples: tuple[Sample, ...]
    controls: tuple[Sample, ...] = ()
    notes: tuple[str, ...] = ()
    audit: LengthAudit | None = None


Cell = tuple[int, float | None, int]
"""Length in tokens, place and trial of a sample."""


class Maker(ABC):
    """Makes the samples of a task, each from its coordinates alone."""

    @abstractmethod
    def make(self, at: Cell) -> Iterator[Sample]:
        """The sample of one length, depth and trial, and then its controls."""

    def notes(self, sample_ids: Collection[str]) -> tuple[str, ...]:  # noqa: ARG002 - nothing has to be known
        """What a reader has to know of how these of the samples made so far were made."""
        return ()


def made(maker: Maker, cells: Iterable[Cell], *, step: int | None = None) -> TaskPlan:
    """The samples of these cells and their controls; `step` is that of a search, None for a fixed design."""
    samples: list[Sample] = []
    controls: dict[str, Sample] = {}
    for cell in cells:
        sample, *beside = maker.make(cell)
        samples.append(replace(sample, step=step, controls=tuple(each.sample_id for each in beside)))
        controls |= {each.sample_id: each for each in beside}
    notes = maker.notes({sample.sample_id for sample in samples})
    return TaskPlan(samples=tuple(samples), controls=tuple(controls.values()), notes=notes)


def joined(plans: Iterable[TaskPlan]) -> TaskPlan:
    """Several plans as one, without their notes."""
    parts = tuple(plans)
    controls = {control.sample_id: control for part in parts for control in part.controls}
    return TaskPlan(
        samples=tuple(sample for part in parts for sample in part.samples), controls=tuple(controls.values())
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Steps:
    """The samples of a search, a step at a time. A step is one sample, whose place and turn are drawn (`draws`). Where
    samples share texts (`whole`) it is the next trial of each turn at all places, and nothing is drawn."""

    maker: Maker
    seed: Sequence[object]
    places: tuple[float | None, ...]
    turns: int
    whole: bool
    _drawn: dict[int, tuple[Iterator[tuple[int, int]], list[tuple[int, int]]]] = field(default_factory=dict)
    _made: dict[tuple[int, int], TaskPlan] = field(default_factory=dict)

    def step(self, context_tokens: int, index: int) -> TaskPlan:
        """The samples of the `index`-th step of a length, and their controls; made once, whoever asks."""
        if (context_tokens, index) not in self._made:
            cells = self.cells(context_tokens, index)
            self._made[context_tokens, index] = made(self.maker, cells, step=index)
        return self._made[context_tokens, index]

    def cells(self, context_tokens: int, index: int) -> Sequence[Cell]:
        if self.whole:
            trials = range(index * self.turns, (index + 1) * self.turns)
            return [(context_tokens, place, trial) for trial in trials for place in self.places]
        drawing, drawn = self._drawn.setdefault(
            context_tokens, (draws(*self.seed, context_tokens, places=len(self.places), turns=self.turns), [])
        )
        drawn += islice(drawing, max(0, index + 1 - len(drawn)))
        place, trial = drawn[index]
        return [(context_tokens, self.places[place], trial)]


def draws(*coordinates: object, places: int, turns: int = 1) -> Iterator[tuple[int, int]]:
    """The place and the trial of each sample that a search asks at a length, without end.

    Places are drawn with replacement, so that each sample by itself has the mean over all of them, and a search may
    look after every one. In the order of a list, whose first places may be the easy ones, one that ends early would
    always find a cap.

    `coordinates` are the run's seed, the task and the length. `turns`: through how many kinds of sample the trials of a
    place go in turn; these are drawn too. A trial is the first of its kind that was not drawn at its place before, so
    that samples are those of the grid of lengths, places and trials."""
    drawn: Counter[int] = Counter()
    for number in count():
        cell = seed_of("draw", *coordinates, number) % (places * turns)
        place, turn = divmod(cell, turns)
        yield place, turns * drawn[cell] + turn
        drawn[cell] += 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoringContext:
    """What an answer is scored against, beside its sample."""

    document: Document | None = None
    """The whole document of the sample, where the task reads documents."""
    foreign_answers: frozenset[str] = frozenset()
    """The accepted answers of all samples of the run: one that is not this sample's is another sample's needle."""
    vectors: Mapping[str, Sequence[float]] | None = None
    """An embedding for each text of `Task.texts_to_embed` that has one; None: nothing was embedded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Traits:
    """What a task is like, as its options are set. The core reads this and never asks which task it is."""

    texts: int = 1
    """Different texts (or stretches of one) that the dataset has to give."""
    takes_texts: bool = True
    """Whether prompts are made from the dataset's texts or questions, and not from the task's own words alone."""
    takes_any_prose: bool = False
    """Whether generated prose may stand in for texts that are too short for a length."""
    begins_anywhere: bool = False
    """Whether samples begin at sentences all over their texts."""
    designed_lengths: bool = True
    lengths_given: bool = False
    is_searched: bool = False
    """Whether a search decides how many samples are asked, by `Task.search_plan` and `Task.steps`."""
    chooses_by_answers: str = ""
    """The setting by which the answers of a pilot choose what else is asked; empty if none does."""
    count_key: str = ""
    more_samples: str = "take another task"
    """What to do for more evidence at each length, as `raise task.trials`."""

    relative_by_default: bool = False
    """Whether the threshold is a share of the baseline's score where the analysis doesn't say."""
    cap_quantity: Quantity = "score"
    """What the cap is tested on; other than the score: a detail of it that is 0 or 1, of the same name."""
    graded: bool = False
    """Whether even a good answer scores below 1: an answer then fails by its failure tag and not by its score."""
    reads_documents: bool = False
    """Whether scoring reads the documents, which are then kept with the run."""
    has_references: bool = True
    """Whether samples have accepted answers, which a judge can compare an answer with."""
    embeds_texts: bool = False
    is_judged: bool = False
    findings: tuple[str, ...] = ()
    """Keys of the findings that this task has beside those of every task."""

    not_asked: tuple[str, ...] = UNJUDGED
    """Keys that determine no sample: what is kept of a run, and how its answers are scored."""
    idle: tuple[str, ...] = ()
    """Keys that change nothing as the others are set."""


@settings
class Task(ABC):
    """One benchmark; a subclass is a settings dataclass, named in `_target_` of a YAML in `conf/task/`.
    `longest_context`, `build` and `score` have no default. What is special about a task stands in its `traits`."""

    name: ClassVar[str]
    """The kind of task, in `sample_id`s and reports."""
    claim: ClassVar[Note] = EARNS_POINTS
    """The sentence that a report begins with, its fields as those of `EARNS_POINTS`."""

    save_contexts: bool = False
    like: GivenPath | None = None

    @property
    def traits(self) -> Traits:
        """A subclass whose traits don't depend on its options writes `traits = Traits(…)`."""
        return Traits()

    def identity(self) -> Mapping[str, object]:
        """What determines the samples, for the run's fingerprint: every key but those not asked and idle."""
        return {"task": self.name, **configured(self, but=(*self.traits.not_asked, *self.traits.idle))}

    @abstractmethod
    def longest_context(self, context_budget: ContextBudget) -> int:
        """Tokens of the longest prompt. Raises `ConfigError` where it does not fit into the window."""

    def longest_answer(self, context_budget: ContextBudget) -> int:
        return context_budget.answer_tokens

    def text_tokens(self, context_budget: ContextBudget) -> int:
        """Tokens of text that an endless dataset has to give."""
        return self.longest_context(context_budget)

    def text_holds(self, materials: Materials) -> int | None:  # noqa: ARG002 - for texts that end
        """Tokens of the longest prompt that the texts fill; None: any. Asked where the window decides the lengths."""
        return None

    def length_notes(self, context_budget: ContextBudget) -> tuple[str, ...]:  # noqa: ARG002 - for designed lengths
        """What a reader has to know of the lengths that are asked, where they are not those that were given."""
        return ()

    @abstractmethod
    def build(self, materials: Materials) -> TaskPlan:
        """All samples of the run, without their prompts. Raises `ConfigError` for texts too short."""

    def search_plan(self, context_budget: ContextBudget, *, refine: bool) -> SearchPlan:
        """What a search of the cap may ask; of a task that `is_searched`."""
        raise NotImplementedError

    @property
    def longest_steps(self) -> int:
        """Steps of a search that are asked at the longest length for comparisons there; 0 if none are."""
        return 0

    def steps(self, materials: Materials) -> Steps:
        """The samples of a search; of a task that `is_searched`."""
        raise NotImplementedError

    @abstractmethod
    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        """Score one answer: pure, and without regard to any other."""

    def texts_to_embed(self, sample: Sample, generation: Generation, context: ScoringContext) -> tuple[str, ...]:
        """Texts whose embeddings the score of this answer uses, of a task that `embeds_texts`."""
        raise NotImplementedError

    def metrics_of(self, samples: Iterable[Sample]) -> tuple[str, ...]:  # noqa: ARG002 - for tasks with a choice
        """By what the answers to these samples are scored; empty where the task has one way."""
        return ()

    def claim_by(self, metrics: Collection[str]) -> Note:  # noqa: ARG002 - as above
        """The claim where these score the answers."""
        return self.claim


def configured(task: Task, *, but: Collection[str]) -> dict[str, object]:
    """All keys of a task but those of these names, in its sections too; a new key is in the identity by default."""
    return asdict(task, dict_factory=lambda items: {key: value for key, value in items if key not in but})


NO_REFERENCE = Reference()
_NO_METADATA: Mapping[str, str | int | float] = {}
"""One object for all samples: a hundred thousand of them are held at once."""


def sample_at(
    task: Task,
    coordinates: Sequence[object],
    cell: Cell,
    *,
    built_tokens: int,
    document_id: str,
    question: str,
    answers: tuple[str, ...],
    recipe: Recipe,
    reference: Reference = NO_REFERENCE,
    cluster: str = "",
    metadata: Mapping[str, str | int | float] = _NO_METADATA,
    answer_tokens: int | None = None,
) -> Sample:
    """The sample of one length, depth and trial; its id and seed come from `coordinates`, all that determines it."""
    context_tokens, depth, trial = cell
    at = "" if depth is None else f"-d{depth:.3f}"
    return Sample(
        sample_id=f"{task.name}-{context_tokens:06d}{at}-t{trial:02d}-{digest_of(*coordinates)[:8]}",
        task=task.name,
        context_tokens=context_tokens,
        built_tokens=built_tokens,
        depth=depth,
        trial=trial,
        document_id=document_id,
        question=intern(question),
        answers=answers,
        reference=reference,
        recipe=recipe,
        seed=seed_of(*coordinates),
        cluster=cluster,
        metadata=metadata or _NO_METADATA,
        answer_tokens=answer_tokens,
    )


def control_of(
    sample: Sample,
    kind: Literal["ceiling", "floor"],
    identity: Sequence[object],
    *,
    recipe: Recipe,
    tokens: int,
    named: str = "",
) -> Sample:
    """The question of a sample over the evidence alone (`ceiling`), or over a text without it (`floor`). Samples that
    share their `identity`, all that determines it, share the control. `named`: in its id, for its kind."""
    digest = digest_of(sample.task, *identity)
    return replace(
        sample, sample_id=f"{sample.task}-{named or kind}-{digest[:16]}", context_tokens=tokens, built_tokens=tokens,
        depth=None, trial=0, recipe=recipe, seed=seed_of(digest), cluster="", metadata=_NO_METADATA, item="", repeat=0,
        bin=None, pilot=False, control=kind,
    )  # fmt: skip


def distances(places: Sequence[int]) -> dict[str, int]:
    """How far apart neighbouring pieces of evidence stand on average, by their tokens in order; empty for one alone."""
    if len(places) < 2:
        return {}
    return {"evidence_distance_tokens": round((places[-1] - places[0]) / (len(places) - 1))}


def control_over(
    sample: Sample, kind: Literal["ceiling", "floor"], materials: Materials, *, recipe: Recipe, tokens: int
) -> Sample:
    """A control whose prompt is made of the dataset's texts."""
    pieces = [
        piece.text if isinstance(piece, Words) else [piece.document_id, piece.start, piece.end] for piece in recipe.user
    ]
    return control_of(sample, kind, (kind, materials.text_identity, pieces), recipe=recipe, tokens=tokens)


def far_note(misses: Collection[float], most: float, what: str, why: str) -> tuple[str, ...]:
    """What a reader has to know where some of the samples have their evidence far from its depth."""
    far = [miss for miss in misses if miss > most]
    if not far:
        return ()
    return (f"{len(far):,} of {len(misses):,} samples have {what} (the farthest {max(far):.2f}), since {why}",)


_MOST_NAMED = 8


def one_text(corpus: Corpus, *, task: str) -> Document:
    """The only text. Raises `ConfigError` for a question set, for several texts and for a folder that was joined."""
    _refuse_questions(corpus, task=task)
    first = corpus.documents[0]
    names = first.parts or tuple(document.title for document in corpus.documents)
    if len(names) > 1:
        raise ConfigError(
            f"dataset: holds {len(names)} texts ({_named(names)}), and task={task} goes on with one; choose it with "
            "dataset=essays dataset.path=FILE, or list the files of one long text in order, dataset.paths=[FILE,FILE]"
        )
    return first


def several_texts(corpus: Corpus, *, task: str, count: int) -> tuple[Document, ...]:
    """The first `count` texts. Raises `ConfigError` for a question set and for a dataset with fewer."""
    _refuse_questions(corpus, task=task)
    if len(corpus.documents) < count:
        raise ConfigError(
            f"task.haystacks={count}: the dataset has {len(corpus.documents)} texts; ask for no more, or take "
            "dataset=essays, which joins them and begins anywhere"
        )
    return corpus.documents[:count]


def unused_notes(corpus: Corpus, *, count: int) -> Iterator[str]:
    if count < len(corpus.documents):
        used = _named([document.title for document in corpus.documents[:count]])
        yield f"prompts are cut from {count} of the {len(corpus.documents)} texts of the dataset: {used}"


def _refuse_questions(corpus: Corpus, *, task: str) -> None:
    if corpus.questions:
        raise ConfigError(
            f"dataset: this one has {len(corpus.questions):,} questions on {len(corpus.documents):,} texts, and "
            f"task={task} asks none of them; take task=qa, or a dataset of prose: essays, documents without questions, "
            "synthetic"
        )


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
