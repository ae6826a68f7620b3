"""A comparison as its files and on the console."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path

from rich.console import Console
from rich.table import Table as ConsoleTable

from contextcliff.datasets.local_files import UnreadableFile, json_of
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Image, Lines, Table, Text, columns_of
from contextcliff.findings.published import published_blocks, sources
from contextcliff.records.report import SCHEMA_VERSION
from contextcliff.reporting.comparison import verdicts
from contextcliff.reporting.comparison.comparison import ComparedRun, Comparison
from contextcliff.reporting.console import folding, print_rows
from contextcliff.reporting.data_files import Row, csv_text, json_text, replacing_together, write_text
from contextcliff.reporting.figures import curves_figure, write_figure
from contextcliff.reporting.markdown import Chapter, joined, markdown_of_all
from contextcliff.reporting.page.markup import page_of
from contextcliff.reporting.run_names import with_file_names
from contextcliff.reporting.schema import plain
from contextcliff.reporting.text import shown
from contextcliff.statistics.descriptive import mean_of

_OBJECT, _PAGE, _UNNAMED = "comparison.json", "comparison.html", "comparison"
_DRAWN = ("curves", "differences", "writing_core", "writing_measures", "memory")
"""Every figure that a comparison can have."""
Compared = tuple[str, str, bool]
"""A run in a comparison: its id, the folder or file that it was read from, and whether it was measured anew."""
_OF_PARTS: Mapping[str, object] = {
    **{"measures": [], "measure_differences": [], "kv_policies": [], "recommended_policy": None},
    **{"recommended_overrides": None, "recommended_commands": []},
}
"""Keys of `comparison.json` where no part gives them a value."""
_HEAD = ("run", "safe cap", "shape", "mean of lengths", "asked")


def runs_of(compared: Sequence[ComparedRun] | Path) -> frozenset[Compared] | None:
    """Which runs are compared, or were in a comparison's folder; None where there is none that can be read."""
    if not isinstance(compared, Path):
        return frozenset((run.run_id, run.folder, run.remeasured) for run in compared)
    try:
        stored = json_of(compared / _OBJECT)["runs"]
        return frozenset((run["run_id"], run["source"], run.get("remeasured", False)) for run in stored)
    except (UnreadableFile, KeyError, TypeError, AttributeError):
        return None


def place_of(runs: Sequence[ComparedRun], *, comparisons: Path) -> Path:
    """The folder of a comparison without a name: that of the same runs, or the first that is free."""
    names = chain((_UNNAMED,), (f"{_UNNAMED}-{number}" for number in count(2)))
    folders = (comparisons / name for name in names)
    return next(each for each in folders if not (each / _OBJECT).exists() or runs_of(each) == runs_of(runs))


def write_comparison(comparison: Comparison, *, folder: Path, dpi: int | None, html: bool = True) -> None:
    """Write all files together, with `dpi` the figures, with `html` the page; what an earlier comparison left and this
    one lacks goes."""
    title, content = f"Comparison: {_subject(comparison)}", tuple(_content(comparison))
    images = [block for _, _, blocks in content for block in blocks if isinstance(block, Image)]
    drawings = {} if dpi is None else {each.name: each.draw() for each in images}
    paths = {name: f"{name}.png" for name in drawings}
    chapters = [
        Chapter(key=key, title=title, text=text)
        for key, title, blocks in content
        if (text := markdown_of_all(blocks, paths))
    ]
    earlier = (*(f"{name}.png" for name in _DRAWN), _PAGE, "writing.html")
    with replacing_together(folder, stale=earlier) as new:
        for name, drawing in drawings.items():
            write_figure(drawing, path=new / paths[name], dpi=dpi or 0)
        if html:
            candidates = ", ".join(run.name for run in comparison.runs[1:])
            subtitle = f"{candidates} against {comparison.baseline.name}"
            text = page_of(chapters, title=title, subtitle=subtitle, figures=drawings)
            write_text(path=new / _PAGE, text=text)
        rows = [row for run in comparison.runs for row in _length_rows(run, comparison)]
        write_text(path=new / _OBJECT, text=json_text(_object(comparison)))
        write_text(path=new / "comparison.csv", text=csv_text(rows))
        write_text(path=new / "comparison.md", text=joined(title, chapters))


def _subject(comparison: Comparison) -> str:
    models = dict.fromkeys(run.facts.model for run in comparison.runs)
    tasks = dict.fromkeys(run.facts.task for run in comparison.runs if run.facts.task)
    return ": ".join(", ".join(each) for each in (models, tasks) if each)


def _content(comparison: Comparison) -> Iterator[tuple[str, str, tuple[Block, ...]]]:
    decisions = [(each.run.name, each.decision) for each in comparison.decided if each.decision]
    forest = partial(verdicts.forest_figure, decisions, baseline=comparison.baseline.name)
    differences = Image(name="differences", caption="Differences from the baseline", draw=forest)
    yield "verdicts", "Verdicts", (*verdicts.verdict_blocks(comparison), *((differences,) if decisions else ()))
    yield "runs", "Runs", (Table(columns=columns_of(_HEAD, _run_cells(comparison), words=("run",))),)
    yield "published", "Published figures", published_blocks(comparison.published)
    notes = tuple(Text(text=note) for note in comparison.notes)
    yield "notes", "Read this first", ((Lines(lines=notes),) if notes else ())
    reports = {run.name: run.report for run in comparison.runs if run.report is not None}
    with_scores = {name: each for name, each in reports.items() if any(b.mean is not None for b in each.analysis.bins)}
    if with_scores:
        draw = partial(curves_figure, with_scores, published=comparison.published)
        yield "curves", "", (Image(name="curves", caption="Scores by length, and safe caps", draw=draw),)
    for place, part in enumerate(comparison.parts):
        yield f"part-{place}", part.title, part.blocks


def _object(comparison: Comparison) -> dict[str, object]:
    base, of_parts = comparison.baseline, dict(_OF_PARTS)
    for part in comparison.parts:
        of_parts |= part.data
    return {
        "schema_version": SCHEMA_VERSION,
        "name": comparison.name,
        "baseline": base.name,
        "candidates": [verdicts.decision_data(each, base) for each in comparison.decided],
        "runs": [_run(run, comparison) for run in comparison.runs],
        **of_parts,
        "published": [plain(curve) for curve in comparison.published],
        "notes": list(comparison.notes),
    }


def _run(run: ComparedRun, comparison: Comparison) -> dict[str, object]:
    report = run.report
    of_parts: dict[str, object] = {"writing_verdict": None}
    for part in comparison.parts:
        of_parts |= part.data_of_runs.get(run.name, {})
    return {
        **{"name": run.name, "run_id": run.run_id, "source": run.folder, "remeasured": run.remeasured},
        "tool": run.tool or "contextcliff",
        "task": report.run.task if report else None,
        "judged_by": with_file_names(report.run.judged_by) if report else {},
        "safe_cap": plain(report.analysis.safe_cap) if report else None,
        "caps": dict(report.analysis.caps) if report else {},
        "mean": report.analysis.mean if report else None,
        "lengths": list(run.lengths),
        **of_parts,
        "parameters": with_file_names(run.parameters),
    }


def _run_cells(comparison: Comparison) -> list[tuple[str, ...]]:
    rows = [_cells(run) for run in comparison.runs]
    for each in comparison.published:
        lengths = _in_short([point.tokens for point in each.points])
        rows.append((each.name, phrases.MISSING, "not tested", f"{each.mean:.3f}", lengths))
    return rows


def _cells(run: ComparedRun) -> tuple[str, ...]:
    """Cap, shape of its scores over length where it is known, mean of lengths, and lengths as asked."""
    if run.report is None:
        return (run.name, run.cap, f"by {run.tool}", phrases.MISSING, _in_short(run.lengths))
    cap, means = run.report.analysis.safe_cap, [b.mean for b in run.report.analysis.bins if b.mean is not None]
    shape = cap.shape or phrases.MISSING
    shape = shape if cap.shape is None or cap.evidence == "settled" else f"{shape}, {cap.evidence}"
    return (run.name, run.cap, shape, f"{mean_of(means):.3f}" if means else phrases.MISSING, _in_short(run.lengths))


def _in_short(lengths: Sequence[int]) -> str:
    if len(lengths) < 2:
        return f"{lengths[0]:,}" if lengths else phrases.MISSING
    return f"{len(lengths)}: {lengths[0]:,}-{lengths[-1]:,}"


def _length_rows(run: ComparedRun, comparison: Comparison) -> list[Row]:
    report, decided = run.report, comparison.decided
    decision = next((each.decision for each in decided if each.run.name == run.name), None)
    differences = {each.context_tokens: each for each in decision.lengths} if decision else {}
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
    bins = {each.asked_tokens: each for each in report.analysis.bins} if report else {}
    rows = []
    for tokens in run.lengths:
        scores = _figures(bins.get(tokens), score="mean", score_std="std", score_n="n_samples")
        row: Row = {**identity, "context_length": tokens, **scores}
        if decided:  # the columns of the difference, empty for the baseline itself
            at = differences.get(tokens)
            ends = {"difference_low": "low", "difference_high": "high", "difference_pairs": "n_pairs"}
            row |= _figures(at and at.difference, difference="mean", **ends) | _figures(at, p_worse="p_worse")
        for part in comparison.parts:
            row |= dict.fromkeys(part.columns) | part.cells.get((run.name, tokens), {})
        rows.append(row)
    return rows


def _figures(of: object, **attributes: str) -> Row:
    return {column: None if of is None else getattr(of, name) for column, name in attributes.items()}


def render_comparison(comparison: Comparison, *, console: Console, folder: Path, place: str | None = None) -> None:
    """Print it, readable at 80 columns; `place` is where a tracker keeps it."""

    def heading(text: str) -> None:
        console.print(f"\n{text}", style="bold", highlight=False)

    def items(lines: Iterable[str]) -> None:
        print_rows(console, (("-", _ascii(line)) for line in lines))

    subject = shown(f"COMPARISON: {_ascii(_subject(comparison))}", console=console)
    console.print(subject, style="bold", highlight=False)
    items(verdicts.answer(each, baseline=comparison.baseline.name) for each in comparison.decided)
    told = verdicts.verdict_columns(comparison.decided)
    console.print("", _folding(told, console), "", sep="\n", highlight=False)
    head = ("run", "cap", *_HEAD[2:])
    runs = columns_of(head, _run_cells(comparison), words=("run", "shape"))
    console.print(_folding(runs, console), highlight=False)
    for title, lines in (
        *((part.title.upper(), part.lines) for part in comparison.parts),
        ("PUBLISHED FIGURES (never tested against, never paired)", sources(comparison.published)),
        ("NOTES", comparison.notes),
    ):
        if lines:
            heading(title)
            items(lines)
    # A path is copied: it may run over the edge, but no line break may enter it.
    for title, path in (("FILES (comparison.html, .md, .json, .csv, figures)", str(folder)), ("TRACKED", place)):
        if path is not None:
            heading(title)
            console.print(shown(f"  {path}", console=console), highlight=False, soft_wrap=True)


def _folding(columns: Sequence[Column], console: Console) -> ConsoleTable:
    names = replace(columns[0], cells=tuple(map(_ascii, columns[0].cells)))
    return folding((names, *columns[1:]), console=console, rule=False)


def _ascii(text: str) -> str:
    return text.replace(" · ", ", ")
