"""What a comparison of several runs holds, and its rows: one a run, and one a run and length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.file_names import file_name
from contextcliff.writing.analysis.contest import WritingContest
from contextcliff.writing.analysis.levels import level_of
from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.prose_findings import MeasureLevel, Writing
from contextcliff.writing.sections.contest_words import COMPOSITES
from contextcliff.writing.sections.writing_rows import Cell, Row


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedRun:
    """A run of ours, with its report, or one of another tool, without."""

    name: str
    run_id: str
    source: str
    """Where it was read."""
    parameters: Mapping[str, str]
    report: Report | None
    writing: Writing | None
    tool: str = ""
    """Whose run it is, where it isn't ours."""
    rules: str = ""
    """Whose rules it was measured by, where they aren't ours."""
    keeps_texts: bool = False
    """Whether what another tool's run wrote is at hand."""
    remeasured: bool = False
    """Whether that was measured by our rules."""

    @property
    def folder(self) -> str:
        """The last part of where it was read: it tells two reports of one run apart."""
        return file_name(self.source)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The tested lengths in tokens, ascending."""
        if self.report is not None and self.report.bins:
            return tuple(sorted(a_bin.asked_tokens for a_bin in self.report.bins))
        return tuple(tier.context_tokens for tier in self.writing.tiers) if self.writing else ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Several runs, how their prose compares, and what a reader has to know of it."""

    name: str
    runs: tuple[ComparedRun, ...]
    contests: tuple[WritingContest, ...]
    notes: tuple[str, ...]

    @property
    def writing_runs(self) -> tuple[ComparedRun, ...]:
        """Those that wrote, where there are at least two."""
        found = tuple(run for run in self.runs if run.writing is not None)
        return found if len(found) > 1 else ()


def cap(run: ComparedRun) -> str:
    """The safe cap of a run."""
    if run.report is None:
        return phrases.MISSING
    tokens = run.report.safe_cap.tokens
    return "none" if tokens is None else f"{tokens:,}"


def verdict(run: ComparedRun) -> str:
    """What its analysis found, in a word or two."""
    return f"by {run.tool}" if run.report is None else run.report.safe_cap.verdict.replace("_", " ")


def score(run: ComparedRun) -> str:
    """The mean over all its samples."""
    return phrases.MISSING if run.report is None or run.report.mean is None else f"{run.report.mean:.3f}"


def lengths(run: ComparedRun) -> str:
    """How many lengths, and from which to which."""
    found = run.lengths
    if len(found) < 2:
        return f"{found[0]:,}" if found else phrases.MISSING
    return f"{len(found)}: {found[0]:,}-{found[-1]:,}"


def length_rows(runs: Sequence[ComparedRun]) -> list[Row]:
    """A row a run and length: its score, and mean, standard deviation and rounds of every measure."""
    return [row for run in runs for row in _of_run(run)]


def _of_run(run: ComparedRun) -> list[Row]:
    report = run.report
    told: Row = {
        "run": run.name,
        "run_id": run.run_id,
        "task": report.task if report else run.parameters.get("task"),
        "model": run.parameters.get("model"),
        "kv_policy": report.kv_policy if report else None,
        "rope": report.rope or None if report else None,
        "dataset": report.dataset if report else None,
        "label": run.parameters.get("label") or None,
    }
    bins = {a_bin.asked_tokens: a_bin for a_bin in report.bins} if report else {}
    tiers = {tier.context_tokens: tier for tier in run.writing.tiers} if run.writing else {}
    rows = []
    for tokens in sorted({*bins, *tiers}):
        a_bin, tier = bins.get(tokens), tiers.get(tokens)
        row: Row = {
            **told,
            "context_length": tokens,
            "score": a_bin.mean if a_bin else None,
            "score_std": a_bin.std if a_bin else None,
            "score_n": a_bin.n_samples if a_bin else None,
        }
        for name in (*COMPOSITES, *BY_NAME):
            row |= _cells(name, level_of(tier, name) if tier else None)
        rows.append(row)
    return rows


def _cells(name: str, level: MeasureLevel | None) -> dict[str, Cell]:
    if level is None or level.mean is None:
        return {name: None, f"{name}_std": None, f"{name}_n": None}
    return {name: level.mean, f"{name}_std": level.std, f"{name}_n": level.n}
