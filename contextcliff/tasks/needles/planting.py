"""What the needle tasks share: facts planted in a haystack, and the controls that go with them.

A task says what is planted for one sample (`plant`) and what counts as found (`score`). A control asks the same over
the evidence alone (its score is the ceiling) or over the bare haystack at the shortest length (the floor)."""

from __future__ import annotations

import json
import random
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from operator import attrgetter
from typing import Any, ClassVar, Literal

from contextcliff.records.corpus import Document
from contextcliff.records.note import Note
from contextcliff.records.sample import Recipe, Reference, Sample, Words, render
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import Count, settings
from contextcliff.tasks.grid import WHICH_SAMPLES, DesignedLengths
from contextcliff.tasks.needles.haystack import FRESH_CHARACTERS, Fact, Haystack, prepare, prepare_fresh
from contextcliff.tasks.task import (
    NO_REFERENCE,
    Cell,
    ContextBudget,
    Maker,
    Materials,
    Traits,
    configured,
    control_over,
    distances,
    far_note,
    sample_at,
    several_texts,
    unused_notes,
)
from contextcliff.text.tokens import TokenisedText
from contextcliff.text.value_forms import FORMS, ValueForm

_CHARACTERS_PER_TOKEN = 8
_UUID_ANSWER_TOKENS = 128
"""Of one UUID, where the answer repeats a key that is one too; as many as RULER gives."""

KeyKind = Literal["city", "word", "uuid"]
ValueKind = Literal["number", "uuid", "word"]


@cache
def word_file(name: str) -> Any:
    return json.loads(files("contextcliff.tasks.needles").joinpath(name).read_text(encoding="utf-8"))


CITIES: Sequence[str] = word_file("cities.json")
MOST_CITIES = len(CITIES) // 2
"""Needles of one context: beyond it too few cities are left for a text that names some itself."""


def room_for(value: ValueKind) -> int | None:
    """Tokens of an answer with one value; None: what the sampling gives is enough."""
    return _UUID_ANSWER_TOKENS if value == "uuid" else None


@dataclass(kw_only=True, slots=True)
class SampleSite:
    """Where a sample stands: the text from `start` on, of which no prompt of its length reaches beyond `end`."""

    depth: float | None
    trial: int
    rng: random.Random
    """Draws for this sample; the same for all depths of a trial that share their context."""
    text: TokenisedText
    start: int
    end: int
    redrawn: int = 0

    def holds(self, words: str) -> bool:
        return self.text.text.find(words, self.start, self.end) >= 0

    def distinct(self, form: ValueForm, *, count: int) -> list[str]:
        drawn: list[str] = []
        while len(drawn) < count:
            value = form.draw(self.rng)
            if value not in drawn and not self.holds(value):
                drawn.append(value)
        return drawn

    def pairs(self, *, count: int, key: KeyKind, value: ValueKind) -> list[tuple[str, str]]:
        drawn: dict[str, str] = {}
        while len(drawn) < count:
            name = self.rng.choice(CITIES) if key == "city" else FORMS[key].draw(self.rng)
            hidden = FORMS[value].draw(self.rng)
            if self.holds(name) or self.holds(hidden):
                self.redrawn += 1
            elif name not in drawn and hidden not in drawn.values():
                drawn[name] = hidden
        return list(drawn.items())


@dataclass(frozen=True, kw_only=True, slots=True)
class Planted:
    """What one sample hides and asks. `evidence` are the positions in `facts` that the answer needs."""

    facts: Sequence[Fact]
    evidence: Sequence[int]
    question: str
    answers: tuple[str, ...]
    distractors: tuple[str, ...] = ()
    metadata: Mapping[str, str | int | float] = field(default_factory=dict)
    context: str = ""
    context_questions: tuple[str, ...] = ()
    """All questions of that context: it is cut for the longest, so that it is the same for each."""


@settings
class PlantingTask(DesignedLengths):
    """A grid of lengths and places over `haystacks` stretches of text, with `trials` samples a cell."""

    claim = Note("In a needle test {whether}the model finds {share} hidden facts in prompts of {lengths}")
    inert: ClassVar[Mapping[str, object]] = {}
    """Options, by their key in the task, with the value that changes nothing: with it they are left out of what a
    sample is."""

    haystacks: Count | Literal["fresh"] = 1
    instruction: str
    answer_format: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trials == "auto" and 1 < self.texts < self.turns:
            raise ValueError(
                f"task.haystacks={self.haystacks}: a step of the search takes {self.turns}, since each trial has its "
                f"own; give {self.turns} or more, fresh, or 1"
            )

    @abstractmethod
    def plant(self, site: SampleSite) -> Planted:
        """Draw what one sample hides and asks."""

    def check_text(self, text: str) -> None:
        """Raise `ConfigError` for a text that gives the answer by itself, where no other draw can help."""

    @property
    def shares_context(self) -> bool:
        """Whether all depths of a length and trial ask of one context."""
        return False

    @property
    def traits(self) -> Traits:
        traits, unused = super().traits, [key for key, value in self.inert.items() if attrgetter(key)(self) == value]
        more = f"{traits.more_samples} and task.haystacks, or take task.haystacks=fresh"
        return replace(
            traits,
            texts=self.texts,
            takes_any_prose=True,
            begins_anywhere=self.haystacks == "fresh",
            more_samples=traits.more_samples if self.texts == 1 else more,
            idle=(*traits.idle, *(key.rpartition(".")[2] for key in unused)),
        )

    def asked(self) -> Mapping[str, object]:
        asked = configured(self, but=(*WHICH_SAMPLES, *self.traits.not_asked, *self.traits.idle))
        return {**asked, "depths": list(self.places)} if self.shares_context else asked

    @property
    def texts(self) -> int:
        """Haystacks that samples go round; 1 where they begin anywhere."""
        return 1 if self.haystacks == "fresh" else self.haystacks

    @property
    def shares_texts(self) -> bool:
        return self.texts > 1 or self.shares_context

    @property
    def most_steps(self) -> int:
        most = super().most_steps
        # A haystack that comes again is no further evidence.
        return min(most, self.texts // self.turns) if self.texts > 1 else most

    def text_tokens(self, context_budget: ContextBudget) -> int:
        extra = FRESH_CHARACTERS // _CHARACTERS_PER_TOKEN if self.haystacks == "fresh" else 0
        return super().text_tokens(context_budget) + extra

    def text_holds(self, materials: Materials) -> int | None:
        texts = self._texts(materials)
        if materials.corpus.filler or any(document.endless for document in texts):
            return None
        longest = max(self.lengths_in(materials.context_budget))
        return self.held([prepare(document, tokens=longest, tokenizer=materials.tokenizer) for document in texts])

    def held(self, haystacks: Sequence[Haystack]) -> int:
        """Tokens that one of the haystacks has, or each of them where samples go round them."""
        tokens = [haystack.tokens_of_text for haystack in haystacks]
        return max(tokens) if self.haystacks == "fresh" else min(tokens)

    def maker(self, materials: Materials) -> Planter:
        haystacks = self._haystacks(self._texts(materials), materials)
        longest = max(self.lengths_in(materials.context_budget))
        filler = materials.corpus.filler if self.held(haystacks) < longest else ()
        return Planter(
            task=self,
            materials=materials,
            haystacks=haystacks,
            filler=self._haystacks(filler, materials),
            asked=digest_of(dict(self.asked())),
        )

    def _haystacks(self, texts: Sequence[Document], materials: Materials) -> tuple[Haystack, ...]:
        longest, fresh = max(self.lengths_in(materials.context_budget)), self.haystacks == "fresh"
        ready = prepare_fresh if fresh else prepare
        haystacks = tuple(ready(document, tokens=longest, tokenizer=materials.tokenizer) for document in texts)
        for haystack in haystacks:
            text = haystack.text
            self.check_text(text.text if fresh else text.text[: text.end_for(0, longest)])
        return haystacks

    def _texts(self, materials: Materials) -> tuple[Document, ...]:
        count = len(materials.corpus.documents) if self.haystacks == "fresh" else self.haystacks
        return several_texts(materials.corpus, task=self.name, count=count)


@dataclass(frozen=True, kw_only=True, slots=True)
class Planter(Maker):
    """Makes the samples of one task over its haystacks, and keeps what is to be said of them."""

    task: PlantingTask
    materials: Materials
    haystacks: Sequence[Haystack]
    asked: str
    filler: Sequence[Haystack] = ()
    made: dict[str, tuple[int, float, int]] = field(default_factory=dict)
    """Of each sample: draws that the text held already, how far its needle stands from its depth as a share of the
    text, and its length where it is of generated prose, else 0."""

    def make(self, at: Cell) -> Iterator[Sample]:
        task, (context_tokens, depth, trial) = self.task, at
        context = (self.materials.seed, task.name, self.asked, self.materials.text_identity, context_tokens)
        coordinates = (*context, depth, trial)
        seed = seed_of(*context, trial) if task.shares_context else seed_of(*coordinates)
        haystacks = self.filler if self.filler and task.held(self.haystacks) < context_tokens else self.haystacks
        if task.haystacks == "fresh":
            haystack, start = _fresh(haystacks, seed_of("start", seed), context_tokens)
        else:
            row = None if task.shares_context else depth
            first = 0 if task.trials == "auto" else seed_of("haystack", row)
            haystack, start = haystacks[(first + trial) % task.texts], 0
        site = SampleSite(
            depth=depth,
            trial=trial,
            rng=random.Random(seed),
            text=haystack.text,
            start=start,
            end=haystack.text.end_for(start, context_tokens),
        )
        planted, before = task.plant(site), f"{task.instruction}\n\n"

        def after(question: str) -> str:
            return f"\n\n{question} {task.answer_format}".rstrip()

        hidden = haystack.hide(
            planted.facts,
            context_tokens=context_tokens,
            before=before,
            after=after(planted.question),
            cut_for=[after(question) for question in planted.context_questions],
            start=start,
        )
        places = sorted(hidden.token_places[position] for position in planted.evidence)
        several = task.haystacks != "fresh" and len(self.haystacks) > 1
        sample = sample_at(
            task,
            coordinates,
            at,
            built_tokens=hidden.built_tokens,
            document_id=haystack.document.document_id,
            question=planted.question,
            answers=planted.answers,
            recipe=hidden.recipe,
            reference=Reference(distractors=planted.distractors) if planted.distractors else NO_REFERENCE,
            cluster=haystack.document.document_id if several else planted.context,
            metadata={**planted.metadata, **distances(places)},
            answer_tokens=task.answer_tokens(context_tokens),
        )
        generated = context_tokens if haystacks is self.filler else 0
        self.made[sample.sample_id] = site.redrawn, hidden.off, generated
        yield sample
        if task.controls:
            evidence = " ".join(planted.facts[position].text for position in planted.evidence)
            alone = Recipe(user=(Words(text=before), Words(text=evidence), Words(text=after(planted.question))))
            shortest = min(task.lengths_in(self.materials.context_budget))
            bare = haystack.hide((), context_tokens=shortest, before=before, after=after(planted.question), start=start)
            tokens = self.materials.tokenizer.count_prompt(render(alone, {}))
            yield control_over(sample, "ceiling", self.materials, recipe=alone, tokens=tokens)
            yield control_over(sample, "floor", self.materials, recipe=bare.recipe, tokens=bare.built_tokens)

    def notes(self, sample_ids: Collection[str]) -> tuple[str, ...]:
        made = [self.made[name] for name in sample_ids if name in self.made]
        notes = [*unused_notes(self.materials.corpus, count=len(self.haystacks))]
        if generated := [length for *_, length in made if length]:
            held, shortest = self.task.held(self.haystacks), min(generated)
            notes.append(f"the text holds {held:,} tokens: from {shortest:,} on the prompts are of generated prose")
        if redrawn := sum(times for times, *_ in made):
            one = "1 needle was drawn again, since the text held its words already"
            more = f"{redrawn:,} needles were drawn again, since the text held their words already"
            notes.append(one if redrawn == 1 else more)
        most = self.task.misplaced
        what = f"a needle more than {most:.2g} of the text from its depth"
        why = "needles go in where a sentence begins and few begin there; take another text, or longer contexts"
        return (*notes, *far_note([off for _, off, _ in made], most, what, why))


def _fresh(haystacks: Sequence[Haystack], drawn: int, context_tokens: int) -> tuple[Haystack, int]:
    """A text that is long enough, and a sentence of it: each sentence is as likely as any other."""
    enough = [each for each in haystacks if each.tokens_of_text >= context_tokens]
    pool = enough or [max(haystacks, key=lambda each: each.tokens_of_text)]
    position = drawn % sum(len(each.starts) for each in pool)
    for haystack in pool:
        if position < len(haystack.starts):
            break
        position -= len(haystack.starts)
    return haystack, haystack.starts[position]
