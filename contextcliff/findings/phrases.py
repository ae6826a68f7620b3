"""The numbers of a report as text, for every renderer and language. Each renderer escapes for its own medium."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from contextcliff.records.amounts import Quantity
from contextcliff.records.analysis import Bin, LimitName, SafeCap
from contextcliff.records.kv_cache import AS_STARTED
from contextcliff.records.note import Note, as_it_is
from contextcliff.records.report import Report, RunRecord
from contextcliff.records.search_record import Search

MISSING = "-"
"""Stands for what was not measured; never for zero."""
TESTED: Mapping[Quantity, str] = {"score": "score", "healthy": "share of healthy rounds"}
MEANS: Mapping[Quantity, str] = {**TESTED, "score": "mean score"}
"""What the mean outcome of several samples is."""

LIMITS: Mapping[LimitName, Note] = {"quality": Note("quality"), "memory": Note("memory"), "latency": Note("latency")}
_STOPPED: Mapping[str, Note] = {
    "interrupted": Note("stopped by Ctrl-C"),
    "terminated": Note("stopped by SIGTERM"),
    "out of budget": Note("stopped by the budget"),
}


def kv_policy(run: RunRecord) -> Note | str:
    """The KV policy of a run, as reports name it."""
    return Note("as started (not checked)") if run.kv_policy == AS_STARTED else run.kv_policy


def whole(value: int | None) -> str:
    """A count or a number of tokens, with thousands separators."""
    return MISSING if value is None else f"{value:,}"


def score(value: float | None) -> str:
    """A score, 0-1."""
    return MISSING if value is None else f"{value:.2f}"


def small(value: float | None) -> str:
    """A figure to three decimals."""
    return MISSING if value is None else f"{value:.3f}"


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


def p_cell(value: float | None) -> str:
    """A p-value in a column of them."""
    return MISSING if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


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


def tally(counts: Mapping[str, int]) -> str:
    """Tags with their counts, the commonest first; equal counts in the order of the alphabet."""
    return ", ".join(f"{tag} x{count:,}" for tag, count in ranked(counts).items())


def ranked(counts: Mapping[str, int]) -> dict[str, int]:
    """Those that are there, the commonest first; equal counts in the order of the alphabet."""
    return {tag: counts[tag] for tag in sorted(counts, key=lambda tag: (-counts[tag], tag)) if counts[tag] > 0}


def commonest_failure(a_bin: Bin) -> str:
    """The most frequent failure tag of a length with its count, or a dash."""
    return tally(a_bin.failures).partition(", ")[0] or MISSING


def all_failures(report: Report) -> dict[str, int]:
    """Every failure tag of the run with its count, the commonest first."""
    return ranked(sum((Counter(a_bin.failures) for a_bin in report.analysis.lengths), Counter[str]()))


def threshold_score(report: Report) -> float | None:
    """The threshold as a score, 0-1; None where it is relative to a baseline that has no score, or not of scores."""
    cap = report.analysis.safe_cap
    return tested_threshold(cap) if cap.quantity == "score" else None


def tested_threshold(cap: SafeCap) -> float | None:
    """The threshold of what is tested, 0-1; None where it is relative to a baseline that has no score."""
    return cap.threshold_score if cap.relative_to_baseline else cap.threshold


def bound_name(cap: SafeCap, what: Quantity = "score") -> str:
    """Name of the one-sided lower bound of a mean: under a relative threshold, or one of another quantity, the cap
    isn't tested by it."""
    return "lower bound" if cap.relative_to_baseline or cap.quantity != what else "tested bound"


def up_to(tokens: int, *, at_least: bool) -> Note:
    """`2,047 tokens`, `at least 2,047 tokens`."""
    return Note("at least {tokens:,} tokens", tokens=tokens) if at_least else Note("{n:,} tokens", n=tokens)


def headline(report: Report) -> Note:
    """The answer in one line: how long a safe prompt can be, or why none is, or why that is not known."""
    cap = report.analysis.safe_cap
    behind: Note | str = ""
    if report.run.partial:
        behind = Note(" (PARTIAL: {stopped})", stopped=_STOPPED.get(report.run.stopped, Note("not all was asked")))
    why = None if cap.limit is None else cap.limit.why
    if cap.outcome == "below":
        why = why or Note("the shortest tested length is below the threshold")
        return Note("NOT SAFE: {why}{behind}", why=why, behind=behind)
    if cap.tokens is None:
        why = why or Note("no tested length was shown to be safe")
        return Note("UNDECIDED: {why}{behind}", why=why, behind=behind)
    confidence = percent(cap.holds_at)
    if not behind and cap.limited_by in ("memory", "latency"):
        limit = LIMITS[cap.limited_by]
        behind = Note(" (limited by {limit}, {confidence} confidence)", limit=limit, confidence=confidence)
    elif not behind:
        fraction = cap.fraction_of_max
        share = "" if fraction is None else Note(", {share} of the window", share=percent(fraction))
        behind = Note(" ({confidence} confidence{share})", confidence=confidence, share=share)
    return Note("SAFE CAP: {up_to}{behind}", up_to=up_to(cap.tokens, at_least=cap.at_least), behind=behind)


def threshold_name(cap: SafeCap) -> Note:
    """What a length has to clear: a score, or a share of the shortest length's."""
    share, each = percent(cap.threshold), Note(" by {metrics:and}", metrics=metric_names(cap)) if cap.metrics else ""
    if cap.quantity == "healthy":
        if cap.relative_to_baseline:
            return Note("{share} of the shortest length's healthy share", share=share)
        return Note("{share} of the rounds healthy", share=share)
    if cap.relative_to_baseline:
        return Note("{share} of the shortest length's score{each}", share=share, each=each)
    return Note("a score of {threshold:.2f}{each}", threshold=cap.threshold, each=each)


_METRICS = {"contains": Note("contains"), "f1": Note("F1"), "em": Note("exact match"), "rouge_l": Note("ROUGE-L")}
_IN_WORDS = {**_METRICS, "letter": Note("the letter of a choice"), "judge": Note("the judge's verdict")}


def metric_names(cap: SafeCap) -> tuple[Note, ...]:
    """By what the answers to questions are scored; a scorer of one's own is called as its module calls it."""
    return tuple(_IN_WORDS.get(name) or as_it_is(name) for name in cap.metrics)


def score_title(cap: SafeCap) -> str:
    """What heads a column of mean scores: the metric that made them, if it is one of ours alone."""
    return str(_METRICS.get("".join(cap.metrics), "score"))


def interval_words(report: Report) -> str:
    """What the subtitle of a figure calls intervals that are not adjusted for a search's stopping."""
    confidence = percent(report.analysis.safe_cap.confidence)
    unadjusted = "" if report.analysis.finding(Search) is None else " (not adjusted for the stopping of the search)"
    return f"{confidence} interval{unadjusted}"


def shown_interval(report: Report, low: float | None, high: float | None) -> str:
    """The interval of a length's mean. In a search its lower end can be the tested bound: it is rounded outward."""
    if report.analysis.finding(Search) is None or low is None or high is None:
        return interval(low, high)
    return f"{bound(low)}-{math.ceil(high * 100 - 1e-9) / 100:.2f}"
