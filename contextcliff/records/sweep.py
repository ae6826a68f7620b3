"""What a sweep knows of its jobs: a row for each, from which its leaderboard is made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from pydantic import TypeAdapter

from contextcliff.records.amounts import Quantity
from contextcliff.records.analysis import Bin, LimitName, Outcome, cap_in_short

JobState = Literal["running", "done", "partial", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePoint:
    """What is tested at one length, its mean and interval; `tokens` is the measured median."""

    tokens: int
    mean: float
    low: float
    high: float
    asked_tokens: int = 0
    """0 for documents, whose lengths nobody asked for, and in earlier versions."""


def curve_of(bins: Iterable[Bin]) -> tuple[CurvePoint, ...]:
    """The points of the lengths that have a score with an interval."""
    return tuple(
        CurvePoint(
            tokens=each.median_tokens, mean=each.mean, low=each.ci_low, high=each.ci_high,
            asked_tokens=0 if each.natural_lengths else each.asked_tokens,
        )
        for each in bins
        if each.mean is not None and each.ci_low is not None and each.ci_high is not None
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepRow:
    """One job of a sweep, and what came of it. None: not known, or there is none."""

    job: int
    model: str
    task: str
    kv_policy: str
    differing: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What else tells the jobs of its sweep apart: key to value, as it was typed."""
    state: JobState
    error: str = ""
    """Why it failed, in one line."""
    run_id: str = ""
    folder: str = ""
    cap_tokens: int | None = None
    outcome: Outcome | None = None
    limited_by: LimitName | None = None
    censored: bool = False
    """Whether the cap is "at least" so many."""
    verdict: str = ""
    shape: str = ""
    evidence: str = ""
    fraction_of_window: float | None = None
    quantity: Quantity = "score"
    """What was tested, and what the curve is of."""
    threshold: float | None = None
    """As it was set: a score, a share of a baseline's, or of healthy rounds."""
    threshold_score: float | None = None
    """What that comes to, 0-1; None where it is relative to a baseline that has no score."""
    confidence: float | None = None
    crossing_low: int | None = None
    crossing_high: int | None = None
    longest_tokens: int | None = None
    n_samples: int = 0
    mean_score: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None
    wall_s: float = 0.0
    curve: tuple[CurvePoint, ...] = ()
    searched: bool = False
    """Whether each length was asked until it was decided; its intervals hold for that."""

    @property
    def in_short(self) -> str:
        """The cap in a cell of a table."""
        return cap_in_short(self.cap_tokens, self.outcome or "undecided", at_least=self.censored)


_row = TypeAdapter(SweepRow)


def row_to_json(row: SweepRow) -> str:
    """A row as one line of JSON."""
    return json.dumps(asdict(row), ensure_ascii=False, allow_nan=False)


def row_from_json(text: str) -> SweepRow:
    """Raises `ValueError` for what is no row."""
    return _row.validate_json(text)
