"""A small world of people who go from place to place and carry things, told as a story in which one answer is planted.

After the simulation behind bAbI's tasks 1–3 (Weston et al. 2015, arXiv:1502.05698). One person, and for two and three
facts one thing, has a course of its own, to which the question belongs; nobody else touches that thing. The other
people go about at random and carry the other things. All that happens is possible: a thing is taken by someone who is
where it lies, and the first that is told of a person is where they go.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

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
