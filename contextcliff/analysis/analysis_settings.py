"""The `analysis` group: what counts as safe, and how sure the answer has to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.search_record import SearchRule
from contextcliff.settings import Count, Float, Fraction, PositiveFloat, PositiveInt, settings


@settings
class AnalysisSettings:
    """How scored samples become a safe cap."""

    threshold: Fraction = 0.8
    """Score that a length has to clear, of a continuation run the share of healthy rounds; with `relative_to_baseline`,
    the part of the baseline's."""
    relative_to_baseline: bool | None = None
    """Threshold relative to the shortest length's score. None: what the task is made for."""
    confidence: Annotated[Float, Field(gt=0.5, lt=1.0)] = 0.95
    """Of the cap (one-sided) and of every interval that is shown (two-sided)."""
    bins: Count = 10
    """Bins, where documents have their natural length; designed lengths are bins of their own."""
    binning: Literal["auto", "quantile", "log", "fixed"] = "auto"
    """About as many documents in each bin (`quantile`), or equal steps of the logarithm of the length, or of tokens.
    `auto` is `quantile`, or `log` where one of those bins would span more than three octaves."""
    baseline_tokens: PositiveInt | None = None
    """The baseline of a relative threshold is the bins up to here; None: the shortest bin."""

    latency_slo_ms: PositiveFloat | None = None
    """Time in which requests have to be answered in full: the limit of the cap rule `latency`. None: no such rule."""
    entropy_threshold: Fraction | None = None
    """Attention entropy above which it is a sign of a lost hold. None: the shortest length's mean and two SD."""
    latency_slo_share: Annotated[Float, Field(gt=0.0, lt=1.0)] = 0.8
    """Share of the requests that has to be shown to keep that limit."""
    require_cap: PositiveInt | None = None
    """Tokens that the safe cap has to reach, else the process exits with 3. None: any will do."""

    def judging(self) -> Mapping[str, object]:
        """The keys that say how answers are judged: all but what is required of the result."""
        return {key: value for key, value in asdict(self).items() if key != "require_cap"}

    def search_rule(self, *, relative: bool) -> SearchRule:
        """What a search has to show of a length. Raises `ConfigError` for a threshold that no search can test."""
        if not 0.0 < self.threshold < 1.0 and not (relative and self.threshold == 1.0):
            raise ConfigError(
                f"analysis.threshold={self.threshold:g}: task.trials=auto tests a threshold above 0 and below 1; give "
                "such a one, or a fixed number of samples, task.trials=N"
            )
        return SearchRule(threshold=self.threshold, relative=relative, confidence=self.confidence)

    def is_relative(self, *, by_default: bool) -> bool:
        """Whether the threshold is a share of the baseline's score; `by_default` is what the task is made for."""
        return by_default if self.relative_to_baseline is None else self.relative_to_baseline
