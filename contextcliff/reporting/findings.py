"""The words of what was found beside the cap: half-life, position, guide, controls, judge.

As in `phrases`, nothing here is escaped, and all is plain ASCII apart from what the run itself brings.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from contextcliff.analysis.controls import ControlLevel
from contextcliff.analysis.guide import Guide, GuideRow
from contextcliff.analysis.half_life import HalfLife
from contextcliff.analysis.judgement import Judgement
from contextcliff.analysis.position import PositionPattern
from contextcliff.records.report import Report
from contextcliff.reporting import found_in, phrases

LEVEL_MARKS = {"safe": "[OK]", "caution": "[!!]", "danger": "[XX]"}

_MOST_LENGTHS = 4
"""So many lengths are named in a line; the rest are counted."""


def half_life(found: HalfLife) -> str:
    """The half-life in tokens with its interval, or that there is none and why."""
    if found.tokens is None:
        return f"none: {found.reason}" if found.reason else "none"
    beyond = ", beyond the longest test" if found.censored else ""
    return f"{found.tokens:,} tokens{_ends(found)}{beyond}"


def _ends(found: HalfLife) -> str:
    low, high = found.ci_low, found.ci_high
    if low is None:
        return "" if high is None else f" (up to {high:,})"
    return f" ({low:,} and up)" if high is None else f" ({low:,}-{high:,})"


def p_value(value: float) -> str:
    """A p-value, 0-1; a tiny one isn't shown as zero."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def pattern_name(found: PositionPattern) -> str:
    """The pattern with its p-value, where one was tested."""
    if found.pattern is None:
        return "not tested"
    name = found.pattern.replace("_", " ")
    return name if found.p_value is None else f"{name} ({p_value(found.p_value)})"


def guide_lines(guide: Guide) -> Iterator[tuple[str, str]]:
    """A line for each range of neighbouring lengths at one level, with that level."""
    for level, run in itertools.groupby(guide.rows, key=lambda row: row.level):
        rows = list(run)
        yield level, f"{LEVEL_MARKS.get(level, '[??]')} {level:<10} {_range(rows)} tokens{_doubt(rows)}"


def _range(rows: Sequence[GuideRow]) -> str:
    first, last = rows[0].asked_tokens, rows[-1].asked_tokens
    return f"{first:,}" if len(rows) == 1 else f"{first:,} - {last:,}"


def _doubt(rows: Sequence[GuideRow]) -> str:
    """What keeps a range from being sure: intervals that reach into another one."""
    sure = sum(row.sure for row in rows)
    if sure == len(rows):
        return ""
    return f", sure at {sure} of {len(rows)} lengths" if sure else ", not sure"


def uninformative(controls: Sequence[ControlLevel]) -> str:
    """Which lengths can't show a cliff, by their controls; empty where all can."""
    lengths = [f"{level.asked_tokens:,}" for level in controls if not level.informative]
    if not lengths:
        return ""
    if len(lengths) == len(controls):
        return "no length can show a cliff (low ceiling or high floor)"
    more = len(lengths) - _MOST_LENGTHS
    named = ", ".join(lengths[:_MOST_LENGTHS]) + (f" and {more:,} more" if more > 0 else "")
    return f"no cliff can show at {named} tokens (low ceiling or high floor)"


def judge(found: Judgement) -> str:
    """How often the judge and the exact score disagree, in one line."""
    if found.share is None:
        return f"{found.judge} rated none of {found.n_unjudged:,} answers"
    rating = "" if found.mean_rating is None else f"; mean rating {found.mean_rating:.1f}"
    return f"{found.judge} disagrees in {disagreement(found)} of {found.n_judged:,}{rating}"


def disagreement(found: Judgement) -> str:
    """The share of answers on which the judge and the exact score disagree, with its interval."""
    if found.share is None:
        return phrases.MISSING
    low, high = found.ci_low, found.ci_high
    ends = "" if low is None or high is None else f" ({phrases.percent(low)}-{phrases.percent(high)})"
    return f"{phrases.percent(found.share)}{ends}"


def summary(report: Report) -> tuple[tuple[str, str], ...]:
    """A line for each finding, as pairs of a name and a value; only what there is something to say of."""
    rows = []
    if report.analysis.bins:
        rows.append(("Half-life", half_life(found_in.half_life(report))))
    if found_in.position(report).pattern is not None:
        rows.append(("Position", pattern_name(found_in.position(report))))
    doubt = uninformative(found_in.controls(report))
    if doubt:
        rows.append(("Controls", doubt))
    judged = found_in.judgement(report)
    if judged is not None:
        rows.append(("Judge", judge(judged)))
    return tuple(rows)
