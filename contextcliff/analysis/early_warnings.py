"""The warnings of a run, and the times by length that those on latency rest on."""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.analysis.early_warning import EarlyWarning
from contextcliff.analysis.latency_canary import PrefillAtLength, latency_warnings, prefill_by_length
from contextcliff.analysis.latency_cap import LatencyCap, latency_cap
from contextcliff.analysis.score_warnings import score_warnings
from contextcliff.analysis.study import Study


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlyWarnings:
    """What was shown to change as prompts grow; `prefill` and `latency_slo` are the times behind it."""

    warnings: tuple[EarlyWarning, ...]
    prefill: tuple[PrefillAtLength, ...] = ()
    latency_slo: LatencyCap | None = None


def early_warnings(study: Study) -> EarlyWarnings | None:
    """None for a run without samples."""
    if not study.groups:
        return None
    return EarlyWarnings(
        warnings=(*latency_warnings(study.groups, study.bins, study.confidence), *score_warnings(study)),
        prefill=prefill_by_length(study.groups, study.bins),
        latency_slo=latency_cap(study),
    )
