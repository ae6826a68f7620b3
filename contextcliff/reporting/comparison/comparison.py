"""What a comparison of several runs holds, and its rows: one a run, and one a run and length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.reporting import phrases
from contextcliff.reporting.comparison.compared_run import ComparedRun
from contextcliff.reporting.comparison.comparison_part import PartResult
from contextcliff.reporting.data_files import Row


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Several runs, how their findings compare, and what a reader has to know of it."""

    name: str
    runs: tuple[ComparedRun, ...]
    parts: tuple[PartResult, ...]
    notes: tuple[str, ...]


def cap(run: ComparedRun) -> str:
    """The safe cap of a run."""
    if run.report is None:
        return phrases.MISSING
    tokens = run.report.analysis.safe_cap.tokens
    return "none" if tokens is None else f"{tokens:,}"


def verdict(run: ComparedRun) -> str:
    """What its analysis found, in a word or two."""
    return f"by {run.tool}" if run.report is None else run.report.analysis.safe_cap.verdict.replace("_", " ")


def score(run: ComparedRun) -> str:
    """The mean over all its samples."""
    return (
        phrases.MISSING if run.report is None or run.report.analysis.mean is None else f"{run.report.analysis.mean:.3f}"
    )


def lengths(run: ComparedRun) -> str:
    """How many lengths, and from which to which."""
    if len(run.lengths) < 2:
        return f"{run.lengths[0]:,}" if run.lengths else phrases.MISSING
    return f"{len(run.lengths)}: {run.lengths[0]:,}-{run.lengths[-1]:,}"


def length_rows(comparison: Comparison) -> list[Row]:
    """A row a run and length in tokens: its score, and the columns of every part."""
    return [row for run in comparison.runs for row in _of_run(run, comparison.parts)]


def _of_run(run: ComparedRun, parts: Sequence[PartResult]) -> list[Row]:
    report = run.report
    identity: Row = {
        "run": run.name,
        "run_id": run.run_id,
        "task": report.run.task if report else run.parameters.get("task"),
        "model": run.parameters.get("model"),
        "kv_policy": report.run.kv_policy if report else None,
        "rope": report.run.rope or None if report else None,
        "dataset": report.run.dataset if report else None,
        "label": run.parameters.get("label") or None,
    }
    bins = {a_bin.asked_tokens: a_bin for a_bin in report.analysis.bins} if report else {}
    rows = []
    for tokens in run.lengths:
        a_bin = bins.get(tokens)
        row: Row = {
            **identity,
            "context_length": tokens,
            "score": a_bin.mean if a_bin else None,
            "score_std": a_bin.std if a_bin else None,
            "score_n": a_bin.n_samples if a_bin else None,
        }
        for part in parts:
            row |= dict.fromkeys(part.columns) | part.cells.get((run.name, tokens), {})
        rows.append(row)
    return rows
