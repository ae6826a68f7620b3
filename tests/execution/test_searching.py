"""The samples of a search: whatever order answers come in, and whatever was asked ahead, the decisions are the same."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.search import (
    BlockKey,
    BlockScores,
    block_scores,
    blocks_used,
    even_block,
    follow,
)
from contextcliff.execution.search_source import SearchSource, blocks_ahead
from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.records.search_record import LengthStanding, SearchPlan, SearchRule
from tests.execution.planned_samples import answered, lost, planned
from tests.tasks.needles import said

DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
LENGTHS = (100, 200, 400)
Chance = Callable[[int], float]


def plan(*, refine: bool = True, most_blocks: int = 8, lengths: tuple[int, ...] = LENGTHS) -> SearchPlan:
    return SearchPlan(
        lengths=lengths, block=len(DEPTHS), block_evidence=len(DEPTHS), most_blocks=most_blocks, refine=refine
    )


def rule(*, relative: bool = False) -> SearchRule:
    return SearchRule(threshold=0.7, relative=relative, confidence=0.9)


def drawn(name: str, seed: int) -> float:
    """A number from 0 to 1 that the name alone determines."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:6]) / 2**48


@dataclass(kw_only=True)
class Model:
    """Answers by chance, loses some, and counts what it is asked."""

    chance: Chance
    seed: int = 0
    loses: float = 0.0
    loses_at: Callable[[int], bool] = lambda _: False
    """Lengths at which it loses all."""
    keys: Callable[[BlockKey, float], str] = lambda key, depth: f"{key.context_tokens} {key.index} {depth}"
    controls: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    kept: dict[str, Outcome] = field(default_factory=dict)

    def block(self, key: BlockKey) -> list[PlannedSample]:
        samples = [
            planned(
                f"{key.context_tokens} {key.index} {depth}",
                "x",
                key=self.keys(key, depth),
                context_tokens=key.context_tokens,
                depth=depth,
                trial=key.index,
                block=key.index,
                controls=(f"control {key.context_tokens} {key.index}",) if self.controls else (),
            )
            for depth in DEPTHS
        ]
        if not self.controls:
            return samples
        return [planned(f"control {key.context_tokens} {key.index}", "c", control="ceiling"), *samples]

    def recall(self, items: Sequence[PlannedSample]) -> list[Outcome]:
        return [
            Outcome(sample=item.sample, prompt_sha256="", generation=self.kept[item.key].generation)
            for item in items
            if item.key in self.kept
        ]

    def answer(self, item: PlannedSample) -> Outcome:
        self.asked[item.key] += 1
        if drawn(f"lost {item.key}", self.seed) < self.loses or self.loses_at(item.sample.context_tokens):
            return lost(item)
        self.kept[item.key] = answered(item)
        return self.kept[item.key]

    def score(self, outcome: Outcome) -> ScoredSample:
        sample = outcome.sample
        right = drawn(sample.sample_id, self.seed) < self.chance(sample.context_tokens)
        return ScoredSample(
            sample=sample,
            prompt_sha256="",
            score=None if outcome.unscored else float(right),
            failure=outcome.unscored,
            prediction="",
            generation=outcome.generation,
        )

    def outcome(self, item: PlannedSample) -> Outcome:
        """The outcome that a sample would have, asked or not."""
        return lost(item) if drawn(f"lost {item.key}", self.seed) < self.loses else answered(item)

    def source(
        self,
        *,
        ahead: int = 0,
        search_plan: SearchPlan | None = None,
        relative: bool = False,
        replayed: Sequence[BlockKey] = (),
        heard: Callable[[tuple[LengthStanding, ...]], None] = lambda _: None,
    ) -> SearchSource:
        return SearchSource(
            plan=search_plan or plan(),
            rule=rule(relative=relative),
            build=self.block,
            recall=self.recall,
            score=self.score,
            ahead=ahead,
            on_change=heard,
            replayed=tuple(replayed),
        )


class AllBlocks(dict[BlockKey, BlockScores]):
    """Every block that a search could ask for."""

    def __init__(self, model: Model, made: Callable[[BlockKey], BlockScores] | None = None) -> None:
        super().__init__()
        self.made = made or (
            lambda key: block_scores(
                [model.score(model.outcome(item)) for item in model.block(key) if item.sample.is_ordinary]
            )
        )

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, key: BlockKey) -> BlockScores:
        return self.made(key)


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
REPLAYED = tuple(
    BlockKey(context_tokens=n, index=i) for n, count in ((100, 5), (300, 2), (400, 7)) for i in range(count)
)


@pytest.mark.slow
@given(
    st.sampled_from(LAWS),
    SEEDS,
    st.sampled_from((0.0, 0.1, 0.5)),
    st.sampled_from((1, 3, 16)),
    st.sampled_from((0, 4, 23, 200)),
    st.booleans(),
    st.booleans(),
    st.randoms(),
)
def test_the_search_is_that_over_all_blocks_whatever_order_answers_come_in(
    chance: Chance, seed: int, loses: float, at_once: int, ahead: int, refine: bool, relative: bool, draws: Random
) -> None:
    model = Model(chance=chance, seed=seed, loses=loses)
    of = plan(refine=refine)
    source = model.source(ahead=ahead, search_plan=of, relative=relative)
    ask(source, model, at_once=at_once, draws=draws)
    assert source.is_over
    assert source.search == follow(of, rule(relative=relative), AllBlocks(model)).search
    assert set(model.asked.values()) <= {1}
    if ahead == 0:
        used = blocks_used(source.search, relative=relative)
        assert len(model.asked) == len(used) * len(DEPTHS)


@given(
    st.sampled_from(LAWS), SEEDS, st.integers(0, 90), st.sampled_from((0, 23)), st.sampled_from(((), REPLAYED)),
    st.randoms(),
)  # fmt: skip
def test_a_search_that_was_stopped_anywhere_goes_on_and_pays_nothing_twice(
    chance: Chance, seed: int, stopped_after: int, ahead: int, replayed: tuple[BlockKey, ...], draws: Random
) -> None:
    undisturbed, model = Model(chance=chance, seed=seed), Model(chance=chance, seed=seed)
    whole = undisturbed.source()
    ask(whole, undisturbed, at_once=1, draws=draws)
    ask(model.source(ahead=ahead, replayed=replayed), model, at_once=5, draws=draws, most=stopped_after)
    again = model.source(ahead=ahead, replayed=replayed)
    ask(again, model, at_once=5, draws=draws)
    assert again.is_over
    assert again.search == whole.search
    assert set(model.asked.values()) == {1}
    repeated = model.source(replayed=replayed)
    assert repeated.next() is None  # nothing is left to send
    assert repeated.search == whole.search


def test_what_is_asked_ahead_is_no_more_than_allowed() -> None:
    model = Model(chance=lambda _: 1.0)
    for ahead, most in ((0, 5), (5, 10), (11, 20)):  # whole blocks of five
        source = model.source(ahead=ahead)
        handed = 0
        while source.next() is not None:
            handed += 1
        assert handed == most


def test_what_a_decision_made_needless_is_not_sent() -> None:
    model = Model(chance=lambda tokens: float(tokens == 100))
    source = model.source(ahead=200, search_plan=plan(refine=False))
    ask(source, model, at_once=1, draws=Random(0))
    used = blocks_used(source.search, relative=False)
    assert [tested.decision for tested in source.search.tested] == ["passed", "below"]
    assert len(model.asked) == len(used) * len(DEPTHS)


@pytest.mark.parametrize("at_once", [1, 20])
def test_samples_of_one_key_are_paid_once_and_all_have_the_answer(at_once: int) -> None:
    # Every depth but the first repeats the first one's prompt, and so does every second block.
    model = Model(chance=lambda _: 1.0, keys=lambda key, _: f"{key.context_tokens} {key.index // 2}")
    source = model.source(ahead=40)
    ask(source, model, at_once=at_once, draws=Random(1))
    assert [tested.decision for tested in source.search.tested] == ["passed"] * 3
    assert set(model.asked.values()) == {1}


def test_a_fault_of_one_key_is_that_of_all_its_samples_and_is_asked_again_by_the_next_run() -> None:
    model = Model(chance=lambda _: 1.0, loses=1.0, keys=lambda key, _: f"{key.context_tokens} {key.index // 2}")
    source = model.source(search_plan=plan(most_blocks=4))
    ask(source, model, at_once=3, draws=Random(1))
    assert source.search.tested[0].decision == "unscorable"
    assert model.asked == {"100 0": 1}
    assert all(block.e_above < 1.0 and block.e_below < 1.0 for block in source.search.tested[0].blocks)
    model.loses = 0.0
    again = model.source(search_plan=plan(most_blocks=4))
    ask(again, model, at_once=3, draws=Random(1))
    assert again.search.tested[0].decision == "passed"


@dataclass(frozen=True)
class Window:
    """A model that is always right, on a server that reads so many tokens: it refuses what is longer, or cuts it."""

    tokens: int
    refuses: bool
    named: bool = False
    counts: float = 1.0
    """Its tokens for each of ours."""

    def block(self, key: BlockKey) -> BlockScores:
        of, here = Model(chance=lambda _: 1.0), round(self.counts * key.context_tokens)
        read = replace(said("9"), prompt_tokens=min(self.tokens, here))
        items = [replace(item, sample=replace(item.sample, built_tokens=key.context_tokens)) for item in of.block(key)]
        scored = [of.score(answered(item, read)) for item in items]
        if self.refuses and here > self.tokens:
            told = self.tokens if self.named else None
            no_answer: Any = {"score": None, "failure": "overflow", "generation": None, "window_tokens": told}
            scored = [replace(item, **no_answer) for item in scored]
        return block_scores(scored)


@pytest.mark.parametrize(
    ("server", "longest", "asked_at_400"),
    [
        (Window(tokens=310, refuses=True, named=True), (300, 310), len(DEPTHS)),
        (Window(tokens=310, refuses=True), (300, 310), 2 * len(DEPTHS)),
        (Window(tokens=250, refuses=False, counts=0.8), (300, 312), None),
    ],
    ids=["refuses and names its window", "refuses", "cuts in silence"],
)
def test_what_a_server_does_not_read_ends_the_range_and_the_search_goes_on_below_it(
    server: Window, longest: tuple[int, int], asked_at_400: int | None
) -> None:
    of, blocks = plan(most_blocks=60), dict[BlockKey, BlockScores]()
    while wanted := follow(of, rule(), blocks).wanted:
        blocks |= {key: server.block(key) for key in wanted}
    followed = follow(of, rule(), blocks)
    every = AllBlocks(Model(chance=lambda _: 1.0), server.block)
    assert followed == follow(of, rule(), every)  # what is asked ahead changes nothing
    tested = followed.search.tested
    passed = max(each.context_tokens for each in tested if each.decision == "passed")
    assert longest[0] <= passed <= longest[1]
    if asked_at_400 is None:
        assert followed.cut == {400}
    else:
        assert tested[2].context_tokens == 400
        assert {each.decision for each in tested} == {"passed", "unscorable"}
        refused = [each.n_blocks * len(DEPTHS) for each in tested if each.decision == "unscorable"]
        assert refused[0] == max(refused) == asked_at_400


def test_a_filter_that_stops_every_prompt_of_a_length_ends_the_search_after_ten() -> None:
    model = Model(chance=lambda _: 1.0)
    model.loses_at = lambda tokens: tokens >= 200
    source = model.source(search_plan=plan(most_blocks=60))
    ask(source, model, at_once=1, draws=Random(0))
    assert [(each.context_tokens, each.decision) for each in source.search.tested] == [
        (100, "passed"),
        (200, "unscorable"),
    ]
    assert sum(model.asked[name] for name in model.asked if name.startswith("200")) == 10


def test_controls_go_with_their_block_even_where_its_samples_were_answered_before() -> None:
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
    small = model.source(search_plan=plan(most_blocks=2))
    ask(small, model, at_once=1, draws=Random(0))
    before = len(model.asked)
    assert small.search.tested[-1].decision == "unsettled"
    large = model.source(search_plan=plan(most_blocks=200))
    ask(large, model, at_once=1, draws=Random(0))
    assert large.reused == before
    assert large.search.tested[0].decision != "unsettled"
    assert set(model.asked.values()) == {1}


def test_how_the_lengths_stand_is_heard_at_every_complete_block() -> None:
    heard: list[tuple[LengthStanding, ...]] = []
    model = Model(chance=lambda tokens: float(tokens < 300))
    source = model.source(heard=heard.append)
    ask(source, model, at_once=1, draws=Random(0))
    used = blocks_used(source.search, relative=False)
    assert len(heard) == len(used)
    assert [each.context_tokens for each in heard[-1]] == [each.context_tokens for each in source.search.tested]
    assert heard[-1][0].score_sum == heard[-1][0].answered


@given(st.sampled_from(LAWS), SEEDS, st.integers(0, 40), st.integers(1, 30), st.booleans())
def test_blocks_ahead_begin_with_the_blocks_that_are_needed(
    chance: Chance, seed: int, answers: int, most: int, relative: bool
) -> None:
    model = Model(chance=chance, seed=seed)
    source = model.source(relative=relative)
    ask(source, model, at_once=1, draws=Random(0), most=answers)
    blocks = {
        key: block_scores([model.score(outcome) for outcome in model.recall(items)])
        for key in blocks_used(source.search, relative=relative)
        for items in [model.block(key)]
        if len(model.recall(items)) == len(items)
    }
    followed = follow(plan(), rule(relative=relative), blocks)
    ahead = blocks_ahead(plan(), rule(relative=relative), blocks, most=most)
    assert ahead[: len(followed.wanted)] == followed.wanted[:most]
    assert len(ahead) == len(set(ahead)) <= most
    assert bool(ahead) == bool(followed.wanted)


@pytest.mark.parametrize(("score", "lengths"), [(1.0, {100, 200, 400}), (0.6, {100})])
def test_what_is_asked_ahead_follows_how_a_length_stands(score: float, lengths: set[int]) -> None:
    blocks = {BlockKey(context_tokens=100, index=0): even_block(plan(), score)}
    ahead = blocks_ahead(plan(), rule(), blocks, most=100)
    assert {key.context_tokens for key in ahead} == lengths


@pytest.mark.slow
@given(
    st.sampled_from(LAWS),
    SEEDS,
    st.sampled_from((0.0, 0.1)),
    st.sampled_from((1, 3, 16)),
    st.sampled_from((0, 23)),
    st.booleans(),
    st.randoms(),
)
def test_what_is_replayed_is_asked_once_and_no_decision_looks_at_it(
    chance: Chance, seed: int, loses: float, at_once: int, ahead: int, relative: bool, draws: Random
) -> None:
    model = Model(chance=chance, seed=seed, loses=loses, controls=True)
    source = model.source(ahead=ahead, relative=relative, replayed=REPLAYED)
    ask(source, model, at_once=at_once, draws=draws)
    assert source.is_over
    assert source.search == follow(plan(), rule(relative=relative), AllBlocks(model)).search
    assert set(model.asked.values()) == {1}
    asked = {name.rpartition(" ")[0] for name in model.asked if not name.startswith("control")}
    used = {f"{key.context_tokens} {key.index}" for key in blocks_used(source.search, relative=relative)}
    assert asked >= used | {f"{key.context_tokens} {key.index}" for key in REPLAYED}
    controls = {name.removeprefix("control ") for name in model.asked if name.startswith("control")}
    assert controls >= used
    if ahead == 0:
        assert (controls, asked - used) == (used, {f"{key.context_tokens} {key.index}" for key in REPLAYED} - used)
    again = model.source(relative=relative, replayed=REPLAYED)
    model.loses = 0.0
    before = model.asked.total()
    ask(again, model, at_once=at_once, draws=draws)
    assert loses or model.asked.total() == before
    assert loses or again.reused == len(used) * len(DEPTHS)
