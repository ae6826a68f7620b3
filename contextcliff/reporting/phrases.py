"""The words and numbers of a report, said once for the console, the Markdown page and the figures.

Everything here is plain ASCII apart from what the run itself brings (names, tags, notes, reasons), and
nothing here is escaped: each renderer escapes for its own medium.
"""

from __future__ import annotations

import math
from collections import Counter

from contextcliff.models.model import dollars
from contextcliff.records.analysis import Bin, SafeCap, Zone
from contextcliff.records.report import JudgeUsage, Report

MISSING = "-"
"""Stands for what was not measured; never for zero."""

ZONE_MARKS = {"stable": "[OK]", "transition": "[!!]", "degraded": "[XX]"}


def whole(value: int | None) -> str:
    """A count or a number of tokens, with thousands separators."""
    return MISSING if value is None else f"{value:,}"


def score(value: float | None) -> str:
    """A score, 0-1."""
    return MISSING if value is None else f"{value:.2f}"


def bound(value: float | None) -> str:
    """A lower bound on a score, rounded down: one that misses a threshold must not read as if it met it."""
    return MISSING if value is None else f"{math.floor(value * 100 + 1e-9) / 100:.2f}"


def interval(low: float | None, high: float | None) -> str:
    """Both ends of an interval of scores."""
    return MISSING if low is None or high is None else f"{low:.2f}-{high:.2f}"


def percent(value: float) -> str:
    """A fraction as a percentage, with as many digits as it needs: 95%, 99.5%, 43.2%."""
    return f"{round(100 * value, 1):g}%"


def p_value(value: float) -> str:
    """A p-value, 0-1; a tiny one isn't shown as zero."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def milliseconds(value: float | None) -> str:
    """A time given in milliseconds, short enough for a column: 350ms, 12.3s, 754s."""
    if value is None:
        return MISSING
    if value < 999.5:
        return f"{value:.0f}ms"
    return f"{value / 1000:.1f}s" if value < 99_950 else f"{value / 1000:,.0f}s"


def duration(seconds: float) -> str:
    """A time given in seconds, in the units that a person would say it in."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def tally(counts: dict[str, int]) -> str:
    """Tags with their counts, the commonest first; equal counts in the order of the alphabet."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{tag} x{count:,}" for tag, count in ranked)


def commonest_failure(a_bin: Bin) -> str:
    """The most frequent failure tag of a length with its count, or a dash."""
    present = {tag: count for tag, count in a_bin.failures.items() if count > 0}
    if not present:
        return MISSING
    tag, count = min(present.items(), key=lambda item: (-item[1], item[0]))
    return f"{tag} x{count:,}"


def all_failures(report: Report) -> dict[str, int]:
    """Every failure tag of the run with its count, the commonest first."""
    total: Counter[str] = Counter()
    for a_bin in report.analysis.bins:
        total.update(a_bin.failures)
    return {tag: total[tag] for tag in sorted(total, key=lambda tag: (-total[tag], tag)) if total[tag] > 0}


def identity(report: Report) -> tuple[tuple[str, str], ...]:
    """What was tested, as pairs of a name and a value."""
    labelled = f"{report.run.model} ({report.run.label})" if report.run.label else report.run.model
    return (
        ("Model", labelled),
        ("Engine", report.run.engine),
        ("KV policy", report.run.kv_policy),
        ("Task", report.run.task),
        ("Dataset", f"{report.run.dataset} ({report.run.texts})" if report.run.texts else report.run.dataset),
        ("Tokenizer", report.run.tokenizer),
        ("Maximum window", f"{report.run.max_context_tokens:,} tokens"),
        *(("Detected", line) for line in report.run.server),
    )


def threshold(cap: SafeCap) -> str:
    """What a length has to clear, in words."""
    if cap.relative_to_baseline:
        return f"{percent(cap.threshold)} of the shortest length's score"
    return f"a score of {cap.threshold:.2f}"


def threshold_score(report: Report) -> float | None:
    """The threshold as a score, 0-1; None where it is relative to a baseline that has no score."""
    cap = report.analysis.safe_cap
    if not cap.relative_to_baseline:
        return cap.threshold
    if cap.threshold_score is not None:
        return cap.threshold_score
    baseline = report.analysis.bins[0].mean if report.analysis.bins else None
    return None if baseline is None else cap.threshold * baseline


def bound_name(cap: SafeCap) -> str:
    """Name of a length's one-sided lower bound: under a relative threshold the cap isn't tested by it."""
    return "lower bound" if cap.relative_to_baseline else "tested bound"


def headline(report: Report) -> str:
    """The answer in one line."""
    cap = report.analysis.safe_cap
    if cap.tokens is None:
        return "none - no tested length was shown to be safe"
    share = "" if cap.fraction_of_max is None else f", {percent(cap.fraction_of_max)} of the window"
    return f"{cap.tokens:,} tokens ({percent(cap.confidence)} confidence{share})"


def cap_details(report: Report) -> tuple[tuple[str, str], ...]:
    """What stands under the headline, as pairs of a name and a sentence."""
    cap = report.analysis.safe_cap
    rows = [("Verdict", cap.verdict.replace("_", " ")), ("Reason", cap.reason), ("Threshold", threshold(cap))]
    if cap.censored:
        longest = max((a_bin.asked_tokens for a_bin in report.analysis.bins), default=None)
        at = "" if longest is None else f" ({longest:,} tokens)"
        rows.append(("Range", f"no cliff up to the longest test{at}; the true limit may be higher"))
    crossing = crossing_range(cap)
    if crossing:
        rows.append(("Crossing", crossing))
    return tuple(rows)


def crossing_range(cap: SafeCap) -> str:
    """Where the score falls through the threshold, as far as the run can tell; empty where it can't."""
    if cap.ci_low is None and cap.ci_high is None:
        return ""
    if cap.ci_high is None:
        return f"the score crosses the threshold at or above {whole(cap.ci_low)} tokens"
    if cap.ci_low is None:
        return f"the score is below the threshold by {cap.ci_high:,} tokens at the latest"
    return f"the score crosses the threshold between {cap.ci_low:,} and {cap.ci_high:,} tokens"


def zone_line(zone: Zone) -> str:
    """A zone with its mark, which says without colour what it is."""
    mark = ZONE_MARKS.get(zone.name, "[??]")
    return f"{mark} {zone.name:<10} {zone.min_tokens:,} - {zone.max_tokens:,} tokens"


def overall(report: Report) -> str:
    """The run's mean score and how many samples reached the full one."""
    scored = sum(a_bin.n_samples for a_bin in report.analysis.bins)
    if report.analysis.mean is None or scored == 0:
        return "no sample was scored"
    return f"mean score {report.analysis.mean:.3f}; full score in {report.analysis.successes:,} of {scored:,} samples"


def partial(report: Report) -> str:
    """That a run stopped before its end, and what may be missing for it."""
    missing = "lengths" if report.counts.unscored else "ratings or measures"
    return f"the run stopped before its end; {missing} may be missing"


def _judge_took(judge: JudgeUsage) -> str:
    share = "" if judge.usd is None else f", {dollars(judge.usd)} of the cost"
    return (
        f"{judge.requests:,} requests, {judge.prompt_tokens:,} prompt and {judge.completion_tokens:,} completion "
        f"tokens{share}"
    )


def took(report: Report) -> tuple[tuple[str, str], ...]:
    """What the run used and how much of it came to an end, as pairs of a name and a value."""
    usage, counts = report.usage, report.counts
    rows = [
        (
            "Prompt tokens",
            f"{usage.prompt_tokens:,}, of which {usage.cached_tokens:,} cached"
            f" and {usage.computed_prompt_tokens:,} computed",
        ),
        ("Completion", f"{usage.completion_tokens:,} tokens"),
    ]
    if usage.judge is not None:
        rows.append(("Judge", _judge_took(usage.judge)))
    if usage.usd is not None:
        rows.append(("Cost", dollars(usage.usd)))
    rows.append(("Wall time", duration(usage.wall_s)))
    reused = f", {counts.reused:,} of them reused" if counts.reused else ", none reused"
    rows.append(("Samples", f"{counts.completed:,} of {counts.planned:,} completed{reused}"))
    if counts.unscored:
        rows.append(("Unscored", f"{counts.unscored:,} of {counts.planned:,}"))
    if counts.controls:
        rows.append(("Controls", f"{counts.controls:,} prompts"))
    if counts.pilot:
        rows.append(("Pilot", f"{counts.pilot:,} prompts, which chose the bins and count in no score"))
    if any(counts.errors.values()):
        rows.append(("Failed attempts", tally(dict(counts.errors))))
    return tuple(rows)
