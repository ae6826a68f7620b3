"""The samples of a search: whatever order answers come in, and whatever was asked ahead, the decisions are the same."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.analysis.search import Path, StepScores, step_scores
from contextcliff.execution.search_source import SearchSource
from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.records.search_record import Key, LengthStanding, Search, SearchPlan, SearchRule
from tests.execution.planned_samples import answered, lost, planned
from tests.statistics.simulated_walks import most_errors
from tests.tasks.needles import said

LENGTHS = (100, 200, 400)
Chance = Callable[[int], float]


def plan(*, refine: bool = True, most: int = 40, lengths: tuple[int, ...] = LENGTHS) -> SearchPlan:
    return SearchPlan(lengths=lengths, most_steps=most, refine=refine)


def rule(*, relative: bool = False) -> SearchRule:
    return SearchRule(threshold=0.7, relative=relative, confidence=0.9)


def drawn(name: str, seed: int) -> float:
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:6]) / 2**48


@dataclass(kw_only=True)
class Model:
    """Answers by chance, loses some, and counts what it is asked."""

    chance: Chance
    seed: int = 0
    loses: float = 0.0
    keys: Callable[[Key], str] = lambda key: "{} {}".format(*key)
    controls: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    kept: dict[str, Outcome] = field(default_factory=dict)

    def step(self, key: Key) -> list[PlannedSample]:
        (tokens, number), control = key, "control {} {}".format(*key)
        named = {"context_tokens": tokens, "depth": 0.5, "trial": number, "step": number}
        controls = (control,) if self.controls else ()
        sample = planned(f"{tokens} {number}", "x", key=self.keys(key), controls=controls, **named)
        return [planned(control, "c", control="ceiling"), sample] if self.controls else [sample]

    def recall(self, items: Sequence[PlannedSample]) -> list[Outcome]:
        return [
            Outcome(sample=item.sample, prompt_sha256="", generation=self.kept[item.key].generation)
            for item in items
            if item.key in self.kept
        ]

    def answer(self, item: PlannedSample) -> Outcome:
        self.asked[item.key] += 1
        if drawn(f"lost {item.key}", self.seed) < self.loses:
            return lost(item)
        self.kept[item.key] = answered(item, replace(said("9"), text=item.key))
        return self.kept[item.key]

    def score(self, outcome: Outcome) -> ScoredSample:
        sample = outcome.sample
        right = drawn(sample.sample_id, self.seed) < self.chance(sample.context_tokens)
        return ScoredSample(
            sample=sample,
            prompt_sha256="x",
            score=None if outcome.unscored else float(right),
            failure=outcome.unscored,
            prediction="",
            generation=outcome.generation,
        )

    def scores(self, key: Key) -> StepScores:
        (item,) = (item for item in self.step(key) if item.sample.is_ordinary)
        is_lost = drawn(f"lost {item.key}", self.seed) < self.loses
        return step_scores([self.score(lost(item) if is_lost else answered(item, replace(said("9"), text=item.key)))])

    def search(self, of: SearchPlan | None = None, *, relative: bool = False) -> Search:
        return Path(of or plan(), rule(relative=relative)).played({}, self.scores)[0].search

    def source(
        self,
        *,
        ahead: int = 0,
        of: SearchPlan | None = None,
        relative: bool = False,
        replayed: Sequence[Key] = (),
        heard: Callable[[tuple[LengthStanding, ...]], None] = lambda _: None,
    ) -> SearchSource:
        return SearchSource(
            path=Path(of or plan(), rule(relative=relative)),
            build=self.step,
            recall=self.recall,
            score=self.score,
            ahead=ahead,
            on_change=heard,
            replayed=tuple(replayed),
        )


def ask(source: SearchSource, model: Model, *, at_once: int, draws: Random, most: int | None = None) -> None:
    """Send what the source gives, so many at once, and let answers come in any order; stop after `most` answers."""
    under_way: list[PlannedSample] = []
    ended = 0
    while True:
        while len(under_way) < at_once and (item := source.next()) is not None:
            under_way.append(item)
        if not under_way or ended == most:
            return
        source.ended(model.answer(under_way.pop(draws.randrange(len(under_way)))))
        ended += 1


LAWS: tuple[Chance, ...] = (
    lambda _: 1.0,
    lambda _: 0.9,
    lambda _: 0.7,
    lambda tokens: 0.97 if tokens < 250 else 0.1,
    lambda tokens: 1.0 - tokens / 600,
    lambda _: 0.0,
)
SEEDS = st.integers(0, 1000)
REPLAYED = tuple((n, i) for n, count in ((100, 15), (300, 3), (400, 7)) for i in range(count))


@settings(max_examples=settings().max_examples // 5)
@given(
    st.sampled_from(LAWS), SEEDS, st.integers(0, 90), st.sampled_from((0, 23)), st.sampled_from(((), REPLAYED)),
    st.randoms(),
)  # fmt: skip
def test_a_search_that_was_stopped_anywhere_goes_on_and_pays_nothing_twice(
    chance: Chance, seed: int, stopped_after: int, ahead: int, replayed: tuple[Key, ...], draws: Random
) -> None:
    model = Model(chance=chance, seed=seed)
    whole = model.search()
    ask(model.source(ahead=ahead, replayed=replayed), model, at_once=5, draws=draws, most=stopped_after)
    again = model.source(ahead=ahead, replayed=replayed)
    ask(again, model, at_once=5, draws=draws)
    assert again.is_over
    assert again.search == whole
    assert set(model.asked.values()) == {1}
    repeated = model.source(replayed=replayed)
    assert repeated.next() is None  # nothing is left to send
    assert repeated.search == whole


def test_what_is_asked_ahead_is_no_more_than_allowed_and_no_more_than_is_likely() -> None:
    for ahead, most in ((0, 1), (1, 2)):
        source, handed = Model(chance=lambda _: 1.0).source(ahead=ahead), 0
        while source.next() is not None:
            handed += 1
        assert handed == most
    source, handed = Model(chance=lambda _: 1.0).source(ahead=200), 0
    while source.next() is not None:
        handed += 1
    assert 1 < handed < 20  # of an unknown model no long course is likely


def test_an_answer_to_a_prompt_that_came_before_is_paid_once_and_shows_nothing_more() -> None:
    model = Model(chance=lambda _: 1.0, keys=lambda key: f"{key[0]} {key[1] % 5}")
    source = model.source()
    ask(source, model, at_once=4, draws=Random(1))
    (tested,) = source.search.tested
    assert (tested.decision, tested.ending) == ("unsettled", "given_up")
    assert model.asked == {f"100 {number}": 1 for number in range(5)}


def test_right_answers_in_the_same_words_do_not_make_a_length_below() -> None:
    """What is wrong comes in other words each time: were repeats left out, half of these would be below."""
    below = 0
    for seed in range(100):
        draw, (length,) = Random(seed), plan().lengths[:1]
        steps: dict[Key, StepScores] = {}
        for number in range(160):
            prompt, is_right = draw.randrange(11), draw.random() < 0.8
            piece = (prompt, "right" if is_right else number)
            steps[length, number] = StepScores(scores=(float(is_right),), pieces=(piece,))
        path = Path(plan(lengths=(length,), most=160), rule())
        path.follow(steps)
        below += path.search.tested[0].decision == "below"
    assert below <= most_errors(100, 0.05)


def test_what_was_lost_is_asked_again_by_the_next_run() -> None:
    model = Model(chance=lambda _: 1.0, loses=1.0)
    source = model.source(of=plan(most=20))
    ask(source, model, at_once=3, draws=Random(1))
    (tested,) = source.search.tested
    assert (tested.decision, tested.steps) == ("unscorable", 10)
    assert tested.e_above < 1.0
    assert tested.e_below < 1.0
    model.loses = 0.0
    again = model.source(of=plan(most=20))
    ask(again, model, at_once=3, draws=Random(1))
    assert again.search.tested[0].decision == "passed"


@dataclass(frozen=True)
class Window:
    """A model that is always right, on a server that reads so many tokens: it refuses what is longer, or cuts it."""

    tokens: int
    refuses: bool
    named: bool = False
    counts: float = 1.0

    def step(self, key: Key) -> StepScores:
        of, here = Model(chance=lambda _: 1.0), round(self.counts * key[0])
        read = replace(said("9"), prompt_tokens=min(self.tokens, here), text="{} {}".format(*key))
        (item,) = (replace(item, sample=replace(item.sample, built_tokens=key[0])) for item in of.step(key))
        scored = of.score(answered(item, read))
        if self.refuses and here > self.tokens:
            told = self.tokens if self.named else None
            no_answer: Any = {"score": None, "failure": "overflow", "generation": None, "window_tokens": told}
            scored = replace(scored, **no_answer)
        return step_scores([scored])


@pytest.mark.parametrize(
    ("server", "ends", "refused"),
    [
        (Window(tokens=310, refuses=True, named=True), [("passed", 310)], 1),
        (Window(tokens=310, refuses=True), [], 10),
        (Window(tokens=250, refuses=False, counts=0.8), [("passed", 312)], 1),
        (Window(tokens=205, refuses=True, named=True), [], 1),
    ],
    ids=["refuses and names its window", "refuses", "cuts in silence", "hardly more than what passed"],
)
def test_what_a_server_does_not_read_ends_the_range_at_the_longest_that_it_does(
    server: Window, ends: list[tuple[str, int]], refused: int
) -> None:
    path, _ = Path(plan(most=60), rule()).played({}, server.step)
    tested = {each.context_tokens: each for each in path.search.tested}
    assert [tested[length].decision for length in (100, 200, 400)] == ["passed", "passed", "unscorable"]
    assert tested[400].steps == refused
    assert [(each.decision, tokens) for tokens, each in tested.items() if tokens not in LENGTHS] == ends
    assert path.cut == (set() if server.refuses else {400})
    assert not path.search.is_open


def test_controls_go_with_their_sample_even_where_it_was_answered_before() -> None:
    model = Model(chance=lambda _: 1.0)
    ask(model.source(), model, at_once=1, draws=Random(0))
    model.controls = True
    source = model.source()
    ask(source, model, at_once=4, draws=Random(0))
    assert any(name.startswith("control") for name in model.asked)
    assert set(model.asked.values()) == {1}
    assert source.is_over


def test_a_larger_search_tops_an_unsettled_length_up() -> None:
    model = Model(chance=lambda _: 0.82, seed=3)
    small = model.source(of=plan(most=10))
    ask(small, model, at_once=1, draws=Random(0))
    before = len(model.asked)
    assert (small.search.tested[-1].decision, small.search.tested[-1].ending) == ("unsettled", "max_trials")
    large = model.source(of=plan(most=1_000))
    ask(large, model, at_once=1, draws=Random(0))
    assert large.reused == before
    assert large.search.tested[0].decision != "unsettled"
    assert set(model.asked.values()) == {1}


def test_how_the_lengths_stand_is_heard_at_every_answer() -> None:
    heard: list[tuple[LengthStanding, ...]] = []
    model = Model(chance=lambda tokens: float(tokens < 300))
    source = model.source(heard=heard.append)
    ask(source, model, at_once=1, draws=Random(0))
    assert len(heard) == len(source.path.used)
    assert [each.context_tokens for each in heard[-1]] == [each.context_tokens for each in source.search.tested]
    assert heard[-1][0].score_sum == heard[-1][0].answered


@pytest.mark.slow
@given(
    st.sampled_from(LAWS), SEEDS, st.sampled_from((0.0, 0.1, 0.5)), st.sampled_from((1, 4, 16, 64)),
    st.fixed_dictionaries({"relative": st.booleans(), "replayed": st.sampled_from(((), REPLAYED))}), st.booleans(),
    st.randoms(),
)  # fmt: skip
def test_the_search_is_that_over_all_answers_in_any_order_and_what_is_replayed_is_asked_once_and_decides_nothing(
    chance: Chance, seed: int, loses: float, at_once: int, how: dict[str, Any], refine: bool, draws: Random
) -> None:
    model, of = Model(chance=chance, seed=seed, loses=loses, controls=True), plan(refine=refine)
    source = model.source(ahead=at_once - 1, of=of, **how)
    ask(source, model, at_once=at_once, draws=draws)
    assert source.is_over
    assert source.search == model.search(of, relative=how["relative"])
    assert set(model.asked.values()) == {1}
    asked = {name for name in model.asked if not name.startswith("control")}
    used, replayed = ({"{} {}".format(*key) for key in keys} for keys in (source.path.used, how["replayed"]))
    assert asked >= used | replayed
    controls = {name.removeprefix("control ") for name in model.asked if name.startswith("control")}
    assert controls >= used
    if at_once == 1:
        assert (controls, asked - used) == (used, replayed - used)
    again = model.source(of=of, **how)
    model.loses = 0.0
    before = model.asked.total()
    ask(again, model, at_once=at_once, draws=draws)
    assert loses or model.asked.total() == before
    assert loses or again.reused == len(used)
