"""What the analysis says of the scored samples of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from contextcliff.records.cap_reason import CapReason
from contextcliff.records.fact import Fact

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Bin:
    """The samples of one length. Token figures are measured ones.

    `ci_low`/`ci_high` is the interval that is shown (Wilson for 0/1 scores; a confidence sequence in a search, which
    stops when a length is decided); `tested_low` is the
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
    every_depth: bool = False
    """Whether each third of the depths had to clear it by itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """All that the analysis says of one run's scored samples.

    What every run has is a field of its own. Everything else is a finding: `findings` holds one record for each
    section that had something to say, by the section's key.
    """

    bins: tuple[Bin, ...]
    cells: tuple[DepthCell, ...]
    zones: tuple[Zone, ...]
    safe_cap: SafeCap
    caps: Mapping[str, int | None]
    """Every cap rule's tokens; None where it gives none."""
    mean: float | None
    successes: int
    """Samples with the full score 1."""
    notes: tuple[Fact, ...]
    """What a reader has to know to read the numbers right."""
    findings: Mapping[str, object] = field(default_factory=dict)

    def finding(self, record: type[T]) -> T | None:
        """The finding of this type; None where the run has none."""
        return next((each for each in self.findings.values() if isinstance(each, record)), None)
