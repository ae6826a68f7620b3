"""What a run would take: `plan.json`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanBin:
    """The samples of one length in a plan. `kv_gib` is None where the model's metadata is not at hand."""

    context_tokens: int
    samples: int
    kv_gib: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgePlan:
    """What the judge would be asked: a request an answer, at the most tokens that each can take."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """`plan.json`: what a run would send beyond what is stored.

    `cached_prompt_tokens` is the part of `prompt_tokens` that a prefix cache can save in the order of sending;
    `completion_tokens` is the most that answers may take. `usd` is the judge's as well; its tokens stand in `judge`
    alone. `usd`, `wall_s` and `download_gib` are None where
    there is no price, no rate and nothing to download (or its size is not known).
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
    confidence: float
    bins: tuple[PlanBin, ...]
    notes: tuple[str, ...]
    judge: JudgePlan | None = None
