"""A warning: what changes beside the mean score as prompts grow, and the length where it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from contextcliff.records.fact import Fact

WarningName = Literal[
    "latency_canary", "latency_spread", "score_spread", "instability", "failure_spike", "unscored_spike"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlyWarning:
    """One warning. It is shown at the analysis' confidence over all lengths together, and large enough to matter."""

    name: WarningName
    context_tokens: int
    """The length where it begins, as asked."""
    median_tokens: int
    """The same, measured."""
    figures: Mapping[str, float]
    """What it rests on."""
    reason: Fact
