"""What a run would take: `plan.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanBin:
    """The samples of one length in a plan, or those to expect of a search."""

    context_tokens: int
    samples: int
    kv_gib: float | None
    clears: Mapping[str, float] | None = None
    """For a true score (`0.98`), the chance that the length is shown above the threshold; None if unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSize:
    """What one course of a search would take beyond what is stored."""

    samples: int
    prompt_tokens: int
    usd: float | None
    wall_s: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """What is to be expected of the search of a model whose score is known."""

    score: float
    whole_range: float
    """Chance that the longest length is shown above the threshold."""
    size: RunSize


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchCourse:
    """How a search goes on, and what is to be expected of some models; the plan's own figures are for the first."""

    most_samples: int
    refine: bool
    courses: tuple[Course, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgePlan:
    """What the judge would be asked: a request an answer, at the most tokens that each can take."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """`plan.json`: what a run would send beyond what is stored; of a search, what is to be expected (`search.courses`).

    `cached_prompt_tokens` is what a prefix cache can save; `usd` is the judge's as well, whose tokens stand in `judge`.
    """

    run_id: str
    model: str
    engine: str
    tokenizer: str
    samples: int
    controls: int
    """Control prompts that would be sent beside the samples; tokens and dollars count them too."""
    stored: int
    prompt_tokens: int
    cached_prompt_tokens: int
    completion_tokens: int
    usd: float | None
    wall_s: float | None
    download: str | None
    download_gib: float | None
    detectable_drop: float | None
    """Of a score of 0.95, between two lengths with as many samples as a perfect model is asked."""
    confidence: float
    bins: tuple[PlanBin, ...]
    notes: tuple[str, ...]
    judge: JudgePlan | None = None
    least: RunSize | None = None
    """The run of a model without a mistake; None, as the next one, where the number of samples is fixed."""
    most: RunSize | None = None
    memory_gib: float | None = None
    """What weights and KV cache may take together; None if unknown."""
    memory_cap_tokens: int | None = None
    """The longest context whose cache fits in it beside the weights; None if unknown."""
    search: SearchCourse | None = None
