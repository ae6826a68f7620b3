"""Task `babilong`: where somebody or something is, by one, two or three facts scattered in order through prose.

After BABILong (Kuratov et al. 2024, arXiv:2406.10149), whose facts are those of bAbI's tasks 1–3 (Weston et al. 2015,
arXiv:1502.05698). People move, take things and put them down; later facts overrule earlier ones. Scored 1 where the
first sentence of the answer names the right place and no other."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.generation import Generation, Score
from contextcliff.records.note import Note
from contextcliff.records.sample import Sample
from contextcliff.settings import Count, Int, NonNegativeInt, settings
from contextcliff.tasks.grid import Depths, filled, naming
from contextcliff.tasks.needles.haystack import Fact, fact
from contextcliff.tasks.needles.planting import Planted, PlantingTask, SampleSite, word_file
from contextcliff.tasks.task import ScoringContext
from contextcliff.tasks.values import score_value
from contextcliff.text.value_forms import WORD

Kind = Literal["move", "take", "drop"]
Facts = Literal[1, 2, 3]

LONGEST_COURSE = {1: 3, 2: 5, 3: 6}
FEWEST_PLACES = 5
"""No course goes twice to one place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Someone goes to a place, or takes or drops a thing where they are."""

    kind: Kind
    person: str
    place: str = ""
    thing: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """What happens, in order; `support` are the events that the answer follows from."""

    events: tuple[Event, ...]
    support: tuple[int, ...]
    answer: str
    told_by: int
    before: str = ""
    """Of three facts: the place that the thing was in after the answer."""


def course(facts: Facts, person: str, thing: str, places: Sequence[str], rng: random.Random) -> Course:
    """What the asked-for person does, so that the question takes so many supporting facts.

    1: the person's last move. 2: who took the thing and moved on, or where it was put down and left. 3: where the thing
    was before a place that it was carried to."""

    def moves(count: int) -> list[Event]:
        return [Event(kind="move", person=person, place=place) for place in rng.sample(places, count)]

    take, drop = Event(kind="take", person=person, thing=thing), Event(kind="drop", person=person, thing=thing)
    if facts == 1:
        events = moves(rng.choice((2, 3)))
        last = len(events) - 1
        return Course(events=tuple(events), support=(last,), answer=events[last].place, told_by=last)
    if facts == 2 and rng.random() < 0.5:
        first, *rest = moves(rng.choice((2, 3)))
        last = len(rest) + 1
        return Course(events=(first, take, *rest), support=(1, last), answer=rest[-1].place, told_by=last)
    if facts == 2:
        first, there, away = moves(3)
        return Course(events=(first, take, there, drop, away), support=(2, 3), answer=there.place, told_by=2)
    first, *rest = moves(rng.choice((4, 5)))
    told = (first, take, *rest)
    then = rng.randrange(3, len(told))  # from the second place that it was carried to
    return Course(
        events=told, support=(1, then - 1, then), answer=told[then - 1].place, told_by=then - 1, before=told[then].place
    )


def _crowd(people: Sequence[str], places: Sequence[str], things: Sequence[str], rng: random.Random) -> Iterator[Event]:
    """What people do that no question is about: as often a move as something with a thing, where that is possible."""
    at, lies, held = dict[str, str](), dict[str, str](), dict[str, str]()
    while True:
        person, possible = rng.choice(people), list[tuple[Kind, str]]()
        if person in at and rng.random() < 0.5:
            for thing in things:
                if held.get(thing) == person:
                    possible.append(("drop", thing))
                elif thing not in held and lies.get(thing, at[person]) == at[person]:
                    possible.append(("take", thing))
        if possible:
            kind, thing = rng.choice(possible)
            if kind == "take":
                held[thing] = person
            else:
                del held[thing]
                lies[thing] = at[person]
            yield Event(kind=kind, person=person, thing=thing)
        else:
            at[person] = rng.choice([place for place in places if place != at.get(person)])
            yield Event(kind="move", person=person, place=at[person])


Moves = Annotated[tuple[Annotated[str, naming("{name}", "{place}")], ...], Field(min_length=1)]
Handles = Annotated[tuple[Annotated[str, naming("{name}", "{thing}")], ...], Field(min_length=1)]


@settings
class Babilong(Depths, PlantingTask):
    """A grid of lengths and depths; the fact that names the answer stands at the depth, the rest in order around it."""

    name = "babilong"
    claim = Note(
        "In a test of scattered facts {whether}the model answers {share} questions right in prompts of {lengths}"
    )

    facts: Facts
    statements: Count
    people: Annotated[Int, Field(ge=2, le=20)]
    locations: Annotated[Int, Field(ge=FEWEST_PLACES, le=20)]
    things: NonNegativeInt
    moves: Moves
    takes: Handles
    drops: Handles
    person_question: Annotated[str, naming("{name}")]
    thing_question: Annotated[str, naming("{thing}")]
    before_question: Annotated[str, naming("{thing}", "{place}")]

    def __post_init__(self) -> None:
        super().__post_init__()
        longest = LONGEST_COURSE[self.facts]
        if self.statements < longest:
            raise ValueError(
                f"task.statements={self.statements}: an answer by task.facts={self.facts} takes up to {longest} of "
                f"them; give {longest} or more"
            )
        most = len(word_file("world.json")["things"]) // 2
        if self.things > most:
            raise ValueError(f"task.things={self.things}: at most {most} can be drawn; lower it")

    def plant(self, site: SampleSite) -> Planted:
        rng, depth = site.rng, site.depth or 0.0
        asked, *others = self._drawn("people", word_file("names.json"), self.people, site)
        places = self._drawn("locations", word_file("world.json")["places"], self.locations, site)
        carried = 0 if self.facts == 1 else self.things
        thing, *things = self._drawn("things", word_file("world.json")["things"], 1 + carried, site)
        own = course(self.facts, asked, thing, places, rng)
        turns = sorted(rng.sample(range(self.statements), len(own.events)))
        crowd, mine = _crowd(others, places, things, rng), iter(own.events)
        events = [next(mine if turn in turns else crowd) for turn in range(self.statements)]
        told_by = turns[own.told_by]
        before = sorted(rng.uniform(0.0, depth) for _ in events[:told_by])
        after = sorted(rng.uniform(depth, 1.0) for _ in events[told_by + 1 :])
        question = {
            1: filled(self.person_question, name=asked),
            2: filled(self.thing_question, thing=thing),
            3: filled(self.before_question, thing=thing, place=own.before),
        }[self.facts]
        return Planted(
            facts=[self._said(event, at, rng) for event, at in zip(events, [*before, depth, *after], strict=True)],
            evidence=[turns[position] for position in own.support],
            question=question,
            answers=(own.answer,),
            distractors=tuple(place for place in places if place not in (own.answer, own.before)),
            metadata={"facts": self.facts},
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        first, end, _ = generation.text.strip().partition(".")
        reason = "stop" if end else generation.finish_reason
        return score_value(sample, replace(generation, text=first, finish_reason=reason), context, WORD)

    def _drawn(self, key: str, words: Sequence[str], count: int, site: SampleSite) -> list[str]:
        free = [word for word in words if not site.holds(word) and not site.holds(word.capitalize())]
        if len(free) < count:
            raise ConfigError(
                f"task.{key}={count}: only {len(free)} of {len(words)} words for them do not occur in the text; lower "
                "it, or take another dataset"
            )
        return site.rng.sample(free, count)

    def _said(self, event: Event, depth: float, rng: random.Random) -> Fact:
        templates = {"move": self.moves, "take": self.takes, "drop": self.drops}[event.kind]
        return fact(rng.choice(templates), depth, name=event.person, place=event.place, thing=event.thing)
