"""What a run may cost, before it starts and while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import fsum
from typing import Literal

from contextcliff.errors import ConfigError, ExitCode, RunError
from contextcliff.execution.store import PlannedSample
from contextcliff.models.model import Price, dollars
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Sample
from contextcliff.settings import PositiveFloat, PositiveInt, settings


class OverBudgetError(RunError):
    exit_code = ExitCode.OVER_BUDGET


DEFAULT_USD = 2.0
"""The limit of `budget.usd=auto`, where the window chooses the lengths."""
_LESS = "nothing was sent: raise the budget, or ask for fewer or shorter prompts (action=plan shows what they take)"


@settings
class Budget:
    """Most US dollars, tokens (prompt and answer together) and minutes of an invocation; None: no limit."""

    usd: PositiveFloat | Literal["auto", "none"] | None = None
    """`auto`: `DEFAULT_USD` where the model has a price and no lengths are given. It refuses nothing at the start."""
    tokens: PositiveInt | None = None
    minutes: PositiveFloat | None = None
    """After these no further request is sent; those under way are waited for."""

    @property
    def is_set(self) -> bool:
        return isinstance(self.usd, float) or self.tokens is not None

    @property
    def most_usd(self) -> float | None:
        return DEFAULT_USD if self.usd == "auto" else self.usd if isinstance(self.usd, float) else None

    def for_lengths(self, *, given: bool) -> Budget:
        """The same without the default limit where the lengths were `given`."""
        return replace(self, usd=None) if self.usd == "none" or (self.usd == "auto" and given) else self


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    tokens: int
    usd: float | None

    def __add__(self, other: Cost) -> Cost:
        # Dollars that are not known of one are left out.
        known = [usd for usd in (self.usd, other.usd) if usd is not None]
        return Cost(tokens=self.tokens + other.tokens, usd=sum(known) if known else None)

    def times(self, factor: float) -> Cost:
        return Cost(tokens=round(factor * self.tokens), usd=None if self.usd is None else factor * self.usd)

    def within(self, limit_usd: float | None) -> Cost:
        """What so many dollars buy of it; all of it if `limit_usd` is None."""
        if limit_usd is None or self.usd is None or self.usd <= limit_usd:
            return self
        return self.times(limit_usd / self.usd)


NOTHING = Cost(tokens=0, usd=None)


def answer_tokens(samples: Iterable[Sample], sampling: Sampling) -> int:
    return sum(sampling.for_answer(sample.answer_tokens).generated_tokens for sample in samples)


def paid_for(generations: Iterable[Generation], price: Price) -> float | None:
    if not price.is_known:
        return None
    return fsum(
        price.of(
            prompt_tokens=generation.prompt_tokens,
            cached_tokens=generation.cached_tokens or 0,
            written_tokens=generation.written_tokens,
            completion_tokens=generation.completion_tokens,
        )
        or 0.0
        for generation in generations
    )


class Meter:
    """Counts what was spent and what is in flight at its worst: no cache, and every answer as long as it may be."""

    def __init__(
        self,
        budget: Budget,
        price: Price,
        *,
        sampling: Sampling,
        key: str = "model",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if isinstance(budget.usd, float) and not price.is_known:
            raise ConfigError(
                f"budget.usd={budget.usd:g}: this model has no price; give {key}.price.input and {key}.price.output, "
                "or take budget.tokens"
            )
        self._budget = budget
        self.limit_usd = budget.most_usd if price.is_known else None
        self._price = price
        self._sampling = sampling
        self._clock = clock
        self._deadline_s = None if budget.minutes is None else clock() + 60.0 * budget.minutes
        self._spent_tokens = 0
        self._spent_usd = 0.0
        self._under_way = 0
        self.ran_out = False

    def remaining(self) -> Budget:
        """What is left of the limits, each at least a little, as a `Budget` has to be."""
        tokens = None if self._budget.tokens is None else max(1, self._budget.tokens - self._spent_tokens)
        usd = None if self.limit_usd is None else max(1e-4, self.limit_usd - self._spent_usd)
        minutes = None if self._deadline_s is None else max(1e-3, (self._deadline_s - self._clock()) / 60.0)
        return Budget(usd=usd, tokens=tokens, minutes=minutes)

    def worst(self, planned: Iterable[PlannedSample]) -> Cost:
        each = [(item.sample.built_tokens, answer_tokens([item.sample], self._sampling)) for item in planned]
        usd = [self._price.of(prompt_tokens=prompt, completion_tokens=answer) or 0.0 for prompt, answer in each]
        return Cost(tokens=sum(map(sum, each)), usd=fsum(usd) if self._price.is_known else None)

    def refuse_beyond(
        self, planned: Iterable[PlannedSample], *, beside: Cost = NOTHING, what: str = "this run"
    ) -> None:
        """Raise `OverBudgetError` where `what` is planned, and what goes `beside` it, could cost more than it may."""
        cost = self.worst(planned) + beside
        if self._budget.tokens is not None and cost.tokens > self._budget.tokens:
            raise OverBudgetError(
                f"budget.tokens={self._budget.tokens:,}: {what} can take {cost.tokens:,} tokens; {_LESS}"
            )
        if isinstance(self._budget.usd, float) and cost.usd is not None and cost.usd > self._budget.usd:
            raise OverBudgetError(
                f"budget.usd={self._budget.usd:g}: {what} can cost {dollars(cost.usd, at_most=True)}; {_LESS}"
            )

    def reserve(self, item: PlannedSample) -> bool:
        """Set aside what a sample takes at its worst; False where that is too much, or the time is over."""
        worst = self.worst([item])
        tokens, usd = self._spent_tokens + worst.tokens, self._spent_usd + (worst.usd or 0.0)
        limits = ((tokens, self._budget.tokens), (usd, self.limit_usd))
        is_late = self._is_late(after_s=0.0)
        if is_late or any(limit is not None and taken > limit for taken, limit in limits):
            self.ran_out = is_late or self._under_way == 0  # else what is under way can give some of it back
            return False
        self._under_way += 1
        self._spent_tokens, self._spent_usd = tokens, usd
        return True

    def may_repeat(self, *, after_s: float) -> bool:
        is_late = self._is_late(after_s=after_s)
        self.ran_out |= is_late
        return not is_late

    def _is_late(self, *, after_s: float) -> bool:
        return self._deadline_s is not None and self._clock() + after_s >= self._deadline_s

    def settle(self, planned: PlannedSample, generation: Generation | None, *, refused: bool = False) -> None:
        """Replace a sample's worst cost by its real one: none if `refused` as too long. Without an answer it stays."""
        self._under_way -= 1
        if generation is None and not refused:
            return
        worst = self.worst([planned])
        took = [] if generation is None else [generation]
        self._spent_tokens += sum(each.prompt_tokens + each.completion_tokens for each in took) - worst.tokens
        self._spent_usd += (paid_for(took, self._price) or 0.0) - (worst.usd or 0.0)
