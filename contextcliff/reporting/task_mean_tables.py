"""The mean over the tasks of a sweep, as tables and sentences for every kind of reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from contextcliff.analysis.task_means import RULER_THRESHOLD, TaskMeans
from contextcliff.records.published import PublishedCurve
from contextcliff.reporting.data_files import Row, csv_text, json_text, write_text
from contextcliff.reporting.figures.report_figures import write_figure
from contextcliff.reporting.figures.task_means_figure import task_means_figure
from contextcliff.reporting.markdown import aligned_table, inline

NAME = "mean_over_tasks"
HEAD = ("tokens asked", "mean", "interval", "tasks")


def title(means: TaskMeans) -> str:
    """`Mean over 13 tasks: qwen3-8b, KV policy none`."""
    every = len(means.tasks) + len(means.lacking)
    tasks = f"{len(means.tasks)} of {every} tasks" if means.lacking else f"{len(means.tasks)} tasks"
    return f"Mean over {tasks}: {name_of(means)}"


def name_of(means: TaskMeans) -> str:
    """Model, KV policy, and what else was swept."""
    options = (f"{key.rpartition('.')[2]}={value}" for key, value in means.options.items())
    return ", ".join((means.model, f"KV policy {means.kv_policy}", *options))


def cells(means: TaskMeans) -> list[tuple[str, ...]]:
    """A row a length, under `HEAD`; one that only some tasks have has no mean."""
    whole = {
        point.asked_tokens: (f"{point.mean:.3f}", f"{point.low:.3f}-{point.high:.3f}", f"{len(means.tasks)}")
        for point in means.points
    }
    partial = {tokens: ("", "", f"{count} of {len(means.tasks)}") for tokens, count in means.incomplete.items()}
    return [(f"{tokens:,}", *row) for tokens, row in sorted((whole | partial).items())]


def sentences(means: TaskMeans) -> tuple[str, ...]:
    """The effective length, the cap, and what the mean lacks."""
    said = [f"effective length (the mean exceeds {RULER_THRESHOLD:.3f} up to it, RULER's rule): {_effective(means)}"]
    at = "" if means.confidence is None else f" at {means.confidence:.0%} confidence"
    said.append(f"cap{at} (the interval of the mean is above {means.threshold:.3f} up to it): {_cap(means)}")
    if means.lacking:
        said.append(f"without scores to average: {', '.join(means.lacking)}")
    if means.incomplete:
        shown = ", ".join(f"{tokens:,}" for tokens in sorted(means.incomplete))
        said.append(
            f"no mean at {shown}, since not every task was asked there: with a fixed number of samples (task.trials) "
            "each is asked at every length"
        )
    return tuple(said)


def _effective(means: TaskMeans) -> str:
    if means.effective_tokens is None:
        return f"less than {means.points[0].asked_tokens:,}"
    longest = means.effective_tokens == means.points[-1].asked_tokens
    return f"{'at least ' if longest else ''}{means.effective_tokens:,}"


def _cap(means: TaskMeans) -> str:
    if means.cap_tokens is None:
        return "none"
    return f"{'at least ' if means.censored else ''}{means.cap_tokens:,}"


def described(every: Sequence[TaskMeans]) -> list[str]:
    """As parts of a page of Markdown."""
    return [part for means in every for part in (f"## {inline(title(means))}", _table(means), _lines(means))]


def _table(means: TaskMeans) -> str:
    return aligned_table(list(HEAD), [list(row) for row in cells(means)], left=[False] * len(HEAD))


def _lines(means: TaskMeans) -> str:
    return "\n".join(f"- {inline(said)}" for said in sentences(means))


def write_means(every: Sequence[TaskMeans], *, folder: Path) -> None:
    """`mean_over_tasks.json` and `.csv`; where nothing is averaged none, and no earlier one is left."""
    if not every:
        for ending in ("json", "csv", "png"):
            (folder / f"{NAME}.{ending}").unlink(missing_ok=True)
        return
    write_text(path=folder / f"{NAME}.json", text=json_text({"means": [_data(means) for means in every]}))
    write_text(path=folder / f"{NAME}.csv", text=csv_text([row for means in every for row in _rows(means)]))


def draw_means(every: Sequence[TaskMeans], *, folder: Path, dpi: int, published: Sequence[PublishedCurve] = ()) -> None:
    """`mean_over_tasks.png`, with published curves behind."""
    if every:
        figure = task_means_figure(every, names=[name_of(means) for means in every], published=published)
        write_figure(figure, path=folder / f"{NAME}.png", dpi=dpi)


def _data(means: TaskMeans) -> dict[str, object]:
    return {**asdict(means), "censored": means.censored, "incomplete": {str(k): n for k, n in means.incomplete.items()}}


def _rows(means: TaskMeans) -> list[Row]:
    return [
        {
            "model": means.model,
            "kv_policy": means.kv_policy,
            "options": " ".join(f"{key}={value}" for key, value in means.options.items()),
            "tasks": len(means.tasks),
            "asked_tokens": point.asked_tokens,
            "mean": point.mean,
            "ci_low": point.low,
            "ci_high": point.high,
            "effective_tokens": means.effective_tokens,
            "cap_tokens": means.cap_tokens,
        }
        for point in means.points
    ]
