"""The verdicts on candidates as tables and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Heading, Table, Text
from contextcliff.findings.fitted_length import FittedLengths, FittedShift, fitted_shift
from contextcliff.findings.kv_cache import KVCache, memory_words
from contextcliff.records.amounts import QUANTITIES
from contextcliff.records.analysis import Bin
from contextcliff.records.comparison import PairedDecision
from contextcliff.reporting.comparison.comparison import ComparedRun, Comparison, DecidedRun
from contextcliff.reporting.comparison.verdict_words import WORDS, answer, interval, points

HEAD = ("verdict", "points", "interval", "p", "pairs")
_P = ".3f"


def cells(decided: DecidedRun) -> tuple[str, ...]:
    """The row of a candidate, under `HEAD`."""
    decision = decided.decision
    if decision is None:
        return ("no verdict", *(phrases.MISSING for _ in HEAD[1:]))
    overall = decision.overall
    shift = decision.better if decision.verdict == "better" else decision.worse
    pairs = f"{overall.n_pairs:,}"
    return (WORDS[decision.verdict], points(overall.mean), interval(overall), _p(shift.p_of_all), pairs)


def verdict_blocks(comparison: Comparison) -> tuple[Block, ...]:
    """The answer in sentences, and what it rests on at each length."""
    if comparison.baseline is None:
        return ()
    base = comparison.baseline
    answers = tuple(Text(text=answer(each, baseline=base.name), strong=True) for each in comparison.decided)
    rows = [cells(each) for each in comparison.decided]
    names = tuple(each.run.name for each in comparison.decided)
    table = Table(
        columns=(
            Column(title="candidate", cells=names, words=True),
            *(
                Column(title=title, cells=tuple(row[place] for row in rows), words=title == "verdict")
                for place, title in enumerate(HEAD)
            ),
        )
    )
    lengths = (block for each in comparison.decided for block in _of_lengths(each, base))
    return (*answers, table, _beside(base, comparison.decided), *lengths)


def _of_lengths(decided: DecidedRun, base: ComparedRun) -> tuple[Block, ...]:
    decision = decided.decision
    if decision is None:
        return ()
    rows = [(f"{each.context_tokens:,}", each.difference, each) for each in decision.lengths]
    columns = (
        Column(title="tokens", cells=tuple(name for name, _, _ in rows)),
        Column(title="pairs", cells=tuple(f"{d.n_pairs:,}" for _, d, _ in rows)),
        Column(title="worse", cells=tuple(f"{d.worse:,}" for _, d, _ in rows)),
        Column(title="better", cells=tuple(f"{d.better:,}" for _, d, _ in rows)),
        Column(title="baseline", cells=tuple(phrases.score(d.baseline_mean) for _, d, _ in rows)),
        Column(title="candidate", cells=tuple(phrases.score(d.candidate_mean) for _, d, _ in rows)),
        Column(title="points", cells=tuple(points(d.mean) for _, d, _ in rows)),
        Column(title="interval", cells=tuple(interval(d) for _, d, _ in rows)),
        Column(title="p worse", cells=tuple(_p(each.p_worse) for _, _, each in rows)),
        Column(title="corrected", cells=tuple(_p(each.p_worse_corrected) for _, _, each in rows)),
    )
    area = decision.area
    return (
        Heading(text=f"{decided.run.name}, by length"),
        Table(columns=columns),
        *(
            ()
            if area is None
            else (
                Text(
                    text=f"Area under the {QUANTITIES[decision.quantity]} over log length: {points(area.mean)} points"
                    f" ({interval(area)}), each doubling of the length counting alike."
                ),
            )
        ),
        *(() if (shift := shift_of(base, decided.run)) is None else (Text(text=_shift(shift)),)),
    )


def shift_of(base: ComparedRun, candidate: ComparedRun) -> FittedShift | None:
    """The shift of the fitted x80; None where one of the runs has none."""
    fitted = [None if run.report is None else run.report.analysis.finding(FittedLengths) for run in (base, candidate)]
    if fitted[0] is None or fitted[1] is None:
        return None
    return fitted_shift(fitted[0].x80, fitted[1].x80)


def _shift(shift: FittedShift) -> str:
    ends = [phrases.MISSING if end is None else f"{end:+.2f}" for end in (shift.ci_low, shift.ci_high)]
    return (
        f"Fitted x80, an estimate: {shift.candidate_tokens:,} tokens against {shift.baseline_tokens:,}, a shift of"
        f" {shift.octaves:+.2f} octaves ({ends[0]} to {ends[1]}; wide, since it takes both runs as independent)."
    )


def _beside(base: ComparedRun, decided: Sequence[DecidedRun]) -> Table:
    """What the runs took, at the longest length that all of them have."""
    runs = [base, *(each.run for each in decided)]
    bins = [_at(run, _longest_common(runs)) for run in runs]
    usage = [None if run.report is None else run.report.usage for run in runs]
    return Table(
        columns=(
            Column(title="run", cells=tuple(run.name for run in runs), words=True),
            Column(title="tokens", cells=tuple(phrases.MISSING if b is None else f"{b.asked_tokens:,}" for b in bins)),
            Column(
                title="median TTFT", cells=tuple(phrases.milliseconds(b.ttft_ms_median if b else None) for b in bins)
            ),
            Column(
                title="median latency",
                cells=tuple(phrases.milliseconds(b.latency_ms_median if b else None) for b in bins),
            ),
            Column(title="KV cache", cells=tuple(_cache(run, b) for run, b in zip(runs, bins, strict=True))),
            Column(
                title="prompt tokens computed",
                cells=tuple(phrases.MISSING if u is None else f"{u.computed_prompt_tokens:,}" for u in usage),
            ),
            Column(
                title="tokens/s",
                cells=tuple(phrases.MISSING if u is None else _rate(u.prompt_tokens, u.wall_s) for u in usage),
            ),
            Column(
                title="USD",
                cells=tuple(phrases.MISSING if u is None or u.usd is None else f"{u.usd:,.2f}" for u in usage),
            ),
        )
    )


def _longest_common(runs: Sequence[ComparedRun]) -> int | None:
    common = set.intersection(*(set(run.lengths) for run in runs))
    return max(common, default=None)


def _at(run: ComparedRun, tokens: int | None) -> Bin | None:
    bins = () if run.report is None else run.report.analysis.bins
    return next((a_bin for a_bin in bins if a_bin.asked_tokens == tokens), None)


def _cache(run: ComparedRun, at: Bin | None) -> str:
    """Memory of the cache at that length, by the model's metadata."""
    found = None if run.report is None else run.report.analysis.finding(KVCache)
    gib = None if found is None or at is None else found.facts.gib(at.asked_tokens)
    return phrases.MISSING if gib is None else memory_words(gib)


def _rate(tokens: int, seconds: float) -> str:
    return f"{tokens / seconds:,.0f}" if seconds > 0.0 else phrases.MISSING


def decision_data(decided: DecidedRun, base: ComparedRun | None) -> dict[str, object]:
    """A candidate in `comparison.json`, every figure in full precision."""
    decision: PairedDecision | None = decided.decision
    shift = None if base is None else shift_of(base, decided.run)
    return {
        "name": decided.run.name,
        "run_id": decided.run.run_id,
        "verdict": None if decision is None else decision.verdict,
        "reason": decided.why_none or None,
        "decision": None if decision is None else asdict(decision),
        "x80_shift": None if shift is None else asdict(shift),
    }


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else format(value, _P)
