"""By what a report was judged: settings as dotted keys with their values, and in which of them two reports differ.

The rule is what a report depends on beside the answers: the run's fingerprint has the questions and the model, the
rule has the rest. A report that does not tell a key (an earlier version's) differs in none that it does not tell."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from contextcliff.records.report import Report
from contextcliff.seeding import digest_of
from contextcliff.settings import folder_name

Rule = Mapping[str, str]
"""Dotted key to value, as both stand in a flattened configuration."""

_DRAWN = frozenset({"analysis.bins", "analysis.binning"})
_BESIDE = frozenset({"analysis.latency_slo_ms", "analysis.latency_slo_share", "analysis.entropy_threshold"})
_RATED = "task.judge"
_PLAIN = {"None": "null", "True": "true", "False": "false"}
_LONGEST_VALUE, _LONGEST_SUFFIX = 40, 80
_DIGEST_SHOWN = 8


def rule_of(report: Report) -> Rule:
    """What a report says that it was judged by; of one that does not say it, what its cap tells."""
    cap = report.analysis.safe_cap
    return report.run.judged_by or {
        "analysis.threshold": str(cap.threshold),
        "analysis.relative_to_baseline": str(cap.relative_to_baseline),
        "analysis.confidence": str(cap.confidence),
    }


def differing(one: Rule, other: Rule) -> tuple[str, ...]:
    """The keys that both tell, with different values."""
    return tuple(key for key, value in one.items() if other.get(key, value) != value)


def score_rule(rule: Rule) -> Rule:
    """The part of it that scores and the cap depend on: not how bins are drawn, and not what is judged beside."""
    apart, judged = _DRAWN | _BESIDE, rule.get("task.metric") == "judge"
    return {key: value for key, value in rule.items() if key not in apart and (judged or not key.startswith(_RATED))}


_TYPED = re.compile(r"\Atask\.(?=(judge|embedding)\b)")
"""Reports name judge and embedder by the keys of an earlier version; they are groups of their own now."""


def worded(rule: Rule, keys: Collection[str] | None = None) -> str:
    """The rule, or those keys of it, as one would type it: `analysis.threshold=0.9`."""
    chosen = {key: value for key, value in rule.items() if keys is None or key in keys}
    return ", ".join(f"{_TYPED.sub('', key)}={_shown(value)}" for key, value in chosen.items())


def suffix_of(rule: Rule, keys: Collection[str]) -> str:
    """The values of these keys as the end of a folder's name: `threshold-0.9`."""
    # Of a path the file's name.
    values = {key: _compact(re.split(r"[/\\]+", value)[-1]) for key, value in rule.items() if key in keys}
    suffix = folder_name("-".join(f"{key.partition('.')[2]}-{value}" for key, value in values.items()))
    if len(suffix) <= _LONGEST_SUFFIX:
        return suffix
    return f"{suffix[: _LONGEST_SUFFIX - 9]}-{digest_of(suffix)[:_DIGEST_SHOWN]}"


def compact(rule: Rule) -> Rule:
    """The same with digests in the place of long values, so that it fits where little room is."""
    return {key: _compact(value) for key, value in rule.items()}


def _shown(value: str) -> str:
    flat = " ".join(_PLAIN.get(value, value).split())
    return flat if len(flat) <= _LONGEST_VALUE else f"{flat[: _LONGEST_VALUE - 1]}… ({_compact(value)})"


def _compact(value: str) -> str:
    return value if len(value) <= _LONGEST_VALUE else digest_of(value)[:_DIGEST_SHOWN]
