"""The verdicts on candidates that were compared with a baseline, pair by pair: sentences, tables and data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from contextcliff.analysis.walk import LOW_BASELINE
from contextcliff.findings import phrases
from contextcliff.findings.drawing import SMALL, blank, heading, legend_under, short
from contextcliff.findings.finding import Block, Column, Heading, Table, Text, columns_of
from contextcliff.findings.fitted_length import FittedLengths, FittedShift, fitted_shift
from contextcliff.findings.kv_cache import KVCache, memory_words
from contextcliff.records.amounts import QUANTITIES, Quantity
from contextcliff.records.comparison import CandidateVerdict, Difference, PairedDecision
from contextcliff.reporting.comparison.comparison import ComparedRun, Comparison, DecidedRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SENTENCES: Mapping[CandidateVerdict, str] = {
    "worse": "{name} is worse than {baseline}{where}: {size}",
    "better": "{name} is better than {baseline}{where}: {size}",
    "not_worse": "{name} is not worse than {baseline} by {margin} or more: {size}",
    "unknown": "{name}: can't tell whether it is worse than {baseline} by {margin}: {size}{more}",
}
_LOW = f"the baseline scores under {LOW_BASELINE:g} at every length, and equal failures show nothing"
_SIZES: Mapping[Quantity, str] = {"score": "on average", "healthy": "in the share of healthy rounds"}
WORDS: Mapping[CandidateVerdict, str] = {
    "worse": "worse",
    "better": "better",
    "not_worse": "not worse",
    "unknown": "can't tell",
}


def points(share: float) -> str:
    """A difference of mean scores in points of a hundred, with its sign."""
    shown = f"{100.0 * share:+.1f}"
    return "0.0" if shown in ("+0.0", "-0.0") else shown


def interval(difference: Difference) -> str:
    """Both ends, in points."""
    return f"{points(difference.low)} to {points(difference.high)}"


def answer(decided: DecidedRun, *, baseline: str) -> str:
    """The verdict in a sentence."""
    decision = decided.decision
    if decision is None:
        return f"{decided.run.name}: no verdict against {baseline}, {decided.why_none}"
    shift = decision.better if decision.verdict == "better" else decision.worse
    judged = decision.judged
    where = _SIZES[decision.quantity] if judged is decision.overall else f"at {decision.longest_tokens:,} tokens"
    shown_at = ", ".join(f"{tokens:,}" for tokens in shift.lengths)
    return _SENTENCES[decision.verdict].format(
        name=decided.run.name,
        baseline=baseline,
        where=f" (shown at {shown_at} tokens asked)" if shown_at else "",
        margin=f"{100.0 * decision.margin:g} points",
        size=f"{points(judged.mean)} points {where} ({interval(judged)}), {judged.n_pairs:,} pairs",
        more=f"; {_LOW}" if decision.low_baseline else f"; {more}" if (more := more_pairs(decision)) else "",
    )


def more_pairs(decision: PairedDecision) -> str:
    """The pairs that are likely to settle it; empty if none are known."""
    if decision.more_pairs is None:
        return ""
    more = f"about {decision.more_pairs:,} more are likely to show it"
    if decision.longest is None:
        return more
    key = f" (task.longest_pairs={decision.longest.n_pairs + decision.more_pairs})" if decision.sequential else ""
    return f"{more} there{key}"


def gate_line(decided: Sequence[DecidedRun], *, baseline: str, on_unknown: bool) -> str | None:
    """Why a release gate is closed, in one line; None if it is open. With `on_unknown` undecided candidates close it
    too."""
    closed = []
    for each in decided:
        name, decision = each.run.name, each.decision
        size = "" if decision is None else f"{points(decision.overall.mean)} points ({interval(decision.overall)})"
        if decision is not None and decision.verdict == "worse":
            closed.append(f"{name} is worse, {size}, {phrases.p_value(decision.worse.p_of_all)}")
        elif on_unknown and decision is None:
            closed.append(f"{name} has no verdict, {each.why_none}")
        elif on_unknown and decision is not None and decision.verdict == "unknown":
            closed.append(f"{name} may be worse, {size}")
    key = "action.gate_on_unknown=true" if on_unknown else "action.gate=true"
    return f"{key}: against {baseline}: {'; '.join(closed)}" if closed else None


def method_notes(decided: Sequence[DecidedRun]) -> Iterator[str]:
    """What the figures of the verdicts mean."""
    decisions = [each.decision for each in decided if each.decision is not None]
    if not decisions:
        return
    first = decisions[0]
    level = phrases.percent(first.confidence)
    yield (
        f"a difference is the candidate's {phrases.MEANS[first.quantity]} minus the baseline's, in points of a hundred,"
        f" over samples that both were asked, each length counting alike; each end of its interval holds by itself at"
        f" {level}"
    )
    several = f", corrected for {len(decisions)} candidates by Holm" if len(decisions) > 1 else ""
    if any(each.sequential for each in decisions):
        yield (
            "a search chose how many samples a length got, so bets on pairs decide: p is 1 divided by their e-value,"
            f" and holds whenever a run stopped{several}"
        )
    if not all(each.sequential for each in decisions):
        yield (
            "p is that of the exact test of signs toward worse, over all lengths and, corrected by Holm, at each: twice"
            f" the smaller{several}"
        )


def matching_notes(decided: DecidedRun) -> Iterator[str]:
    """What is no part of the comparison, with counts."""
    decision = decided.decision
    if decision is None:
        return
    counts = {
        "only the baseline was asked": decision.only_baseline,
        "only it was asked": decision.only_candidate,
        "have another prompt under the same id": decision.other_prompt,
        "were not sent by one of them": decision.not_sent,
        "were too long for both servers": decision.too_long,
    }
    if left_out := ", ".join(f"{count:,} {what}" for what, count in counts.items() if count):
        yield f"{decided.run.name}: samples that are no pairs: {left_out}"
    if decision.n_unscored:
        yield (
            f"{decided.run.name}: {decision.n_unscored:,} pairs lack a score; each verdict has to hold if all of them"
            f" tell against it, and the lower end would then be {points(decision.worst_low)} points"
        )
    if decision.overall.n_units < decision.overall.n_pairs:
        yield (
            f"{decided.run.name}: its {decision.overall.n_pairs:,} pairs share texts or questions and are"
            f" {decision.overall.n_units:,} independent pieces of evidence"
        )


def verdict_columns(decided: Sequence[DecidedRun]) -> tuple[Column, ...]:
    """A row for each candidate."""
    head = ("candidate", "verdict", "points", "interval", "p", "pairs")
    rows = []
    for each in decided:
        row = ("no verdict", *(phrases.MISSING for _ in head[2:]))
        if (decision := each.decision) is not None:
            judged, shift = decision.judged, decision.better if decision.verdict == "better" else decision.worse
            size = (points(judged.mean), interval(judged), phrases.p_cell(shift.p_of_all), f"{judged.n_pairs:,}")
            row = (WORDS[decision.verdict], *size)
        rows.append((each.run.name, *row))
    return columns_of(head, rows, words=("candidate", "verdict"))


def verdict_blocks(comparison: Comparison) -> tuple[Block, ...]:
    """The answer in sentences, and what it rests on at each length."""
    base, decided = comparison.baseline, comparison.decided
    answers = (Text(text=answer(each, baseline=base.name), strong=True) for each in decided)
    lengths = (block for each in decided for block in _of_lengths(each, base))
    return (*answers, Table(columns=verdict_columns(decided)), _beside(base, decided), *lengths)


def _of_lengths(decided: DecidedRun, base: ComparedRun) -> Iterator[Block]:
    decision = decided.decision
    if decision is None:
        return
    yield Heading(text=f"{decided.run.name}, by length")
    rows = [
        (
            *(f"{n:,}" for n in (each.context_tokens, d.n_pairs, d.worse, d.better)),
            *(phrases.score(d.baseline_mean), phrases.score(d.candidate_mean), points(d.mean), interval(d)),
            *(phrases.p_cell(each.p_worse), phrases.p_cell(each.p_worse_corrected)),
        )
        for each in decision.lengths
        for d in (each.difference,)
    ]
    head = ("asked", "pairs", "worse", "better", "baseline", "candidate", "points", "interval", "p worse", "corrected")
    yield Table(columns=columns_of(head, rows))
    if (area := decision.area) is not None:
        yield Text(
            text=f"Area under the {QUANTITIES[decision.quantity]} over log length: {points(area.mean)} points"
            f" ({interval(area)}), each doubling of the length counting alike."
        )
    shift = _shift_of(base, decided.run)
    if shift is not None:
        ends = [phrases.MISSING if end is None else f"{end:+.2f}" for end in (shift.ci_low, shift.ci_high)]
        yield Text(
            text=f"Fitted x80, an estimate: {shift.candidate_tokens:,} tokens against {shift.baseline_tokens:,}, a"
            f" shift of {shift.octaves:+.2f} octaves ({ends[0]} to {ends[1]}; wide, since it takes both runs as"
            " independent)."
        )


def _shift_of(base: ComparedRun, candidate: ComparedRun) -> FittedShift | None:
    one, other = (run.report and run.report.analysis.finding(FittedLengths) for run in (base, candidate))
    return fitted_shift(one.x80, other.x80) if one and other else None


def _beside(base: ComparedRun, decided: Sequence[DecidedRun]) -> Table:
    runs = [base, *(each.run for each in decided)]
    longest = max(set.intersection(*(set(run.lengths) for run in runs)), default=None)
    head = ("run", "asked", "first token", "time", "KV cache", "prompt tokens computed", "tokens/s", "USD")
    return Table(columns=columns_of(head, [_took(run, longest) for run in runs], words=("run",)))


def _took(run: ComparedRun, tokens: int | None) -> tuple[str, ...]:
    report = run.report
    if report is None:
        return (run.name, *(phrases.MISSING for _ in range(7)))
    at = next((each for each in report.analysis.bins if each.asked_tokens == tokens), None)
    cache, usage = report.analysis.finding(KVCache), report.usage
    gib = None if cache is None or at is None else cache.facts.gib(at.asked_tokens)
    return (
        run.name,
        phrases.MISSING if at is None else f"{at.asked_tokens:,}",
        phrases.milliseconds(at.ttft_ms_median if at else None),
        phrases.milliseconds(at.latency_ms_median if at else None),
        phrases.MISSING if gib is None else memory_words(gib),
        f"{usage.computed_prompt_tokens:,}",
        f"{usage.prompt_tokens / usage.wall_s:,.0f}" if usage.wall_s > 0.0 else phrases.MISSING,
        phrases.MISSING if usage.usd is None else f"{usage.usd:,.2f}",
    )


def decision_data(decided: DecidedRun, base: ComparedRun) -> dict[str, object]:
    """A candidate in `comparison.json`, every figure in full precision."""
    run, decision, shift = decided.run, decided.decision, _shift_of(base, decided.run)
    told = {"name": run.name, "run_id": run.run_id, "verdict": decision and decision.verdict}
    found = {"decision": decision and asdict(decision), "x80_shift": shift and asdict(shift)}
    return {**told, "reason": decided.why_none or None, **found}


_WIDTH, _ROW, _EDGE = 7.0, 0.24, 0.35
_LONGEST = 40
"""Characters of a name that leave room for the picture."""
LOOKS: dict[CandidateVerdict, tuple[str, str]] = {
    "worse": ("#b3261e", "v"),
    "better": ("#1f5fa8", "^"),
    "not_worse": ("#2e7d32", "o"),
    "unknown": ("0.45", "s"),
}
"""Colour and mark of a verdict: told apart without the colour."""


def forest_figure(decisions: Sequence[tuple[str, PairedDecision]], *, baseline: str) -> Figure:
    """Draw the differences of at least one candidate, given by name, and of each of its lengths."""
    from matplotlib.lines import Line2D

    first = decisions[0][1]
    lines: list[tuple[str, Difference, CandidateVerdict | None]] = []  # a length has no verdict of its own
    for name, decision in decisions:
        lines.append((short(name, _LONGEST), decision.judged, decision.verdict))
        lines += [(f"{each.context_tokens:,}", each.difference, None) for each in decision.lengths]
    height = _ROW * len(lines) + 2 * _EDGE
    figure, axes = blank(width=_WIDTH, height=height)
    reach = max(2.0 * first.margin, *(abs(end) for _, each, _ in lines for end in (each.low, each.high)))
    axes.set_xlim(-108.0 * reach, 108.0 * reach)
    axes.set_ylim(len(lines) - 0.5 + _EDGE / _ROW, -0.5 - _EDGE / _ROW)
    axes.axvspan(-100.0 * first.margin, 0.0, color="0.93", zorder=0)
    axes.axvline(0.0, color="0.3", linewidth=1.0)
    axes.axvline(-100.0 * first.margin, color="#b3261e", linewidth=1.0, linestyle=(0, (4, 2)))
    axes.set_yticks(range(len(lines)), labels=[name for name, _, _ in lines], fontsize=SMALL)
    for place, (label, (_, difference, verdict)) in enumerate(zip(axes.get_yticklabels(), lines, strict=True)):
        colour, mark = ("0.35", ".") if verdict is None else LOOKS[verdict]
        width, size, weight = (1.1, 5, "normal") if verdict is None else (2.2, 7, "bold")
        ends = [100.0 * difference.low, 100.0 * difference.high]
        axes.plot(ends, [place, place], color=colour, linewidth=width, solid_capstyle="butt")
        axes.plot([100.0 * difference.mean], [place], mark, color=colour, markersize=size)
        label.set_fontweight(weight)
        axes.annotate(
            f"n {difference.n_pairs:,}", (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=SMALL,
            color="0.35", fontweight=weight,
        )  # fmt: skip
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=SMALL)
    mean = phrases.MEANS[first.quantity]
    axes.set_xlabel(f"difference of the {mean} from the baseline's, in points of a hundred", fontsize=9)
    subtitle = (
        f"Left of 0 is worse; dashed: the margin of {100.0 * first.margin:g} points. Each end of an interval holds "
        f"at {first.confidence:.0%}"
    )
    heading(axes, title=f"Differences from {baseline}", subtitle=subtitle, inches=_WIDTH, above=10)
    handles = [
        Line2D([], [], color=LOOKS[v][0], marker=LOOKS[v][1], linewidth=2.2, markersize=7, label=WORDS[v])
        for v in dict.fromkeys(decision.verdict for _, decision in decisions)
    ]
    legend_under(axes, drop=0.55 / height, handles=handles, ncols=4)
    return figure
