"""The finding `writing` of a report, which only the continuation task has. None means "not measured", never zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from contextcliff.records.note import Note


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureLevel:
    """One measure at one context length, over the rounds in which it could be measured (`n`).

    `ci_low`/`ci_high` is a percentile bootstrap interval of the mean (10,000 resamples); None below two rounds.
    `original` is the mean of the measure over the author's own next words (as many as each round wrote);
    `author_mean`/`author_std` are those of windows of the author's text; `z` the mean distance from them."""

    name: str
    n: int
    mean: float | None
    std: float | None
    ci_low: float | None
    ci_high: float | None
    cv: float | None
    """Coefficient of variation, std / |mean|; None where the mean is 0 or there are fewer than two rounds."""
    original: float | None
    author_mean: float | None
    author_std: float | None
    z: float | None
    z_std: float | None = None
    """Sample standard deviation of the rounds' z-scores; None below two rounds with one."""
    converged: bool | None
    """Whether the mean lies within 10% of the original's; None where either is not measured."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompositeLevel:
    """A composite (0-100, up is worse) at one context length, with its bootstrap interval."""

    n: int
    mean: float | None
    std: float | None
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class OutlierRound:
    """A round that lies outside 1.5 interquartile ranges in some measures. It is kept: it may be the finding."""

    sample_id: str
    trial: int
    measures: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingTier:
    """All rounds of one context length."""

    context_tokens: int
    n_rounds: int
    """Rounds that were answered."""
    n_unscored: int
    n_distinct: int
    """Different draws among them: at temperature 0, or with `sampling.seed` set, all rounds are the same draw."""
    outcomes: Mapping[str, int]
    """`complete`, `too_short`, `empty` … to the number of rounds."""
    finish_reasons: Mapping[str, int]
    reading_level: str | None
    """The school grades of the mean cloze score, as `11-12`."""
    composite: CompositeLevel
    composite_classic: CompositeLevel
    measures: tuple[MeasureLevel, ...]
    outliers: tuple[OutlierRound, ...]
    prompt_tokens: int | None = None
    """The measured prompt (median of the rounds), without the answer; None of another tool's runs and of earlier
    versions'."""


COMPLETE = "complete"
"""The outcome of a round without a failure."""

Against = Literal["shortest", "author"]
Size = Literal["none", "small", "medium", "large"]
Scale = Literal["z", "raw"]
"""What is compared: z-scores, taken by windows of the author's text as long as each round, or the measure itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingTest:
    """One measure at one context length, tested one-sided for being worse than `against`: an improvement is no finding.

    `author` is windows of the author's text from anywhere in it. `shift` is the difference of the means on `scale`
    (the author's standard deviations, or the measure's own unit), up is worse. `p_value` is Mann-Whitney's, exact;
    `p_holm` is corrected over all lengths and measures tested against the same; `effect` is the rank-biserial
    correlation (1: every round is worse, -1: every round is better). `degraded` takes a significant `p_holm`, and
    against the author also a mean that is worse than that of the author's own next words."""

    context_tokens: int
    measure: str
    against: Against
    n: int
    n_baseline: int
    scale: Scale
    shift: float
    p_value: float
    p_holm: float
    effect: float
    size: Size
    degraded: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingTrend:
    """One measure over all lengths: from the shortest to the longest, and whether it gets worse on the way.

    `start` and `end` are means of the measure itself, whatever the test's `scale` is.
    `p_value` is that of Jonckheere and Terpstra's test, one-sided toward worse; two-sided for a measure without a
    worse direction. None where there is nothing to test."""

    measure: str
    scale: Scale
    start: float
    end: float
    p_value: float | None
    p_holm: float | None
    exact: bool
    """Whether the p-value counts all orders; else it counts a seeded sample of them, where values are tied or many."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NeighbourStep:
    """Context-Tester's degradation point: a step between neighbouring lengths beyond a fixed limit; not a test."""

    context_tokens: int
    measure: str
    change: float


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthLevel:
    """The rounds of one context length, each healthy or not; rounds that are one draw count as one.

    `share` is that of healthy rounds among the scored, `ci_low`/`ci_high` its interval (Wilson's), `tested_low` the
    exact one-sided bound that the cap is tested with, unscored rounds counted as not healthy in it. `faults` says why
    rounds were not healthy, each counted once: `too_short`, `loop`, `beyond_author`, `unmeasured`."""

    context_tokens: int
    n: int
    n_unscored: int
    healthy: int
    share: float | None
    ci_low: float | None
    ci_high: float | None
    tested_low: float | None
    faults: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """The healthy rounds of a run by length, and how the walk over them ended.

    `threshold` is the share of healthy rounds that a length has to be shown to exceed; with `relative` it is a part of
    the shortest length's share. `outcome`: `cleared` at every length, `below` from the length `at` on, or `open` there.
    """

    threshold: float
    relative: bool
    outcome: Literal["cleared", "below", "open"]
    at: HealthLevel | None = None
    levels: tuple[HealthLevel, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Writing:
    """Everything about the prose of a continuation run."""

    document_id: str
    continuation_point: int
    """Character of the document at which every prompt ends and the original goes on."""
    tiers: tuple[WritingTier, ...]
    tests: tuple[WritingTest, ...]
    trends: tuple[WritingTrend, ...]
    steps: tuple[NeighbourStep, ...]
    verdict: Note
    """How the walk over healthy rounds ended, and which measures are worse than at the shortest length."""
    settling_rounds: int | None
    """Rounds a length that would settle whether enough of them are healthy; None: it is settled, or no practical number
    would settle it."""
    warnings: tuple[Note, ...]
    """What these rounds are too few, or too alike, to show."""
    embeddings: str | None
    """Name of the model that embedded the sentences; None: none were embedded."""
    unmeasured: tuple[str, ...]
    """Measures that no round has, by name."""
    health: Health | None = None
    """The healthy rounds by length; None where nobody judged them (another tool's run, or an earlier version's)."""
    confidence: float = 0.95
    """Confidence of the intervals; a corrected p-value of at most 1 − confidence is significant."""
