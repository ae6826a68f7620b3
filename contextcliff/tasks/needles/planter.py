"""From what a needle task hides to its samples and their controls, over the haystacks of one run."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from contextcliff.records.sample import Recipe, Reference, Sample, Words, render
from contextcliff.seeding import seed_of
from contextcliff.tasks.grid import Maker, control_of, sample_at
from contextcliff.tasks.needles.haystack import Fact, Haystack, Hidden
from contextcliff.tasks.prose_sources import unused_notes
from contextcliff.tasks.task import Materials
from contextcliff.text.tokens import TokenisedText
from contextcliff.text.value_forms import ValueForm

if TYPE_CHECKING:
    from contextcliff.tasks.needles.planting import PlantingTask


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleSite:
    """Where a sample stands. `seed` is its own; `context_seed` is shared by all depths of its length and trial."""

    seed: int
    context_seed: int
    context_tokens: int
    depth: float | None
    trial: int
    text: TokenisedText
    start: int = 0
    """Where the context begins, in characters of `text`."""
    end: int
    """A character of `text` beyond which no prompt of this length reaches."""

    def holds(self, words: str) -> bool:
        """Whether the text of a prompt of this length holds these words already."""
        return self.text.text.find(words, self.start, self.end) >= 0

    def distinct(self, form: ValueForm, rng: random.Random, *, count: int) -> list[str]:
        """Different values of a form that the text does not hold."""
        drawn: list[str] = []
        while len(drawn) < count:
            value = form.draw(rng)
            if value not in drawn and not self.holds(value):
                drawn.append(value)
        return drawn

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Planter(Maker):
    """Makes the samples of one task over its haystacks, and keeps what is to be said of them."""

    task: PlantingTask
    materials: Materials
    haystacks: Sequence[Haystack]
    asked: str
    filler: Sequence[Haystack] = ()
    """Of generated prose, for the lengths that `haystacks` are too short for; none: they are long enough."""
    redrawn: dict[str, int] = field(default_factory=dict)
    """Draws that the text held already, of each sample."""
    off: dict[str, float] = field(default_factory=dict)
    """How far the needle of each sample stands from its depth, as a share of the text."""
    from_filler: dict[str, int] = field(default_factory=dict)
    """The lengths of the samples that are of generated prose."""

    def notes(self, sample_ids: Collection[str]) -> tuple[str, ...]:
        made = self.off.keys() & sample_ids
        notes = [*unused_notes(self.materials.corpus, count=len(self.haystacks))]
        if generated := made & self.from_filler.keys():
            shortest, held = min(self.from_filler[name] for name in generated), self.task.held(self.haystacks)
            notes.append(f"the text holds {held:,} tokens: from {shortest:,} on the prompts are of generated prose")
        off, redrawn = [self.off[name] for name in made], sum(self.redrawn[name] for name in made)
        return (*notes, *planting_notes(redrawn=redrawn, off=off, misplaced=self.task.misplaced()))

    def make(self, *, context_tokens: int, depth: float | None, trial: int) -> Iterator[Sample]:
        task = self.task
        context = (self.materials.seed, task.name, self.asked, self.materials.text_identity, context_tokens)
        coordinates = (*context, depth, trial)
        context_seed = seed_of(*context, trial)
        drawn = seed_of("start", context_seed if task.shares_context else seed_of(*coordinates))
        haystacks = self.filler if self.filler and task.held(self.haystacks) < context_tokens else self.haystacks
        if task.haystacks == "fresh":
            haystack, start = _fresh(haystacks, drawn, context_tokens)
        else:
            haystack, start = haystacks[task.haystack_of(depth, trial)], 0
        site = SampleSite(
            seed=seed_of(*coordinates),
            context_seed=context_seed,
            context_tokens=context_tokens,
            depth=depth,
            trial=trial,
            text=haystack.text,
            start=start,
            end=haystack.end_for(context_tokens, start=start),
        )
        planted = task.plant(site)
        after = self._after(planted.question)
        hidden = haystack.hide(
            planted.facts,
            context_tokens=context_tokens,
            before=f"{task.instruction}\n\n",
            after=after,
            cut_for=[self._after(question) for question in planted.context_questions],
            start=start,
        )
        sample = sample_at(
            task,
            coordinates,
            context_tokens=context_tokens,
            depth=depth,
            trial=trial,
            built_tokens=hidden.built_tokens,
            document_id=haystack.document.document_id,
            question=planted.question,
            answers=planted.answers,
            recipe=hidden.recipe,
            cluster=self._cluster(haystack, planted),
            metadata={**planted.metadata, **_distances(planted, hidden)},
            answer_tokens=task.answer_tokens(context_tokens),
        )
        if planted.distractors:
            sample = replace(sample, reference=Reference(distractors=planted.distractors))
        self.redrawn[sample.sample_id], self.off[sample.sample_id] = planted.redrawn, hidden.off
        if haystacks is self.filler:
            self.from_filler[sample.sample_id] = context_tokens
        yield sample
        if task.controls:
            yield from self._controls(sample, planted, haystack, site)

    def _after(self, question: str) -> str:
        return f"\n\n{question} {self.task.answer_format}".rstrip()

    def _cluster(self, haystack: Haystack, planted: Planted) -> str:
        """The haystack where there are several (it holds the contexts cut from it); else the packed context."""
        several = self.task.haystacks != "fresh" and len(self.haystacks) > 1
        return haystack.document.document_id if several else planted.context

    def _controls(self, sample: Sample, planted: Planted, haystack: Haystack, site: SampleSite) -> Iterator[Sample]:
        before, after = Words(text=f"{self.task.instruction}\n\n"), self._after(planted.question)
        evidence = " ".join(planted.facts[position].text for position in planted.evidence)
        alone = Recipe(user=(before, Words(text=evidence), Words(text=after)))
        shortest = min(self.task.lengths_in(self.materials.context_budget))
        bare = haystack.hide((), context_tokens=shortest, before=before.text, after=after, start=site.start)
        count = self.materials.tokenizer.count_prompt(render(alone, {}))
        yield self._control(sample, "ceiling", alone, count)
        yield self._control(sample, "floor", bare.recipe, bare.built_tokens)

    def _control(self, sample: Sample, kind: Literal["ceiling", "floor"], recipe: Recipe, tokens: int) -> Sample:
        pieces = [
            piece.text if isinstance(piece, Words) else [piece.document_id, piece.start, piece.end]
            for piece in recipe.user
        ]
        return control_of(sample, kind, (kind, self.materials.text_identity, pieces), recipe=recipe, tokens=tokens)


def _fresh(haystacks: Sequence[Haystack], drawn: int, context_tokens: int) -> tuple[Haystack, int]:
    """A text that is long enough, and a sentence of it: each sentence is as likely as any other."""
    enough = [each for each in haystacks if each.tokens_of_text >= context_tokens]
    pool = enough or [max(haystacks, key=lambda each: each.tokens_of_text)]
    position = drawn % sum(len(each.starts) for each in pool)
    for haystack in pool:
        if position < len(haystack.starts):
            return haystack, haystack.starts[position]
        position -= len(haystack.starts)
    raise AssertionError("the position is below the number of starts")


def _distances(planted: Planted, hidden: Hidden) -> Mapping[str, int]:
    """How far apart in the text neighbouring pieces of evidence stand on average, in tokens."""
    places = sorted(hidden.token_places[position] for position in planted.evidence)
    if len(places) < 2:
        return {}
    return {"evidence_distance_tokens": round((places[-1] - places[0]) / (len(places) - 1))}


def planting_notes(*, redrawn: int, off: Sequence[float], misplaced: float) -> tuple[str, ...]:
    """What a reader has to know: needles drawn again, and needles farther than `misplaced` from their depth."""
    notes: list[str] = []
    if redrawn:
        again = (
            "1 needle was drawn again, since the text held its"
            if redrawn == 1
            else (f"{redrawn:,} needles were drawn again, since the text held their")
        )
        notes.append(f"{again} words already")
    far = [each for each in off if each > misplaced]
    if far:
        notes.append(
            f"{len(far):,} of {len(off):,} samples have a needle more than {misplaced:.2g} of the text from its depth "
            f"(the farthest {max(far):.2f}), since needles go in where a sentence begins and few begin there; take "
            "another text, or longer contexts"
        )
    return tuple(notes)
