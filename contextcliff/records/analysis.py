"""What the analysis says of the scored samples of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from contextcliff.records.amounts import Quantity
from contextcliff.records.note import Note

T = TypeVar("T")

ShapeName = Literal["flat", "slope", "cliff", "below", "rising"]
EvidenceName = Literal["settled", "unsettled"]
VerdictName = Literal["cliff", "slope", "flat", "insufficient_evidence"]
ZoneName = Literal["stable", "transition", "degraded"]
Outcome = Literal["safe", "below", "undecided"]
LimitName = Literal["quality", "memory", "latency"]
CAP_RULES = ("walk_up", "any_depth", "blueprint", "absolute", "relative", "half_life", "writing", "memory", "latency")
"""Every rule of `caps`, in the order of the report."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bin:
    """The samples of one length. Token figures are measured ones; in a report they are the server's own counts.

    `ci_low`/`ci_high` is the interval that is shown (Wilson for 0/1 scores; a confidence sequence in a search, which
    stops when a length is decided); `tested_low` is the
    one-sided bound at the analysis' confidence that the cap rule tests, unscored samples counted as
    wrong in it. `mean`, `std` and the interval are None where nothing was scored."""

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
    """Median time to the first token, over the requests whose prompt the server had to read; None where none is known.
    A prompt that a cache served by half or more, and an answer that was not streamed, do not count."""
    latency_ms_median: float | None
    """Median time to the end of the answer, over all requests."""
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
    natural_lengths: bool = False
    """Whether its prompts have lengths of their own, as documents have, and not one that was asked for."""

    @property
    def clears_up_to(self) -> int:
        """The length that clears where this bin does: its median prompt, or of documents the shortest."""
        return self.min_tokens if self.natural_lengths else self.median_tokens

    @property
    def below_from(self) -> int:
        """The length from which on the score is below where this bin's mean is: its median prompt, or of documents the
        longest."""
        return self.max_tokens if self.natural_lengths else self.median_tokens

    def with_offset(self, tokens: int) -> Bin:
        """The bin with prompts so many tokens longer. Of designed lengths the one asked for stays."""
        return replace(
            self, asked_tokens=self.asked_tokens + (tokens if self.natural_lengths else 0),
            min_tokens=self.min_tokens + tokens, median_tokens=self.median_tokens + tokens,
            max_tokens=self.max_tokens + tokens,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthCell:
    """Mean score of one length and depth, for the heatmap.

    `ceiling` and `floor` are the mean scores of its samples' controls. A cell that is not `informative` can't
    show a cliff: its ceiling is shown to be low, or its floor to be high."""

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

    name: ZoneName
    min_tokens: int
    max_tokens: int
    mean: float | None = None
    """Mean score of its samples; None where no length in it was tested."""
    fall: float | None = None
    """How far that is below the baseline's mean, as a share of it; without a baseline below the first zone's. Negative
    where the mean is higher; None of that first zone itself."""


def cap_in_short(tokens: int | None, outcome: Outcome, *, at_least: bool) -> str:
    """`2,047`, `at least 7,992`, `below` or `undecided`."""
    if tokens is None:
        return outcome
    return f"at least {tokens:,}" if at_least else f"{tokens:,}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """How long a prompt can be by one limit: `quality` (the model's answers), `memory` or `latency`.

    `safe`: prompts of up to `tokens` keep it. `below`: even the shortest tested length is shown to break it.
    `undecided`: neither is shown."""

    name: LimitName
    outcome: Outcome
    tokens: int | None = None
    """None unless the outcome is `safe`."""
    at_least: bool = False
    """Whether no length was found that breaks it, so that it may lie beyond `tokens`."""
    why: Note | None = None
    """In a few words what keeps it from being safe, or from being decided beyond `tokens`; None where nothing does."""
    at_tokens: int | None = None
    """The length, as asked, at which it is not decided; None where it is, or where more answers decide nothing."""
    more: int | None = None
    """Further answers there that decide it, or are likely to; None where no number is known."""


EARNS_POINTS = Note("In this test {whether}the model earns {share} points in prompts of {lengths}")
"""What is claimed of a model by a task that says nothing else: `whether` it is decided, the `share` that is reached,
and at which `lengths`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SafeCap:
    """The answer: up to which length prompts keep every limit that was asked for, the model's answers being one.

    By the answers it is the longest tested length up to which every tested length clears the threshold; `memory` is
    asked for by `model.memory_gib`, and `latency` by `analysis.latency_slo_ms`. `tokens` is the least, None unless the
    outcome is `safe`. Crossing, shape, evidence and verdict are of the answers alone.

    Its tokens are those of the user's own prompts, without what the server adds: of each length the median prompt, of
    documents the shortest of the last bin that clears and the longest of the first that is below.

    `evidence` says whether the tests show how the scores run over length, None where nothing was scored. `verdict` is
    `flat` where every length clears, `cliff` or `slope` (which of them by the curve that fits best) where a fall is
    shown, else `insufficient_evidence`. `shape` names the curve where lengths and samples are enough for that.
    `censored` means that no fall was found up to the longest test. `ci_low`–`ci_high` is where the score crosses the
    threshold: at or above the cap, and below the shortest length shown to be under the threshold (None where no length
    was)."""

    tokens: int | None
    outcome: Outcome
    """`safe`: there is a cap. `below`: the shortest tested length is shown to break a limit. Else `undecided`."""
    limited_by: LimitName | None = None
    """The limit that is least, below or undecided; None where no limit was found up to `tokens`, a cap of "at least"
    so many."""
    limits: tuple[Limit, ...] = ()
    """Every limit that was asked for; empty where an earlier version judged."""
    ci_low: int | None
    ci_high: int | None
    censored: bool
    fraction_of_max: float | None
    rule: str
    threshold: float
    relative_to_baseline: bool
    confidence: float
    """Of each test."""
    lost_confidence: float = 0.0
    """What the tests of lengths that were added later take from it."""
    verdict: VerdictName
    reason: Note
    claim: Note | None = None
    """What was asked, and what the answer is, in one sentence; None where nothing was, or an earlier version judged."""
    threshold_score: float | None = None
    """The threshold as a score; None where it is relative to a baseline without one."""
    metrics: tuple[str, ...] = ()
    """By what answers were scored, as `contains` and `f1` (`task.metric`); empty where the task has one way."""
    quantity: Quantity = "score"
    """What was tested: the `score` of each sample, or whether each round of writing is `healthy`. Of the latter are
    threshold, crossing, verdict and reason; the bins' means are scores all the same."""
    shape: ShapeName | None = None
    """By likelihood, from six lengths with twenty scores each on; else None. `flat`: no change, at the threshold or
    above. `cliff`: a shown fall through it in one step between neighbouring lengths. `slope`: another fall. `below`:
    under the threshold at every length. `rising`."""
    shape_step: tuple[int, int] | None = None
    """Of a cliff the two lengths (median prompts) between which it falls."""
    dip_tokens: int | None = None
    """A length that is lower than all others, which do not change."""
    evidence: EvidenceName | None = None
    server_offset_tokens: int | None = None
    """Tokens that the server adds to every prompt, which lengths here are without; None if unknown."""
    settling_samples: int | None = None
    """Scored samples at the length that stopped the test with which a new run is likely to settle it. None where it is
    settled, where more samples would not settle it, and in a search."""

    @property
    def at_least(self) -> bool:
        """Whether nothing was found that limits prompts to `tokens`: longer ones may be safe too."""
        return self.outcome == "safe" and self.limited_by is None

    @property
    def holds_at(self) -> float:
        """The confidence of the cap."""
        return self.confidence - self.lost_confidence

    @property
    def in_short(self) -> str:
        """The cap in a cell of a table."""
        return cap_in_short(self.tokens, self.outcome, at_least=self.at_least)

    @property
    def limit(self) -> Limit | None:
        """The limit that the outcome stands on; None where there is none, or an earlier version judged."""
        return next((each for each in self.limits if each.name == self.limited_by), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """All that the analysis says of one run's scored samples. What every run has is a field of its own. Everything else
    is a finding: `findings` holds the record of each that had something to say, by its key."""

    bins: tuple[Bin, ...]
    cells: tuple[DepthCell, ...]
    zones: tuple[Zone, ...]
    safe_cap: SafeCap
    caps: Mapping[str, int | None]
    """Every cap rule's tokens; None where it gives none."""
    mean: float | None
    successes: int
    """Samples with the full score 1."""
    notes: tuple[Note, ...]
    """What a reader has to know to read the numbers right."""
    findings: Mapping[str, object] = field(default_factory=dict)
    alarms: Mapping[str, float] = field(default_factory=dict)
    """The p-value of each alarm that was tested, after Holm's correction for all of them."""

    @property
    def lengths(self) -> tuple[Bin, ...]:
        """The bins in tokens of the user's own prompts, as the cap is: what tables, figures and sentences say."""
        return tuple(each.with_offset(-(self.safe_cap.server_offset_tokens or 0)) for each in self.bins)

    def is_decided(self, length: Bin) -> bool:
        """Whether a length lies in a zone that is shown: stable, or degraded."""
        ends = {zone.name: zone for zone in self.zones}
        stable, degraded = ends.get("stable"), ends.get("degraded")
        is_below = degraded is not None and length.below_from >= degraded.min_tokens
        return is_below or (stable is not None and length.clears_up_to <= stable.max_tokens)

    def measured(self, asked_tokens: int) -> int:
        """The median prompt of a length that was asked for, as sentences name it; that length itself where none was."""
        return next((each.median_tokens for each in self.lengths if each.asked_tokens == asked_tokens), asked_tokens)

    def finding(self, record: type[T]) -> T | None:
        """The finding of this type; None where the run has none."""
        return next((each for each in self.findings.values() if isinstance(each, record)), None)
