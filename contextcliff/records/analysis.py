"""What the analysis says of the scored samples of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contextcliff.records.cap_reason import CapReason
from contextcliff.records.fact import Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class Bin:
    """The samples of one length. Token figures are measured ones.

    `ci_low`/`ci_high` is the interval that is shown (Wilson for 0/1 scores); `tested_low` is the
    one-sided bound at the analysis' confidence that the cap rule tests, unscored samples counted as
    wrong in it. `mean`, `std` and the interval are None where nothing was scored.
    """

    asked_tokens: int
    """The length asked for, where the task designs its lengths; else the bin's median."""
    min_tokens: int
    median_tokens: int
    max_tokens: int
    n_samples: int
    n_unscored: int
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    tested_low: float | None
    std: float | None
    failure_rate: float | None
    failures: Mapping[str, int]
    ttft_ms_median: float | None
    latency_ms_median: float | None
    n_items: int = 0
    """Questions, where samples repeat some; else as many as samples, scored or not."""
    n_documents: int = 0
    instability: float | None = None
    """Share of the repeated questions whose score changes between repeats; None where nothing was repeated."""
    within_item_variance: float | None = None
    """Mean variance of the score between the repeats of a question."""
    rolling_variance: float | None = None
    """Variance of the scores of this bin and its neighbours, pooled."""
    bimodality: float | None = None
    """Sarle's coefficient of the scores; above 5/9 there may be two humps. None below four scores or without spread."""
    latency_ms_std: float | None = None
    n_clusters: int | None = None
    """Haystacks or contexts that its samples share, where several share one; the bounds allow for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthCell:
    """Mean score of one length and depth, for the heatmap.

    `ceiling` and `floor` are the mean scores of its samples' controls. A cell that is not `informative` can't
    show a cliff: its ceiling is shown to be low, or its floor to be high.
    """

    asked_tokens: int
    depth: float
    n_samples: int
    mean: float | None
    ceiling: float | None = None
    floor: float | None = None
    informative: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthPoint:
    """Mean score of one depth over all lengths, with its interval."""

    depth: float
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Zone:
    """A range of lengths: `stable`, `transition` or `degraded`."""

    name: str
    min_tokens: int
    max_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SafeCap:
    """The answer: the longest tested length up to which every tested length clears the threshold.

    `verdict` is `cliff`, `slope`, `flat` or `insufficient_evidence`; `censored` means that no fall
    was found up to the longest test. `ci_low`–`ci_high` is where the score crosses the threshold:
    at or above the cap, and below the shortest length shown to be under the threshold (None where
    no length was).
    """

    tokens: int | None
    ci_low: int | None
    ci_high: int | None
    censored: bool
    fraction_of_max: float | None
    rule: str
    threshold: float
    relative_to_baseline: bool
    confidence: float
    verdict: str
    reason: CapReason
    threshold_score: float | None = None
    """The threshold as a score; None where it is relative to a baseline without one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfLife:
    """Length over which recall halves, by a fitted exponential decay R₀·e^(−λL); None with the reason.

    `censored`: it lies beyond the longest test. `ci_low` is kept where there is no estimate but a lower bound.
    """

    tokens: int | None
    ci_low: int | None
    ci_high: int | None
    censored: bool
    reason: Fact
    initial: float | None = None
    """R₀, the recall at length 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionPattern:
    """How the score depends on depth: `stable`, `middle_collapse`, `recency` or `primacy`, by a test.

    `recency`: what stands late is found more often; `primacy`: what stands early. `stable` says that no dependence
    was shown. `pattern` and `p_value` are None where there is nothing to test, with the reason.
    """

    pattern: str | None
    p_value: float | None
    n_samples: int
    reason: Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class GuideRow:
    """What to do at one length: `safe` (score over 0.9), `caution` (0.5 to 0.9) or `danger` (under 0.5).

    `sure` is whether the whole interval lies in that range.
    """

    asked_tokens: int
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float
    level: str
    sure: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Guide:
    """An operating guide: a row a length, and advice on ranges of them."""

    rows: tuple[GuideRow, ...]
    advice: tuple[Fact, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FacetRow:
    """The samples of one value (or range of values) of one metadata key.

    `cap_tokens` is the safe cap of these samples alone, by the same rule as the run's.
    """

    facet: str
    value: str
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float
    cap_tokens: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlLevel:
    """The controls of one length: `ceiling` (evidence alone) and `floor` (no evidence), means with intervals.

    `informative` is False where the ceiling is shown to be low or the floor to be high: no cliff can show there.
    """

    asked_tokens: int
    ceiling_n: int
    ceiling: float | None
    ceiling_ci_low: float | None
    ceiling_ci_high: float | None
    floor_n: int
    floor: float | None
    floor_ci_low: float | None
    floor_ci_high: float | None
    informative: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A judge beside the exact score: how often the two disagree, with Wilson's interval.

    The judge counts as saying "right" from `right_from` of 10 up, the exact score from 0.5 up.
    """

    judge: str
    n_judged: int
    n_unjudged: int
    mean_rating: float | None
    right_from: int
    disagreements: int
    judge_only: int
    """The judge says right, the exact score wrong."""
    exact_only: int
    """The exact score says right, the judge wrong."""
    share: float | None
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """All that the analysis says of one run's scored samples."""

    bins: tuple[Bin, ...]
    cells: tuple[DepthCell, ...]
    zones: tuple[Zone, ...]
    safe_cap: SafeCap
    caps: Mapping[str, int | None]
    half_life: HalfLife
    half_life_lsq: int | None
    """The same half-life by least squares on the mean scores; None where there is none."""
    profile: tuple[DepthPoint, ...]
    position: PositionPattern
    guide: Guide
    facets: tuple[FacetRow, ...]
    controls: tuple[ControlLevel, ...]
    judgement: Judgement | None
    mean: float | None
    successes: int
    """Samples with the full score 1."""
    notes: tuple[Fact, ...]
    """What a reader has to know to read the numbers right."""
