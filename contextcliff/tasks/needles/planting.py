"""What the needle tasks share: facts planted in a haystack, and the controls that go with them.

A task of this kind says what is planted for one sample (`plant`) and what counts as found (`score`); the
grid, the cutting, the haystacks and the controls are here. A control asks the same question over the
evidence alone (its score is the ceiling) or over the bare haystack at the shortest length (the floor).
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from contextcliff.records.generation import Generation, Score
from contextcliff.records.prompt import Recipe, Words, render
from contextcliff.records.sample import Reference, Sample
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import PositiveInt, settings
from contextcliff.tasks.grid import NOT_IN_A_SAMPLE, DesignedLengths
from contextcliff.tasks.needles.haystack import Fact, Haystack, Hidden, prepare
from contextcliff.tasks.needles.values import ValueForm, score_value
from contextcliff.tasks.prose_sources import several_texts, unused_notes
from contextcliff.tasks.task import Lever, Materials, Raised, ScoringContext, TaskPlan, configured
from contextcliff.text.tokens import TokenisedText

_NOT_ASKED = (
    *("lengths", "length_grid", "length_fractions", "depths", "depth_grid", "trials"),
    *("reserve_tokens", "controls"),
    *NOT_IN_A_SAMPLE,
)
"""Keys that say which samples there are, and nothing of what one of them is."""
_MISPLACED = 0.2
"""Of the text, where one depth is asked for, or none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleSite:
    """Where a sample stands. `seed` is its own; `context_seed` is shared by all depths of its length and trial."""

    seed: int
    context_seed: int
    context_tokens: int
    depth: float | None
    trial: int
    text: TokenisedText
    end: int
    """Characters of `text` that a prompt of this length can hold."""

    def holds(self, words: str) -> bool:
        """Whether the text of a prompt of this length holds these words already."""
        return self.text.text.find(words, 0, self.end) >= 0

    def rng(self) -> random.Random:
        """Draws for this sample."""
        return random.Random(self.seed)

    def context_rng(self) -> random.Random:
        """Draws for everything that samples of one context share."""
        return random.Random(self.context_seed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Planted:
    """What one sample hides and asks. `evidence` are the positions in `facts` that the answer needs."""

    facts: tuple[Fact, ...]
    evidence: tuple[int, ...]
    question: str
    answers: tuple[str, ...]
    distractors: tuple[str, ...] = ()
    metadata: Mapping[str, str | int | float] = field(default_factory=dict)
    context: str = ""
    """Names the context where several samples ask of the same one."""
    context_questions: tuple[str, ...] = ()
    """All questions of that context: it is cut for the longest, so that it is the same for each."""
    redrawn: int = 0
    """Draws that the text held already."""


@settings
class PlantingTask(DesignedLengths):
    """A grid of lengths and places over `haystacks` stretches of text, with `trials` samples a cell."""

    haystacks: PositiveInt = 1
    """Different stretches of the text; eight or more make the result a general one."""
    instruction: str
    """Stands before the text."""
    answer_format: str
    """Stands after the question."""

    @property
    def texts(self) -> int:
        """A text for each haystack."""
        return self.haystacks

    @property
    def levers(self) -> tuple[Lever, ...]:
        """More haystacks too, where those that there are hold back what more samples of each can show."""
        return (*super().levers, Lever(now=self.haystacks, at=self._with_haystacks))

    def _with_haystacks(self, count: int) -> Raised:
        return Raised(override=f"task.haystacks={count}", task=self._with(haystacks=count))

    @property
    def places(self) -> tuple[float | None, ...]:
        """Depths of the grid; one None for a task that has no depth."""
        return (None,)

    def asked(self) -> Mapping[str, object]:
        """What of the configuration determines a single sample."""
        return configured(self, but=_NOT_ASKED)

    def check_text(self, text: str) -> None:
        """Raise `ConfigError` for a text that gives the answer by itself, where no other draw can help."""

    @abstractmethod
    def plant(self, site: SampleSite) -> Planted:
        """Draw what one sample hides and asks; pure."""

    def haystack_of(self, depth: float | None, trial: int) -> int:
        """Which haystack a sample is cut from: the trials of a depth go round, from where the depth starts them."""
        return (seed_of("haystack", depth) + trial) % self.haystacks

    def build(self, materials: Materials) -> TaskPlan:
        """One sample for each length, depth and trial, and their controls."""
        lengths = self.lengths_in(materials.context_budget)
        haystacks = [
            prepare(document, tokens=max(lengths), tokenizer=materials.tokenizer)
            for document in several_texts(materials.corpus, task=self.name, count=self.haystacks)
        ]
        for haystack in haystacks:
            self.check_text(haystack.text.text[: haystack.end_for(max(lengths))])
        planter = _Planter(task=self, materials=materials, haystacks=haystacks, asked=digest_of(dict(self.asked())))
        made = [
            planter.make(context_tokens=length, depth=depth, trial=trial)
            for length in lengths
            for depth in self.places
            for trial in range(self.trials)
        ]
        controls = {control.sample_id: control for item in made for control in item.controls}
        return TaskPlan(
            samples=tuple(item.sample for item in made),
            controls=tuple(controls.values()),
            notes=(
                *unused_notes(materials.corpus, count=self.haystacks),
                *_notes(made, misplaced=self._misplaced()),
            ),
        )

    def _misplaced(self) -> float:
        """From how far on a needle stands at another depth than its own: that between two that are asked for."""
        depths = sorted({depth for depth in self.places if depth is not None})
        return min((right - left for left, right in pairwise(depths)), default=_MISPLACED)


def score_planted(sample: Sample, generation: Generation, context: ScoringContext, form: ValueForm) -> Score:
    """1 where the one value that was asked for stands in the answer, and none of the context's others."""
    return score_value(
        generation.text,
        expected=sample.answers[0],
        form=form,
        distractors=sample.reference.distractors,
        foreign=context.foreign_answers,
        cut_off=generation.finish_reason == "length",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Made:
    sample: Sample
    controls: tuple[Sample, ...]
    redrawn: int
    off: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _Planter:
    """Makes the samples of one task over its haystacks."""

    task: PlantingTask
    materials: Materials
    haystacks: Sequence[Haystack]
    asked: str

    def make(self, *, context_tokens: int, depth: float | None, trial: int) -> _Made:
        task = self.task
        context = (self.materials.seed, task.name, self.asked, self.materials.text_identity, context_tokens)
        coordinates = (*context, depth, trial)
        place = task.haystack_of(depth, trial)
        haystack = self.haystacks[place]
        site = SampleSite(
            seed=seed_of(*coordinates),
            context_seed=seed_of(*context, trial),
            context_tokens=context_tokens,
            depth=depth,
            trial=trial,
            text=haystack.text,
            end=haystack.end_for(context_tokens),
        )
        planted = task.plant(site)
        after = self._after(planted.question)
        hidden = haystack.hide(
            planted.facts,
            context_tokens=context_tokens,
            before=f"{task.instruction}\n\n",
            after=after,
            cut_for=self._after(max(planted.context_questions, key=self._tokens))
            if planted.context_questions
            else None,
        )
        digest = digest_of(*coordinates)[:8]
        at = "" if depth is None else f"-d{depth:.3f}"
        sample = Sample(
            sample_id=f"{task.name}-{context_tokens:06d}{at}-t{trial:02d}-{digest}",
            task=task.name,
            context_tokens=context_tokens,
            built_tokens=hidden.built_tokens,
            depth=depth,
            trial=trial,
            document_id=haystack.document.document_id,
            question=planted.question,
            answers=planted.answers,
            reference=Reference(distractors=planted.distractors),
            recipe=hidden.recipe,
            seed=site.seed,
            cluster=self._cluster(haystack, planted),
            metadata={**planted.metadata, **_distances(planted, hidden)},
            answer_tokens=task.answer_tokens(context_tokens),
        )
        controls = self._controls(sample, planted, haystack, after) if task.controls else ()
        named = _naming(sample, controls)
        return _Made(sample=named, controls=controls, redrawn=planted.redrawn, off=hidden.off)

    def _after(self, question: str) -> str:
        return f"\n\n{question} {self.task.answer_format}".rstrip()

    def _tokens(self, text: str) -> int:
        return len(self.materials.tokenizer.starts(text))

    def _cluster(self, haystack: Haystack, planted: Planted) -> str:
        """The haystack where there are several (it holds the contexts cut from it); else the packed context."""
        return haystack.document.document_id if len(self.haystacks) > 1 else planted.context

    def _controls(self, sample: Sample, planted: Planted, haystack: Haystack, after: str) -> tuple[Sample, ...]:
        before = Words(text=f"{self.task.instruction}\n\n")
        evidence = " ".join(planted.facts[position].text for position in planted.evidence)
        shortest = min(self.task.lengths_in(self.materials.context_budget))
        bare = haystack.hide((), context_tokens=shortest, before=before.text, after=after)
        recipes = {
            "ceiling": Recipe(user=(before, Words(text=evidence), Words(text=after))),
            "floor": bare.recipe,
        }
        return tuple(self._control(sample, kind, recipe, bare) for kind, recipe in recipes.items())

    def _control(self, sample: Sample, kind: str, recipe: Recipe, bare: Hidden) -> Sample:
        built = bare.built_tokens if kind == "floor" else self._count(recipe)
        pieces = [
            piece.text if isinstance(piece, Words) else [piece.document_id, piece.start, piece.end]
            for piece in recipe.user
        ]
        identity = digest_of(self.task.name, kind, self.materials.text_identity, pieces)
        return Sample(
            sample_id=f"{self.task.name}-{kind}-{identity[:16]}",
            task=sample.task,
            context_tokens=built,
            built_tokens=built,
            depth=None,
            trial=0,
            document_id=sample.document_id,
            question=sample.question,
            answers=sample.answers,
            reference=sample.reference,
            recipe=recipe,
            seed=seed_of(identity),
            answer_tokens=sample.answer_tokens,
            control=kind,
        )

    def _count(self, recipe: Recipe) -> int:
        return self.materials.tokenizer.count_prompt(render(recipe, {}))


def _naming(sample: Sample, controls: Sequence[Sample]) -> Sample:
    return replace(sample, controls=tuple(control.sample_id for control in controls)) if controls else sample


def _distances(planted: Planted, hidden: Hidden) -> Mapping[str, int]:
    """How far apart in the text neighbouring pieces of evidence stand on average, in tokens."""
    places = sorted(hidden.token_places[position] for position in planted.evidence)
    if len(places) < 2:
        return {}
    return {"evidence_distance_tokens": round((places[-1] - places[0]) / (len(places) - 1))}


def _notes(made: Sequence[_Made], *, misplaced: float) -> tuple[str, ...]:
    notes: list[str] = []
    redrawn = sum(item.redrawn for item in made)
    if redrawn:
        notes.append(f"{redrawn:,} needles were drawn again, since the text held their words already")
    off = [item.off for item in made if item.off > misplaced]
    if off:
        notes.append(
            f"{len(off):,} of {len(made):,} samples have a needle more than {misplaced:.2g} of the text from its depth "
            f"(the farthest {max(off):.2f}), since needles go in where a sentence begins and few begin there; take "
            "another text, or longer contexts"
        )
    return tuple(notes)
