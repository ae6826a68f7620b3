"""Lengths and depths of a task: as lists, as grids, or as shares of the window."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.settings import Fraction, NonNegativeInt, PositiveInt, settings
from contextcliff.tasks.task import ContextBudget, Lever, Raised, Task

NOT_IN_A_SAMPLE = ("save_contexts", "inferred")
"""Keys that change no sample: what is kept of a run, and what is checked of a needle."""


@settings
class LengthGrid:
    """`count` lengths in tokens from `min` to `max`; `log` spaces them by equal ratios. All null: not used."""

    min: PositiveInt | None = None
    max: PositiveInt | None = None
    count: PositiveInt | None = None
    spacing: Literal["linear", "log"] = "linear"

    def __post_init__(self) -> None:
        _require_whole("task.length_grid", self.min, self.max, self.count)

    def values(self) -> tuple[int, ...] | None:
        """The lengths, ascending; None where the grid is not used."""
        if self.min is None or self.max is None or self.count is None:
            return None
        low, high, at = self.min, self.max, _LENGTH_SPACINGS[self.spacing]
        return tuple(dict.fromkeys(round(at(low, high, share)) for share in _shares(self.count)))


@settings
class DepthGrid:
    """`count` depths from `min` to `max`; `sigmoid` sets them closer at both ends. All null: not used.

    The sigmoid is that of LLMTest_NeedleInAHaystack: 1 / (1 + e^(−10·(x − 0.5))), with 0 and 1 kept.
    """

    min: Fraction | None = None
    max: Fraction | None = None
    count: PositiveInt | None = None
    spacing: Literal["linear", "sigmoid"] = "linear"

    def __post_init__(self) -> None:
        _require_whole("task.depth_grid", self.min, self.max, self.count)

    def values(self) -> tuple[float, ...] | None:
        """The depths, ascending; None where the grid is not used."""
        if self.min is None or self.max is None or self.count is None:
            return None
        low, high, bend = self.min, self.max, _DEPTH_SPACINGS[self.spacing]
        return tuple(dict.fromkeys(round(bend(low + (high - low) * share), 4) for share in _shares(self.count)))


@settings
class DesignedLengths(Task):
    """The lengths of a task that builds its prompts to measure, `trials` samples at each place.

    `length_fractions` (of the window) win over `length_grid`, and that over `lengths`.
    """

    not_asked = NOT_IN_A_SAMPLE

    lengths: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    """Prompt lengths in tokens, chat template and question included."""
    length_grid: LengthGrid = Field(default_factory=LengthGrid)
    length_fractions: tuple[Annotated[float, Field(gt=0.0, le=1.0)], ...] = ()
    """Of the window; what lies beyond the longest length that fits is that length."""
    trials: PositiveInt
    reserve_tokens: NonNegativeInt = 200
    """Kept free below the window."""
    controls: bool = False
    """Ask the evidence alone (ceiling) and the text without it (floor) as well."""
    save_contexts: bool = False
    """Keep the prompts beside the report, compressed."""

    def __post_init__(self) -> None:
        refuse_twice("task.lengths", self.lengths)
        refuse_twice("task.length_fractions", self.length_fractions)

    @property
    def levers(self) -> tuple[Lever, ...]:
        """More trials."""
        return (Lever(now=self.trials, at=lambda n: Raised(override=f"task.trials={n}", task=self._with(trials=n))),)

    def shortened(self, context_budget: ContextBudget) -> Self:
        """At the two shortest lengths."""
        return replace(self, lengths=self.lengths_in(context_budget)[:2], length_grid=LengthGrid(), length_fractions=())

    def _with(self, **changes: Any) -> Any:  # what is no task yet is the base of one
        return replace(self, **changes)

    def answer_tokens(self, context_tokens: int) -> int | None:  # noqa: ARG002 - for those whose answers grow
        """Tokens that an answer at this length may take; None: what the sampling says."""
        return None

    def longest_answer(self, context_budget: ContextBudget) -> int:
        """That of the longest prompt."""
        return self.answer_tokens(max(self.lengths_in(context_budget))) or context_budget.answer_tokens

    def longest_context(self, context_budget: ContextBudget) -> int:
        """The longest length asked for."""
        longest = max(self.lengths_in(context_budget))
        reserve = self._reserve(context_budget, longest)
        if longest > context_budget.context_window - reserve:
            fits = self._longest_that_fits(context_budget)
            raise ConfigError(
                f"task.lengths: {longest:,} tokens do not fit into "
                f"model.context_window={context_budget.context_window:,} with {reserve:,} kept free for the answer; "
                f"the longest that fits is {fits:,}"
            )
        return longest

    def lengths_in(self, context_budget: ContextBudget) -> tuple[int, ...]:
        """The lengths to build in this window, ascending."""
        if self.length_fractions:
            most = self._longest_that_fits(context_budget)
            asked = {min(most, round(share * context_budget.context_window)) for share in self.length_fractions}
            return tuple(sorted(length for length in asked if length > 0))
        return tuple(sorted(self.length_grid.values() or self.lengths))

    def _reserve(self, context_budget: ContextBudget, length: int) -> int:
        return max(self.reserve_tokens, self.answer_tokens(length) or context_budget.answer_tokens)

    def _longest_that_fits(self, context_budget: ContextBudget) -> int:
        low, high = 0, context_budget.context_window
        while low < high:
            middle = (low + high + 1) // 2
            fits = middle + self._reserve(context_budget, middle) <= context_budget.context_window
            low, high = (middle, high) if fits else (low, middle - 1)
        if low == 0:
            raise ConfigError(
                f"model.context_window={context_budget.context_window:,}: no prompt fits beside the answer; lower "
                "sampling.max_tokens or task.reserve_tokens"
            )
        return low


@settings
class Depths(DesignedLengths):
    """Where the evidence goes: `depth_grid` wins over `depths`."""

    depths: Annotated[tuple[Fraction, ...], Field(min_length=1)]
    """0 the start of the text, 1 its end."""
    depth_grid: DepthGrid = Field(default_factory=DepthGrid)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_twice("task.depths", self.depths)

    @property
    def places(self) -> tuple[float, ...]:
        """The depths to build."""
        return self.depth_grid.values() or self.depths

    @property
    def levers(self) -> tuple[Lever, ...]:
        """More trials, or more depths where trials at one depth are the same prompt."""
        return (*super().levers, Lever(now=len(self.places), at=self._with_depths))

    def _with_depths(self, count: int) -> Raised:
        low, high = min(self.places), max(self.places)
        low, high = (0.0, 1.0) if low == high else (low, high)
        grid = DepthGrid(min=low, max=high, count=count)
        override = f"task.depth_grid={{min:{low:g},max:{high:g},count:{count},spacing:linear}}"
        return Raised(override=override, task=self._with(depth_grid=grid))


def refuse_twice(key: str, values: tuple[float, ...], *, more: str = "task.trials") -> None:
    """Raise `ValueError` where a list holds a value twice; `more` is the key that gives more samples of one."""
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise ValueError(f"{key}: {twice} stands twice; use {more} for more samples")


def _require_whole(key: str, low: float | None, high: float | None, count: int | None) -> None:
    given = {"min": low, "max": high, "count": count}
    missing = [f"{key}.{name}" for name, value in given.items() if value is None]
    if 0 < len(missing) < len(given):
        raise ValueError(f"{' and '.join(missing)}: missing; a grid needs min, max and count")
    if low is not None and high is not None and low > high:
        raise ValueError(f"{key}.min={low}: is above {key}.max={high}; exchange them")


def _shares(count: int) -> tuple[float, ...]:
    return (0.0,) if count == 1 else tuple(i / (count - 1) for i in range(count))


def _sigmoid(depth: float) -> float:
    return depth if depth in (0.0, 1.0) else 1.0 / (1.0 + math.exp(-10.0 * (depth - 0.5)))


_LENGTH_SPACINGS: Mapping[str, Callable[[float, float, float], float]] = {
    "linear": lambda low, high, share: low + (high - low) * share,
    "log": lambda low, high, share: low * (high / low) ** share,
}
_DEPTH_SPACINGS: Mapping[str, Callable[[float], float]] = {"linear": lambda depth: depth, "sigmoid": _sigmoid}
