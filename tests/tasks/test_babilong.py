"""Facts about people and things in prose: a reader who keeps account of them in order finds the answer, and only it."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Document
from contextcliff.records.sample import Sample
from contextcliff.tasks.needles.babilong import LONGEST_COURSE, Babilong, course
from contextcliff.tasks.needles.planting import word_file
from contextcliff.tasks.task import ScoringContext
from tests.tasks.made_tasks import shipped
from tests.tasks.needles import TEXT, built, materials, prompt, said

FACTS = st.sampled_from([1, 2, 3])


def babilong(facts: int, **changes: Any) -> Babilong:
    task = shipped(f"babilong_qa{facts}", **{"lengths": [900], "depths": [0.5], "trials": 1, **changes})
    assert isinstance(task, Babilong)
    return task


@dataclass
class Reader:
    """Keeps account of a story as it is told, sentence by sentence, and knows nothing of how it was made."""

    at: dict[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)
    been: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Where each thing has been, in order."""
    told: int = 0

    def read(self, text: str, task: Babilong) -> Reader:
        kinds = {template: kind for kind in ("moves", "takes", "drops") for template in getattr(task, kind)}
        patterns = {
            re.escape(template).replace(r"\{name\}", r"(?P<name>\w+)").replace(r"\{place\}", r"(?P<other>\w+)")
            .replace(r"\{thing\}", r"(?P<other>\w+)"): kind
            for template, kind in kinds.items()
        }  # fmt: skip
        found = [
            (match.start(), kind, match["name"], match["other"])
            for pattern, kind in patterns.items()
            for match in re.finditer(pattern, text)
        ]
        for _, kind, person, other in sorted(found):
            getattr(self, f"_{kind}")(person, other)
            self.told += 1
        return self

    def _moves(self, person: str, place: str) -> None:
        assert self.at.get(person) != place
        self.at[person] = place
        for thing, holder in self.held.items():
            if holder == person:
                self.been[thing].append(place)

    def _takes(self, person: str, thing: str) -> None:
        assert thing not in self.held
        if thing in self.been and person in self.at:
            assert self.been[thing][-1] == self.at[person]
        elif person in self.at:
            self.been[thing].append(self.at[person])
        self.held[thing] = person

    def _drops(self, person: str, thing: str) -> None:
        assert self.held.pop(thing, person) == person
        if not self.been[thing]:
            self.been[thing].append(self.at[person])

    def answer(self, sample: Sample, facts: int) -> str:
        """What the question asks for; it has to follow, and from one place in the story only."""
        if facts == 1:
            return self.at[sample.question.split()[2]]
        been = self.been[sample.question.split()[3]]
        if facts == 2:
            return been[-1]
        place = sample.question.removesuffix("?").split()[-1]
        assert been.count(place) == 1
        return been[been.index(place) - 1]


@given(FACTS, st.integers(6, 20), st.integers(2, 6), st.integers(5, 9), st.integers(0, 4), st.integers(0, 200))
@settings(max_examples=25)
def test_a_reader_finds_the_answer_in_the_text_and_in_the_supporting_facts_alone(
    facts: int, statements: int, people: int, locations: int, things: int, seed: int
) -> None:
    task = babilong(
        facts, statements=statements, people=people, locations=locations, things=things, controls=True, depths=[0.4]
    )
    plan = built(task, TEXT, seed=seed)
    (sample,) = plan.samples
    whole = Reader().read(prompt(sample).user, task)
    assert whole.told == statements
    assert (whole.answer(sample, facts),) == sample.answers
    ceiling = next(control for control in plan.controls if control.control == "ceiling")
    alone = Reader().read(prompt(ceiling).user, task)
    assert alone.told == facts
    assert (alone.answer(sample, facts),) == sample.answers


@given(FACTS, st.integers(0, 10_000))
def test_the_answer_is_never_where_the_course_begins_and_no_place_comes_twice(facts: Any, seed: int) -> None:
    """So the order of the facts matters: who takes the first move for the last is wrong."""
    rng = random.Random(seed)
    own = course(facts, "Ann", "kite", ["A", "B", "C", "D", "E", "F"], rng)
    assert len(own.events) <= LONGEST_COURSE[facts]
    moves = [event.place for event in own.events if event.kind == "move"]
    assert len(set(moves)) == len(moves) >= 2
    assert moves[0] != own.answer
    assert len(own.support) == facts
    assert own.told_by in own.support
    assert own.events[own.told_by].place == own.answer


ANSWERS = {
    "chapel": (1.0, None),
    "The Chapel.": (1.0, None),
    "Ann is in the chapel. Before that she was in the studio.": (1.0, None),  # the first sentence counts
    "the chapel, after the clinic": (1.0, None),  # the question names the clinic
    "in the studio": (0.0, "wrong_needle"),
    "in the studio or the chapel": (0.0, "hedged"),
    "chapels": (0.0, "missing"),
    "The text does not say.": (0.0, "refusal"),
    "": (0.0, "empty"),
}


def test_the_right_place_and_no_other_has_to_be_named() -> None:
    task = babilong(3)
    (sample,) = built(task).samples
    asked = replace(sample, answers=("chapel",), reference=replace(sample.reference, distractors=("studio", "pantry")))
    scores = {answer: task.score(asked, said(answer), ScoringContext()) for answer in ANSWERS}
    assert {answer: (score.value, score.failure) for answer, score in scores.items()} == ANSWERS


def test_a_text_that_holds_the_names_is_refused_in_one_line() -> None:
    everybody = Document(
        document_id="all", title="all", text=f"{' '.join(word_file('names.json'))}. " + TEXT.text, language="en"
    )
    with pytest.raises(ConfigError) as refused:
        babilong(1, haystacks=1).build(materials(everybody))
    assert str(refused.value) == (
        "task.people=4: only 0 of 120 words for them do not occur in the text; lower it, or take another dataset"
    )
