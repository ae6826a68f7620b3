"""What a budget lets through: by the worst of what is under way, and by what was really used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from contextcliff.execution.budget import Budget, Meter, OverBudgetError, paid_for
from contextcliff.execution.store import PlannedSample
from contextcliff.models.model import Price, PriceTier
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from tests.tasks.needles import build, niah, said

SAMPLES = build(niah(lengths=[300], depths=[0.0, 0.5, 1.0], trials=2))
PLANNED = [PlannedSample(sample=sample, prompt_sha256=str(i), key=str(i)) for i, sample in enumerate(SAMPLES)]
TIERED = Price(input=1e6, output=1e6, tiers=(PriceTier(above=250, input=3e6),))


def meter(price: Price = Price(input=1e6, output=1e6), **limits: float) -> Meter:  # noqa: B008 - it is frozen
    return Meter(Budget(**limits), price, sampling=Sampling(max_tokens=10))  # type: ignore[arg-type]


def costing(tokens: int) -> Generation:
    return replace(said("9"), prompt_tokens=tokens, completion_tokens=0)


@pytest.mark.parametrize(
    ("tokens", "generation", "sent"),
    [
        (6 * 310, lambda item: costing(3 * item.sample.built_tokens), 2),
        (3 * 320, lambda _: said("9"), len(PLANNED)),
        (2 * 310, lambda _: None, 2),
    ],
    ids=["real counts use it up", "real counts leave room in it", "without an answer the worst is kept"],
)
def test_a_budget_runs_out_by_what_was_really_used(
    tokens: int, generation: Callable[[PlannedSample], Generation | None], sent: int
) -> None:
    metered, n_sent = meter(tokens=tokens), 0
    for item in PLANNED:  # each settled before the next one is sent
        if not metered.reserve(item):
            break
        metered.settle(item, generation(item))
        n_sent += 1
    assert n_sent == sent
    assert metered.ran_out is (sent < len(PLANNED))


def test_what_is_in_flight_counts_at_its_worst_and_may_give_some_of_it_back() -> None:
    metered = meter(usd=3.5 * 310)
    assert [metered.reserve(item) for item in PLANNED[:4]] == [True, True, True, False]
    assert not metered.ran_out
    metered.settle(PLANNED[0], said("9"))
    assert metered.reserve(PLANNED[3])
    hopeless = meter(usd=0.5 * 310)
    assert not hopeless.reserve(PLANNED[0])
    assert hopeless.ran_out


def test_when_the_time_is_over_nothing_more_is_sent_or_repeated() -> None:
    now = [0.0]
    metered = Meter(Budget(minutes=2), Price(), sampling=Sampling(), clock=lambda: now[0])
    assert metered.reserve(PLANNED[0])
    now[0] = 100.0
    assert metered.may_repeat(after_s=19.0)
    assert not metered.ran_out
    assert not metered.may_repeat(after_s=20.0)
    assert metered.ran_out
    now[0] = 120.0
    assert not metered.reserve(PLANNED[1])


def test_the_limit_itself_is_allowed_by_the_price_of_the_tier_that_each_prompt_reaches() -> None:
    short = [PlannedSample(sample=each, prompt_sha256="", key="") for each in build(niah(lengths=[200], trials=2))]
    items = [*PLANNED, *short]
    dear, cheap = (sum(item.sample.built_tokens for item in some) for some in (PLANNED, short))
    tokens, usd = dear + cheap + 10 * len(items), 3 * dear + cheap + 10 * len(items)
    meter(TIERED, tokens=tokens, usd=usd).refuse_beyond(items)
    for less in ({"tokens": tokens - 1}, {"usd": usd - 1}):
        with pytest.raises(OverBudgetError):
            meter(TIERED, **less).refuse_beyond(items)


def test_each_answer_is_paid_for_by_its_own_tier_and_what_its_prompt_wrote_to_the_cache() -> None:
    price = replace(TIERED, cached_input=0.0, cache_write=2e6)
    read, written = replace(costing(300), cached_tokens=100, written_tokens=0), replace(costing(200), written_tokens=50)
    assert paid_for([read, written, costing(200)], price) == 3 * 200 + (150 + 2 * 50) + 2 * 200
    assert meter(price, usd=1e4).worst(PLANNED[:1]).usd == 3 * PLANNED[0].sample.built_tokens + 10
