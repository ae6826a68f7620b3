"""What a run would take: `plan.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanBin:
    """The samples of one length in a plan, or those to expect of a search.

    `kv_gib` is None where the model's metadata is not at hand.
    """

    context_tokens: int
    samples: int
    kv_gib: float | None
    clears: Mapping[str, float] | None = None
    """For a true score (`0.98`), the chance that the length is shown above the threshold.

    None for the baseline of a search, and where no exact chance is known: for a fixed number of samples that share
    texts, that are compared with a baseline, or whose scores are fractions.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSize:
    """What one course of a search would take beyond what is stored."""

    samples: int
    prompt_tokens: int
    usd: float | None
    wall_s: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchCourse:
    """How a search goes on, and the model whose expected run is planned."""

    block: int
    """Samples between two looks at a length."""
    most_samples: int
    """At a length."""
    refine: bool
    """Whether lengths between the last one passed and the first one failed would be tested."""
    score: float
    """True score, at every length, of the model whose expected run the plan shows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgePlan:
    """What the judge would be asked: a request an answer, at the most tokens that each can take."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """`plan.json`: what a run would send beyond what is stored; of a search, what is to be expected (`search.score`).

    `cached_prompt_tokens` is the part of `prompt_tokens` that a prefix cache can save in the order of sending;
    `completion_tokens` is the most that answers may take. `usd` is the judge's as well; its tokens stand in `judge`
    alone. `usd`, `wall_s` and `download_gib` are None where there is no price, no rate and nothing to download (or its
    size is not known).
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
    """Of a search, the requests to expect."""
    least: RunSize | None = None
    """The run of a model without a mistake; None where the number of samples is fixed."""
    most: RunSize | None = None
    """As many samples as each length may take; None where the number of samples is fixed."""
    memory_gib: float | None = None
    """What weights and KV cache may take together; None where neither `model.memory_gib` nor a device tells."""
    memory_cap_tokens: int | None = None
    """The longest context whose cache fits in it beside the weights; None where that is not known."""
    search: SearchCourse | None = None
    """None where the number of samples is fixed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanTotal:
    """What the jobs of a sweep would send together. `usd` and `wall_s` are None where one of them is not known."""

    jobs: int
    samples: int
    """Controls among them."""
    stored: int
    prompt_tokens: int
    cached_prompt_tokens: int
    completion_tokens: int
    usd: float | None
    wall_s: float | None

    def __add__(self, other: PlanTotal) -> PlanTotal:
        return PlanTotal(
            jobs=self.jobs + other.jobs,
            samples=self.samples + other.samples,
            stored=self.stored + other.stored,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_prompt_tokens=self.cached_prompt_tokens + other.cached_prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
            wall_s=None if self.wall_s is None or other.wall_s is None else self.wall_s + other.wall_s,
        )
