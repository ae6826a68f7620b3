"""Tasks that build their prompts to measure: lengths and depths as lists, as grids, or as shares of the window."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from itertools import count, pairwise, takewhile
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from contextcliff.errors import ConfigError
from contextcliff.records.sample import same_length
from contextcliff.records.search_record import SearchPlan
from contextcliff.settings import Count, Float, Fraction, NonNegativeInt, PositiveInt, settings
from contextcliff.tasks.task import UNJUDGED, ContextBudget, Maker, Materials, Steps, Task, TaskPlan, Traits, made


@settings
class LengthGrid:
    """`count` lengths in tokens from `min` to `max`; `log` spaces them by equal ratios. All null: not used."""

    min: PositiveInt | None = None
    max: PositiveInt | None = None
    count: Count | None = None
    spacing: Literal["linear", "log"] = "linear"

    def __post_init__(self) -> None:
        _require_whole("task.length_grid", self.min, self.max, self.count)

    def values(self) -> tuple[int, ...]:
        if self.min is None or self.max is None or self.count is None:
            return ()
        low, high, is_log = self.min, self.max, self.spacing == "log"
        lengths = (low * (high / low) ** at if is_log else low + (high - low) * at for at in _shares(self.count))
        return tuple(dict.fromkeys(map(round, lengths)))


@settings
class DepthGrid:
    """`count` depths from `min` to `max`; `sigmoid` sets them closer at both ends. All null: not used. The sigmoid is
    that of LLMTest_NeedleInAHaystack: 1 / (1 + e^(−10·(x − 0.5))), with 0 and 1 kept."""

    min: Fraction | None = None
    max: Fraction | None = None
    count: Count | None = None
    spacing: Literal["linear", "sigmoid"] = "linear"

    def __post_init__(self) -> None:
        _require_whole("task.depth_grid", self.min, self.max, self.count)

    def values(self) -> tuple[float, ...]:
        if self.min is None or self.max is None or self.count is None:
            return ()
        depths = [self.min + (self.max - self.min) * share for share in _shares(self.count)]
        if self.spacing == "sigmoid":
            depths = [at if at in (0.0, 1.0) else 1.0 / (1.0 + math.exp(-10.0 * (at - 0.5))) for at in depths]
        return tuple(dict.fromkeys(round(depth, 4) for depth in depths))


def _require_whole(key: str, low: float | None, high: float | None, count: int | None) -> None:
    given = {"min": low, "max": high, "count": count}
    missing = [f"{key}.{name}" for name, value in given.items() if value is None]
    if 0 < len(missing) < len(given):
        raise ValueError(f"{' and '.join(missing)}: missing; a grid needs min, max and count")
    if low is not None and high is not None and low > high:
        raise ValueError(f"{key}.min={low}: is above {key}.max={high}; exchange them")


def _shares(count: int) -> tuple[float, ...]:
    return (0.0,) if count == 1 else tuple(i / (count - 1) for i in range(count))


MOST_SAMPLES = 1_000_000
NOT_IN_A_SAMPLE = (*UNJUDGED, "inferred")
"""Keys that change no sample: those of every task, and what is checked of a needle."""
WHICH_SAMPLES = (
    *("lengths", "shortest", "length_grid", "length_fractions", "depths", "depth_grid"),
    *("trials", "max_trials", "resolution"),
    *("reserve_tokens", "controls"),
    *NOT_IN_A_SAMPLE,
)
"""Keys that say which samples there are, and nothing of what one of them is."""


@settings
class DesignedLengths(Task):
    """The lengths of a task that builds its prompts to measure.

    `length_fractions` (of the window) win over `length_grid`, and that over `lengths`. `trials` samples are asked at
    each place; with `auto` a search asks for one after the other until a length is decided."""

    lengths: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] | Literal["auto"] = "auto"
    shortest: PositiveInt = 512
    length_grid: LengthGrid = Field(default_factory=LengthGrid)
    length_fractions: tuple[Annotated[Float, Field(gt=0.0, le=1.0)], ...] = ()
    trials: Count | Literal["auto"]
    max_trials: Count = 160
    resolution: PositiveInt | None = None
    reserve_tokens: NonNegativeInt = 200
    controls: bool = False
    longest_pairs: Count | None = None

    def __post_init__(self) -> None:
        if self.lengths != "auto":
            refuse_twice("task.lengths", self.lengths)
        refuse_twice("task.length_fractions", self.length_fractions)
        lengths = self.length_fractions or self.length_grid.values() or self.lengths
        n_lengths = 1 if lengths == "auto" else len(lengths)
        most = n_lengths * len(self.places) * (1 if self.trials == "auto" else self.trials)
        if most > MOST_SAMPLES:
            raise ValueError(
                f"task.trials={self.trials}: asks for {most:,} samples, and {MOST_SAMPLES:,} is the most; give fewer "
                "trials, lengths or depths"
            )
        if self.trials == "auto" and self.max_trials < self.step_samples:
            raise ValueError(
                f"task.max_trials={self.max_trials}: a step of the search is a text with its {self.step_samples} "
                f"samples; give {self.step_samples} or more"
            )

    @property
    def places(self) -> tuple[float | None, ...]:
        """Depths of the grid; one None for a task that has no depth."""
        return (None,)

    @property
    def misplaced(self) -> float:
        """How far from its depth evidence may stand: the distance between two depths; 0.2 if there are no two."""
        depths = sorted({depth for depth in self.places if depth is not None})
        return min((right - left for left, right in pairwise(depths)), default=0.2)

    @property
    def turns(self) -> int:
        return 1

    @property
    def shares_texts(self) -> bool:
        """Whether samples share one of several texts, so that a text with all its samples is one step of a search."""
        return False

    @property
    def step_samples(self) -> int:
        return self.turns * len(self.places) if self.shares_texts else 1

    @property
    def most_steps(self) -> int:
        return self.max_trials // self.step_samples

    @property
    def longest_steps(self) -> int:
        return (self.longest_pairs or 0) // self.step_samples

    @property
    def traits(self) -> Traits:
        is_searched = self.trials == "auto"
        given = bool(self._given or self.length_fractions)
        count_key = "task.max_trials" if is_searched else "task.trials"
        of_search = () if is_searched else ("max_trials", "resolution", "longest_pairs")
        return Traits(
            lengths_given=given,
            is_searched=is_searched,
            count_key=count_key,
            more_samples=f"raise {count_key}",
            not_asked=NOT_IN_A_SAMPLE,
            idle=(*of_search, *(("shortest",) if given else ())),
        )

    def search_plan(self, context_budget: ContextBudget, *, refine: bool) -> SearchPlan:
        return SearchPlan(
            lengths=self.lengths_in(context_budget),
            step_samples=self.step_samples,
            most_steps=self.most_steps,
            refine=refine,
            resolution=self.resolution,
        )

    @abstractmethod
    def maker(self, materials: Materials) -> Maker:
        """What makes the samples. Raises `ConfigError` for texts too short."""

    def steps(self, materials: Materials) -> Steps:
        return Steps(
            maker=self.maker(materials),
            seed=(materials.seed, self.name),
            places=self.places,
            turns=self.turns,
            whole=self.shares_texts,
        )

    def build(self, materials: Materials) -> TaskPlan:
        lengths = self.lengths_in(materials.context_budget)
        trials = range(self.turns if self.trials == "auto" else self.trials)
        return made(
            self.maker(materials),
            ((length, place, trial) for length in lengths for trial in trials for place in self.places),
        )

    def answer_tokens(self, context_tokens: int) -> int | None:  # noqa: ARG002 - for those whose answers grow
        """Tokens that an answer at this length may take; None: what the sampling says."""
        return None

    def longest_answer(self, context_budget: ContextBudget) -> int:
        return self.answer_tokens(max(self.lengths_in(context_budget))) or context_budget.answer_tokens

    def longest_context(self, context_budget: ContextBudget) -> int:
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
        window, given = context_budget.context_window, self._given
        if given and not self.length_fractions and not context_budget.fits_lengths:
            return given
        most = self._longest_that_fits(context_budget)
        if self.length_fractions:
            return tuple(sorted({max(1, min(most, round(share * window))) for share in self.length_fractions}))
        if given:  # the longest that fits stands for one that is hardly longer
            fitted = {min(length, most) for length in given if length <= most or same_length(most, length)}
            if not fitted:
                raise ConfigError(
                    f"task.lengths: none of {', '.join(f'{length:,}' for length in given)} fits into "
                    f"model.context_window={window:,}; the longest that fits is {most:,}"
                )
            return tuple(sorted(fitted))
        most = min(most, context_budget.text_tokens or window)
        doubled = takewhile(lambda length: length < most, (self.shortest << times for times in count()))
        below = [length for length in doubled if not same_length(length, most)]
        return (*below, most)[: context_budget.most_lengths]

    @property
    def _given(self) -> tuple[int, ...]:
        return tuple(sorted(self.length_grid.values() or (() if self.lengths == "auto" else self.lengths)))

    def length_notes(self, context_budget: ContextBudget) -> tuple[str, ...]:
        held = context_budget.text_tokens
        if held is not None and max(self.lengths_in(context_budget)) == held:
            return (f"the texts hold {held:,} tokens, and the lengths end there; give more text for longer ones",)
        if not context_budget.fits_lengths or not self._given or self.length_fractions:
            return ()
        most, window = self._longest_that_fits(context_budget), f"{context_budget.context_window:,}"
        missing = sorted({*self._given} - {*self.lengths_in(context_budget)})
        cut = [f"{length:,}" for length in missing if same_length(most, length)]
        left_out = [f"{length:,}" for length in missing if not same_length(most, length)]
        return (
            *([f"asked at {most:,} tokens in the place of {' and '.join(cut)}, which with its answer is more than the "
               f"window of {window}"] if cut else []),
            *([f"left out, since the window of {window} can't hold them: {', '.join(left_out)}"] if left_out else []),
        )  # fmt: skip

    def _reserve(self, context_budget: ContextBudget, length: int) -> int:
        return max(self.reserve_tokens, self.answer_tokens(length) or context_budget.answer_tokens)

    def _longest_that_fits(self, context_budget: ContextBudget) -> int:
        window = context_budget.context_window
        longest = bisect_right(
            range(1, window + 1), window, key=lambda length: length + self._reserve(context_budget, length)
        )
        if longest == 0:
            raise ConfigError(
                f"model.context_window={window:,}: no prompt fits beside the answer; lower sampling.max_tokens or "
                "task.reserve_tokens"
            )
        return longest


@settings
class Depths(DesignedLengths):
    """Where the evidence goes: `depth_grid` wins over `depths`."""

    depths: Annotated[tuple[Fraction, ...], Field(min_length=1)]
    depth_grid: DepthGrid = Field(default_factory=DepthGrid)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_twice("task.depths", self.depths)

    @property
    def goes_anywhere(self) -> bool:
        """Whether the evidence is scattered over the text and has no depth."""
        return False

    @property
    def places(self) -> tuple[float | None, ...]:
        return (None,) if self.goes_anywhere else self.depth_grid.values() or self.depths

    @property
    def traits(self) -> Traits:
        traits = super().traits
        return replace(traits, idle=(*traits.idle, "depths", "depth_grid")) if self.goes_anywhere else traits


def filled(template: str, **values: str) -> str:
    """A template with its fields replaced; any other brace stays as it is."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def naming(*fields: str) -> AfterValidator:
    """What holds of a template that has to name these fields."""

    def check(template: str) -> str:
        missing = [name for name in fields if name not in template]
        if missing:
            raise PydanticCustomError("fields", "{missing} must stand in it", {"missing": " and ".join(missing)})
        return template

    return AfterValidator(check)


def refuse_twice(key: str, values: tuple[float, ...], *, more: str = "task.trials") -> None:
    """Raise `ValueError` where a list holds a value twice; `more` is the key that gives more samples of one."""
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise ValueError(f"{key}: {twice} stands twice; use {more} for more samples")


_GUESSES = 16
"""Sizes tried by proportion; from then on the step is doubled, or the range halved."""


def too_short(context_tokens: int, needed: int, *, lower: str = "") -> ConfigError:
    """The error of a length that the shortest prompt exceeds; `lower` are keys that make it shorter."""
    return ConfigError(
        f"task.lengths: {context_tokens:,} is too short: the shortest prompt of this task takes {needed:,} tokens, "
        f"template and question included; ask for longer ones{lower and f', or lower {lower}'}"
    )


def fit(tokens_of: Callable[[int], int], budget: int, *, least: int, most: int, near: int = 0, lower: str = "") -> int:
    """The largest size from `least` to `most` that takes at most `budget` tokens.

    A smaller one is enough where it leaves no more than `near` tokens. Interpolates, since each count of a long prompt
    costs. Raises `ConfigError` where `least` takes more; `lower` is as in `too_short`."""
    low, low_tokens = least, tokens_of(least)
    if low_tokens > budget:
        raise too_short(budget, low_tokens, lower=lower)
    high, high_tokens = most + 1, 0  # 0: no size is known to be too large
    tried = 0
    while low < high - 1 and budget - low_tokens > near:
        left = budget - low_tokens
        if not high_tokens:
            step = low * left // low_tokens if tried < _GUESSES else 1 << tried
        else:
            step = int((high - low) / (high_tokens - low_tokens) * left) if tried < _GUESSES else (high - low) // 2
        size = min(high - 1, low + max(1, step))
        tokens = tokens_of(size)
        if tokens <= budget:
            low, low_tokens = size, tokens
        else:
            high, high_tokens = size, tokens
        tried += 1
    return low
