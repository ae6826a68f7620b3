"""The leaderboard of a sweep: a row for each job, the largest safe cap first, as a table for every kind of reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contextcliff.analysis.task_means import task_means
from contextcliff.records.published import PublishedCurve
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting import task_mean_tables
from contextcliff.reporting.data_files import Row, csv_text, json_text, write_text
from contextcliff.reporting.figures.leaderboard_figures import caps_figure, sweep_curves_figure
from contextcliff.reporting.figures.report_figures import draw_curves, write_figure
from contextcliff.reporting.markdown import Chapter, aligned_table, inline
from contextcliff.reporting.stored_reports import stored_reports
from contextcliff.settings import folder_name

NAME = "leaderboard"
CAPS = "caps.png"
_FEWEST_CURVES = 2


def ranked(rows: Sequence[SweepRow]) -> tuple[SweepRow, ...]:
    """Task by task: the largest cap first, then those without a cap by their mean score, those that failed last."""

    def place(row: SweepRow) -> tuple[object, ...]:
        ended = row.state in ("done", "partial")
        return (row.task, not ended, -(row.cap_tokens or 0), -(row.mean_score or 0.0), row.job)

    return tuple(sorted(rows, key=place))


def name_of(row: SweepRow, rows: Sequence[SweepRow]) -> str:
    """What a row goes by among the others of its task: model, KV policy, and what else was swept."""
    alike = [each for each in rows if each.task == row.task]
    parts = [row.model] if len({each.model for each in alike}) > 1 else []
    parts += [row.kv_policy] if len({each.kv_policy for each in alike}) > 1 else []
    parts += [f"{key.rpartition('.')[2]}={value}" for key, value in row.differing.items()]
    return " · ".join(parts) or row.model


def cap_words(row: SweepRow) -> str:
    """`2,047`, `at least 7,992` where no cliff was found, `none`; why there is no answer where there is none."""
    if row.state == "running":
        return "under way"
    if row.state == "failed":
        return "failed"
    shown = "none" if row.cap_tokens is None else f"{row.cap_tokens:,}"
    shown = f"at least {shown}" if row.censored and row.cap_tokens is not None else shown
    return f"{shown} (partial)" if row.state == "partial" else shown


def crossing_words(row: SweepRow) -> str:
    """Between which lengths the score is shown to cross the threshold; empty where it is not shown."""
    if row.crossing_low is None or row.crossing_high is None:
        return ""
    return f"{row.crossing_low:,}-{row.crossing_high:,}"


def change_words(row: SweepRow, rows: Sequence[SweepRow]) -> str:
    """How its cap stands to that of the first job of its task: `-14%`. Of two bounds, `at least`, none is known."""
    first = min((each for each in rows if each.task == row.task), key=lambda each: each.job)
    if row is first:
        return "first"
    if not row.cap_tokens or not first.cap_tokens or row.state == "failed":
        return ""
    if row.cap_tokens == first.cap_tokens and row.censored == first.censored:
        return "same"
    if row.censored or first.censored:
        return ""
    return f"{100 * (row.cap_tokens / first.cap_tokens - 1):+.0f}%"


def verdict_words(row: SweepRow) -> str:
    """Its verdict; `below the threshold` where every length is shown to be, which has no verdict of its own."""
    if row.shape == "below" and row.evidence == "settled":
        return "below the threshold"
    return row.verdict.replace("_", " ")


def failure_words(row: SweepRow) -> str:
    """Which job failed, and why."""
    return f"job {row.job + 1} ({row.task}, {row.model}, {row.kv_policy}) failed: {row.error}"


def cells(rows: Sequence[SweepRow]) -> list[Row]:
    """The table, a row for each job."""
    return [
        {
            "model": row.model,
            "task": row.task,
            "kv_policy": row.kv_policy,
            **({"options": " ".join(f"{key}={value}" for key, value in row.differing.items())}),
            "safe_cap": cap_words(row),
            "safe_cap_tokens": row.cap_tokens,
            "verdict": verdict_words(row),
            "evidence": row.evidence,
            "crossing": crossing_words(row),
            "share_of_window": None if row.fraction_of_window is None else round(row.fraction_of_window, 4),
            "mean_score": None if row.mean_score is None else round(row.mean_score, 4),
            "samples": row.n_samples,
            "tokens": row.prompt_tokens + row.completion_tokens,
            "usd": row.usd,
            "minutes": round(row.wall_s / 60, 2),
            "state": row.state,
            "error": row.error,
            "run": row.folder or row.run_id,
        }
        for row in ranked(rows)
    ]


def described(rows: Sequence[SweepRow], *, n_jobs: int, command: str) -> str:
    """The sweep as Markdown: how many jobs, the table, and what failed and why."""
    failed = [row for row in rows if row.state == "failed"]
    ended = [row for row in rows if row.state != "running"]
    of = f" of {n_jobs:,}" if n_jobs else ""
    parts = [f"**{len(ended):,}{of} jobs ended" + (f", {len(failed):,} failed**" if failed else "**")]
    table = cells(rows)
    if table:
        options = any(row["options"] for row in table)
        shown = [
            *("model", "task", "kv_policy"),
            *(["options"] if options else []),
            *("safe_cap", "verdict", "evidence", "crossing", "share_of_window", "samples", "tokens", "usd"),
        ]
        head = [name.replace("_", " ") for name in shown]
        body = [["" if row[name] is None else _shown(row[name]) for name in shown] for row in table]
        parts.append(aligned_table(head, body, left=[True] * len(shown)))
    parts += [f"- {inline(failure_words(row))}" for row in failed]
    parts += task_mean_tables.described(task_means(rows))
    parts.append(f"`{command}`" if "`" not in command else command)
    return "\n\n".join(parts)


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def write_tables(rows: Sequence[SweepRow], *, folder: Path, name: str, n_jobs: int, command: str) -> None:
    """`leaderboard.json` (as MLflow reads tables), `.csv`, `.md` and `.html`, and the mean over tasks as data."""
    table = cells(rows)
    columns = list(table[0]) if table else ["model", "task", "kv_policy"]
    data = {"columns": columns, "data": [[row[column] for column in columns] for row in table]}
    write_text(path=folder / f"{NAME}.json", text=json_text(data))
    write_text(path=folder / f"{NAME}.csv", text=csv_text(table))
    text = described(rows, n_jobs=n_jobs, command=command)
    write_text(path=folder / f"{NAME}.md", text=f"# {inline(name)}\n\n{text}\n")
    write_text(path=folder / f"{NAME}.html", text=page(rows, name=name, n_jobs=n_jobs, command=command))
    task_mean_tables.write_means(task_means(rows), folder=folder)


def draw(rows: Sequence[SweepRow], *, folder: Path, dpi: int, published: Sequence[PublishedCurve] = ()) -> None:
    """The caps of all jobs, for each task the curves of its jobs in one picture, and the mean over tasks.

    `published` curves stand behind the mean.
    """
    with_scores = [row for row in rows if row.curve]
    if not with_scores:
        return
    order = ranked(with_scores)
    names = {row.job: name_of(row, with_scores) for row in order}
    write_figure(caps_figure(order, names=names), path=folder / CAPS, dpi=dpi)
    for task in dict.fromkeys(row.task for row in order):
        of_task = [row for row in order if row.task == task]
        if len(of_task) >= _FEWEST_CURVES:
            path = folder / f"curves-{folder_name(task)}.png"
            write_figure(sweep_curves_figure(of_task, names=names), path=path, dpi=dpi)
    task_mean_tables.draw_means(task_means(rows), folder=folder, dpi=dpi, published=published)


def draw_runs(rows: Sequence[SweepRow], *, experiment: Path, dpi: int) -> None:
    """For each task the last of these runs beside all comparable ones of the experiment: `runs-TASK.png`."""
    beside = stored_reports(experiment)
    last = {(row.task, row.folder.removeprefix(row.run_id)): row.folder for row in rows if row.folder}
    by_folder = {one.folder.name: one.report for one in beside.found}
    for (_, suffix), folder in last.items():
        if folder in by_folder:
            draw_curves(by_folder[folder], folder=experiment, dpi=dpi, beside=beside.found, suffix=suffix)


def page(rows: Sequence[SweepRow], *, name: str, n_jobs: int, command: str) -> str:
    """The same for a browser."""
    from contextcliff.reporting.page.markup import page_of

    chapter = Chapter(key="jobs", title="", text=described(rows, n_jobs=n_jobs, command=command))
    return page_of([chapter], title=name, subtitle="", figures={})
