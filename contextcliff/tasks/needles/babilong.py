"""Task `babilong`: where somebody or something is, by one, two or three facts scattered in order through prose.

After BABILong (Kuratov et al. 2024, arXiv:2406.10149), whose facts are those of bAbI's tasks 1–3 (Weston et al. 2015,
arXiv:1502.05698). Here they come from a simulation of its own, with names, places and things that
the prose does not hold. People move, take things and put them down; later facts overrule earlier ones, so that their
order matters. Scored 1 where the first sentence of the answer names the right place and no other.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import Count, Int, NonNegativeInt, settings
from contextcliff.tasks.grid import Depths, filled, require_fields
from contextcliff.tasks.needles.haystack import Fact, as_sentence
from contextcliff.tasks.needles.niah_semantic import names
from contextcliff.tasks.needles.planter import Planted, SampleSite
from contextcliff.tasks.needles.planting import PlantingTask
from contextcliff.tasks.needles.values import score_value
from contextcliff.tasks.task import ScoringContext
from contextcliff.text.value_forms import WORD

Kind = Literal["move", "take", "drop"]
Facts = Literal[1, 2, 3]

LONGEST_COURSE = {1: 3, 2: 5, 3: 6}
"""Most statements of the course that the answer follows from, by the number of supporting facts."""
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
    """What the asked-for person does, in order; `support` are the events that the answer follows from."""

    events: tuple[Event, ...]
    support: tuple[int, ...]
    answer: str
    told_by: int
    """The event that names the answer."""
    before: str = ""
    """Of three facts: the place that the thing was in after the answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    """All that happens, in order; `support` and `told_by` are positions in `events`."""

    events: tuple[Event, ...]
    support: tuple[int, ...]
    told_by: int
    course: Course


def course(facts: Facts, person: str, thing: str, places: Sequence[str], rng: random.Random) -> Course:
    """A course whose question takes so many supporting facts.

    1: where the person is: two or three moves, and the last one tells. 2: where the thing is: with the person,
    who took it and moved on, or where the person put it down and left it. 3: where the thing was before a place
    that it was carried to.
    """
    return _COURSES[facts](person, thing, places, rng)


def _where_is_the_person(person: str, thing: str, places: Sequence[str], rng: random.Random) -> Course:  # noqa: ARG001
    moves = _moves(person, rng.sample(places, rng.choice((2, 3))))
    last = len(moves) - 1
    return Course(events=moves, support=(last,), answer=moves[last].place, told_by=last)


def _where_is_the_thing(person: str, thing: str, places: Sequence[str], rng: random.Random) -> Course:
    take = Event(kind="take", person=person, thing=thing)
    if rng.random() < 0.5:
        first, *rest = _moves(person, rng.sample(places, rng.choice((2, 3))))
        last = len(rest) + 1
        return Course(events=(first, take, *rest), support=(1, last), answer=rest[-1].place, told_by=last)
    first, there, away = _moves(person, rng.sample(places, 3))
    drop = Event(kind="drop", person=person, thing=thing)
    return Course(events=(first, take, there, drop, away), support=(2, 3), answer=there.place, told_by=2)


def _where_was_the_thing(person: str, thing: str, places: Sequence[str], rng: random.Random) -> Course:
    take = Event(kind="take", person=person, thing=thing)
    first, *rest = _moves(person, rng.sample(places, rng.choice((4, 5))))
    events = (first, take, *rest)
    then = rng.randrange(3, len(events))  # from the second place that it was carried to
    return Course(
        events=events,
        support=(1, then - 1, then),
        answer=events[then - 1].place,
        told_by=then - 1,
        before=events[then].place,
    )


_COURSES = {1: _where_is_the_person, 2: _where_is_the_thing, 3: _where_was_the_thing}


def _moves(person: str, places: Sequence[str]) -> tuple[Event, ...]:
    return tuple(Event(kind="move", person=person, place=place) for place in places)


def story(
    own: Course,
    *,
    others: Sequence[str],
    places: Sequence[str],
    things: Sequence[str],
    statements: int,
    rng: random.Random,
) -> Story:
    """The course among what other people do, `statements` events in all. `things` are what others may carry."""
    turns = sorted(rng.sample(range(statements), len(own.events)))
    crowd = _Crowd(people=others, places=places, things=things)
    mine = iter(own.events)
    events = tuple(next(mine) if turn in turns else crowd.next(rng) for turn in range(statements))
    return Story(
        events=events,
        support=tuple(turns[position] for position in own.support),
        told_by=turns[own.told_by],
        course=own,
    )


@dataclass(kw_only=True, slots=True)
class _Crowd:
    """People that no question is about, where they are and what they carry."""

    people: Sequence[str]
    places: Sequence[str]
    things: Sequence[str]
    at: dict[str, str] = field(default_factory=dict)
    lies: dict[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)

    def next(self, rng: random.Random) -> Event:
        """What somebody does next: as often a move as something with a thing, where that is possible."""
        person = rng.choice(self.people)
        handled = self._handled(person, rng) if person in self.at and rng.random() < 0.5 else None
        if handled is not None:
            return handled
        place = rng.choice([place for place in self.places if place != self.at.get(person)])
        self.at[person] = place
        return Event(kind="move", person=person, place=place)

    def _handled(self, person: str, rng: random.Random) -> Event | None:
        here = self.at[person]
        possible: list[tuple[Kind, str]] = []
        for thing in self.things:
            if self.held.get(thing) == person:
                possible.append(("drop", thing))
            elif thing not in self.held and self.lies.get(thing, here) == here:
                possible.append(("take", thing))
        if not possible:
            return None
        kind, thing = rng.choice(possible)
        if kind == "take":
            self.held[thing] = person
        else:
            del self.held[thing]
            self.lies[thing] = here
        return Event(kind=kind, person=person, thing=thing)


_HANDLED = ("{name}", "{thing}")
Templates = Annotated[tuple[str, ...], Field(min_length=1)]


@settings
class Babilong(Depths, PlantingTask):
    """A grid of lengths and depths; the fact that names the answer stands at the depth, the rest in order around it."""

    name = "babilong"

    facts: Literal[1, 2, 3]
    """Supporting facts."""
    statements: Count
    """All facts in the text, the supporting ones included."""
    people: Annotated[Int, Field(ge=2, le=20)]
    locations: Annotated[Int, Field(ge=FEWEST_PLACES, le=20)]
    """Places that people go to."""
    things: NonNegativeInt
    """Things that other people carry about; of one fact nothing is carried."""
    moves: Templates
    """What is said of somebody who goes somewhere; each names `{name}` and `{place}`."""
    takes: Templates
    """Each names `{name}` and `{thing}`."""
    drops: Templates
    """Each names `{name}` and `{thing}`."""
    person_question: str
    """Of one fact; names `{name}`."""
    thing_question: str
    """Of two facts; names `{thing}`."""
    before_question: str
    """Of three facts; names `{thing}` and `{place}`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, fields in (("moves", ("{name}", "{place}")), ("takes", _HANDLED), ("drops", _HANDLED)):
            for position, template in enumerate(getattr(self, key)):
                require_fields(f"task.{key}[{position}]", template, fields)
        require_fields("task.person_question", self.person_question, ("{name}",))
        require_fields("task.thing_question", self.thing_question, ("{thing}",))
        require_fields("task.before_question", self.before_question, ("{thing}", "{place}"))
        longest = LONGEST_COURSE[self.facts]
        if self.statements < longest:
            raise ValueError(
                f"task.statements={self.statements}: an answer by task.facts={self.facts} takes up to {longest} of "
                f"them; give {longest} or more"
            )
        most = len(_words("things")) // 2
        if self.things > most:
            raise ValueError(f"task.things={self.things}: at most {most} can be drawn; lower it")

    def plant(self, site: SampleSite) -> Planted:
        """A story, in its order: the fact that names the answer at the depth, the others before and after it."""
        rng = site.rng()
        asked, *others = self._drawn("people", names(), self.people, site, rng)
        places = self._drawn("locations", _words("places"), self.locations, site, rng)
        carried = 0 if self.facts == 1 else self.things
        thing, *things = self._drawn("things", _words("things"), 1 + carried, site, rng)
        own = course(self.facts, asked, thing, places, rng)
        told = story(own, others=others, places=places, things=things, statements=self.statements, rng=rng)
        depths = _depths(told, site.depth or 0.0, rng)
        question = {
            1: filled(self.person_question, name=asked),
            2: filled(self.thing_question, thing=thing),
            3: filled(self.before_question, thing=thing, place=own.before),
        }[self.facts]
        return Planted(
            facts=tuple(
                Fact(text=self._sentence(event, rng), depth=depth)
                for event, depth in zip(told.events, depths, strict=True)
            ),
            evidence=told.support,
            question=question,
            answers=(own.answer,),
            distractors=tuple(place for place in places if place not in (own.answer, own.before)),
            metadata={"facts": self.facts},
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        """1 where the first sentence names the right place and no other; a place of the question counts for nothing."""
        text = generation.text.strip()
        first = text.partition(".")[0]
        return score_value(
            first,
            expected=sample.answers[0],
            form=WORD,
            distractors=sample.reference.distractors,
            foreign=context.foreign_answers,
            cut_off=generation.finish_reason == "length" and first == text,
        )

    def _drawn(
        self, key: str, words: Sequence[str], count: int, site: SampleSite, rng: random.Random
    ) -> tuple[str, ...]:
        """Words that the text does not hold, in either case."""
        free = [word for word in words if not site.holds(word) and not site.holds(word.capitalize())]
        if len(free) < count:
            raise ConfigError(
                f"task.{key}={count}: only {len(free)} of {len(words)} words for them do not occur in the text; lower "
                "it, or take another dataset"
            )
        return tuple(rng.sample(free, count))

    def _sentence(self, event: Event, rng: random.Random) -> str:
        templates = {"move": self.moves, "take": self.takes, "drop": self.drops}[event.kind]
        return as_sentence(filled(rng.choice(templates), name=event.person, place=event.place, thing=event.thing))


def _depths(told: Story, depth: float, rng: random.Random) -> list[float]:
    """Ascending depths: that of the event that names the answer, and the others anywhere before and after it."""
    before = sorted(rng.uniform(0.0, depth) for _ in told.events[: told.told_by])
    after = sorted(rng.uniform(depth, 1.0) for _ in told.events[told.told_by + 1 :])
    return [*before, depth, *after]


@cache
def _words(kind: str) -> tuple[str, ...]:
    text = files("contextcliff.tasks").joinpath("needles", "world.json").read_text(encoding="utf-8")
    return tuple(json.loads(text)[kind])
