"""The leaderboard of a sweep, on the console and as files: a row for each job, and the mean over several tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from contextcliff.analysis.task_means import RULER_THRESHOLD, TaskMeans, task_means
from contextcliff.errors import WITHOUT_WEIGHTS, in_short
from contextcliff.findings.finding import Column, columns_of
from contextcliff.findings.phrases import MISSING
from contextcliff.records.published import PublishedCurve
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting import figures
from contextcliff.reporting.data_files import Row, csv_text, json_text, replacing_together, write_text
from contextcliff.reporting.markdown import Chapter, bullets, inline, table
from contextcliff.reporting.run_names import in_words
from contextcliff.reporting.stored_reports import stored_reports
from contextcliff.reporting.stored_sweeps import StoredSweep
from contextcliff.reporting.text import tame
from contextcliff.settings import folder_name

_NAME, _MEANS, _CAPS = "leaderboard", "mean_over_tasks", "caps.png"
_MOST_NAMED = 4
"""So many jobs that failed alike are named."""


def ranked(rows: Sequence[SweepRow]) -> tuple[SweepRow, ...]:
    """Task by task: the largest cap first, then those without a cap by their mean score, those that failed last."""

    def place(row: SweepRow) -> tuple[object, ...]:
        ended = row.state in ("done", "partial")
        return (row.task, not ended, -(row.cap_tokens or 0), -(row.mean_score or 0.0), row.job)

    return tuple(sorted(rows, key=place))


def name_of(row: SweepRow, rows: Sequence[SweepRow]) -> str:
    """What a row goes by among the others of its task: model, KV policy, and what else was swept."""
    alike = [each for each in rows if each.task == row.task]
    names = ("model", "kv_policy")
    parts = [getattr(row, name) for name in names if len({getattr(each, name) for each in alike}) > 1]
    return " · ".join((*parts, *in_words(row.differing))) or row.model


def cap_words(row: SweepRow) -> str:
    """`2,047`, `at least 7,992`, `below` or `undecided`; of a job without a report what became of it."""
    said = {"running": "under way", "failed": "failed", "partial": f"{row.in_short} (partial)"}
    return said.get(row.state, row.in_short)


def change_words(row: SweepRow, rows: Sequence[SweepRow]) -> str:
    """How its cap stands to that of the first job of its task: `-14%`, where that is shown.

    A cap is shown, and so is the length from which on the score is below; between them it may cross anywhere. So two
    caps differ where the one lies beyond the other's crossing. Of two bounds, `at least`, none is known."""
    first = min((each for each in rows if each.task == row.task), key=lambda each: each.job)
    if row is first:
        return "first"
    if not row.cap_tokens or not first.cap_tokens or row.state == "failed":
        return ""
    if row.cap_tokens == first.cap_tokens and row.censored == first.censored:
        return "same"
    if row.censored or first.censored:
        return ""
    lower, higher = sorted((row, first), key=lambda each: each.cap_tokens or 0)
    if lower.crossing_high is None or lower.crossing_high > (higher.cap_tokens or 0):
        return "not shown"
    return f"{100 * (row.cap_tokens / first.cap_tokens - 1):+.0f}%"


_FORMS: Mapping[type, str] = {int: "{:,}", float: "{:g}", str: "{}", type(None): ""}
_DESCRIBED = (
    *("model", "task", "kv_policy", "options", "safe_cap", "outcome", "limited_by", "evidence", "crossing"),
    *("share_of_window", "samples", "tokens", "usd"),
)
"""The columns of `cells` that a description has."""


def cells(rows: Sequence[SweepRow]) -> list[Row]:
    """The table, a row for each job."""
    return [
        {
            "model": row.model,
            "task": row.task,
            "kv_policy": row.kv_policy,
            "options": " ".join(f"{key}={value}" for key, value in row.differing.items()),
            "safe_cap": cap_words(row),
            "safe_cap_tokens": row.cap_tokens,
            "outcome": row.outcome or ("failed" if row.state == "failed" else ""),
            "limited_by": row.limited_by or "",
            "verdict": row.verdict.replace("_", " "),
            "evidence": row.evidence,
            "crossing": _crossing(row),
            "share_of_window": None if row.fraction_of_window is None else round(row.fraction_of_window, 4),
            "mean_score": None if row.mean_score is None else round(row.mean_score, 4),
            "samples": row.n_samples,
            "tokens": row.prompt_tokens + row.completion_tokens,
            "usd": row.usd,
            "minutes": round(row.wall_s / 60, 2),
            "state": row.state,
            "error": in_short(row.error),
            "run": row.folder or row.run_id,
        }
        for row in ranked(rows)
    ]


def _crossing(row: SweepRow) -> str:
    low, high = row.crossing_low, row.crossing_high
    return "" if low is None or high is None else f"{low:,}-{high:,}"


def described(rows: Sequence[SweepRow], *, n_jobs: int, command: str) -> str:
    """The sweep as Markdown: how many jobs, the table, and what failed and why."""
    failed = [row for row in rows if row.state == "failed"]
    ended = [row for row in rows if row.state != "running"]
    of = f" of {n_jobs:,}" if n_jobs else ""
    parts = [f"**{len(ended):,}{of} jobs ended" + (f", {len(failed):,} failed**" if failed else "**")]
    jobs = cells(rows)
    if jobs:
        shown = [name for name in _DESCRIBED if name != "options" or any(row["options"] for row in jobs)]
        body = ([_FORMS[type(row[name])].format(row[name]) for name in shown] for row in jobs)
        parts.append(table([name.replace("_", " ") for name in shown], body, words=len(shown)))
    parts += [f"- {inline(line)}" for line in failures(rows)]
    if way_out := ways_out(rows):
        parts.append(inline(way_out))
    for means in task_means(rows):
        parts += [f"## {inline(title(means))}", table(MEANS_HEAD, means_cells(means))]
        parts.append(bullets(map(inline, sentences(means))))
    parts.append(f"`{command}`" if "`" not in command else command)
    return "\n\n".join(parts)


def failures(rows: Sequence[SweepRow]) -> tuple[str, ...]:
    """Why jobs failed, a line for each reason: `jobs 1 and 2 (niah, qwen3-8b, f16; …) failed: …`."""
    jobs: dict[str, list[SweepRow]] = {}
    for row in rows:
        if row.state == "failed":
            jobs.setdefault(in_short(row.error), []).append(row)
    lines = []
    for why, alike in jobs.items():
        numbers = " and ".join(", ".join(f"{row.job + 1}" for row in alike).rsplit(", ", 1))
        shown = [f"{row.task}, {row.model}, {row.kv_policy}" for row in alike[:_MOST_NAMED]]
        more = [f"{len(alike) - _MOST_NAMED} more"] if len(alike) > _MOST_NAMED else []
        lines.append(f"job{'s' if len(alike) > 1 else ''} {numbers} ({'; '.join((*shown, *more))}) failed: {why}")
    return tuple(lines)


def ways_out(rows: Sequence[SweepRow]) -> str:
    """What would help jobs whose weights can't be fetched; empty where there is none."""
    lacking = any(in_short(row.error) != row.error for row in rows)
    return f"Where weights can't be fetched: {WITHOUT_WEIGHTS}" if lacking else ""


MEANS_HEAD = ("tokens asked", "mean", "interval", "tasks")


def title(means: TaskMeans) -> str:
    """`Mean over 13 tasks: qwen3-8b, KV policy none`."""
    of = f" of {len(means.tasks) + len(means.lacking)}" if means.lacking else ""
    return f"Mean over {len(means.tasks)}{of} tasks: {_name_of(means)}"


def _name_of(means: TaskMeans) -> str:
    return ", ".join((means.model, f"KV policy {means.kv_policy}", *in_words(means.options)))


def means_cells(means: TaskMeans) -> list[tuple[str, ...]]:
    """A row a length, under `MEANS_HEAD`; one that only some tasks have has no mean."""
    n = len(means.tasks)
    rows = {p.asked_tokens: (f"{p.mean:.3f}", f"{p.low:.3f}-{p.high:.3f}", f"{n}") for p in means.points}
    rows |= {tokens: ("", "", f"{count} of {n}") for tokens, count in means.incomplete.items()}
    return [(f"{tokens:,}", *row) for tokens, row in sorted(rows.items())]


def sentences(means: TaskMeans) -> tuple[str, ...]:
    """The effective length, the cap, and what the mean lacks."""
    effective = f"less than {means.points[0].asked_tokens:,}"
    if means.effective_tokens is not None:
        is_longest = means.effective_tokens == means.points[-1].asked_tokens
        effective = f"{'at least ' if is_longest else ''}{means.effective_tokens:,}"
    said = [f"effective length (the mean exceeds {RULER_THRESHOLD:.3f} up to it, RULER's rule): {effective}"]
    at = "" if means.confidence is None else f" at {means.confidence:.0%} confidence"
    said.append(f"cap{at} (the interval of the mean is above {means.threshold:.3f} up to it): {means.in_short}")
    if means.lacking:
        said.append(f"without scores to average: {', '.join(means.lacking)}")
    if means.incomplete:
        shown = ", ".join(f"{tokens:,}" for tokens in sorted(means.incomplete))
        said.append(
            f"no mean at {shown}, since not every task was asked there: with a fixed number of samples (task.trials) "
            "each is asked at every length"
        )
    return tuple(said)


def render_sweep(rows: Sequence[SweepRow], *, name: str, n_jobs: int, folder: Path | None, page: str | None) -> None:
    """Print the cap of each job, and how it stands to that of the first job of its task. What all jobs share stands
    over a table that is too wide. `folder` has the leaderboard, None where no job began; `page` is the address of
    the sweep's view in MLflow, or the command that opens it."""
    from rich.console import Console
    from rich.text import Text

    from contextcliff.reporting.console import folding

    out = Console()

    def say(text: str, *, style: str = "", whole: bool = False) -> None:
        out.print(Text(tame(text)), style=style or None, soft_wrap=whole)

    order = ranked(rows)
    failed = [row for row in rows if row.state == "failed"]
    red = [place for place, row in enumerate(order) if row.state == "failed"]
    columns = _columns(rows)
    say(f"\n{name}: {len(rows):,} of {n_jobs or len(rows):,} jobs, {len(failed):,} failed", style="bold")
    widest = out.measure(folding(columns, console=out, red=red), options=out.options.update(width=10_000)).maximum
    if len(rows) > 1 and widest > out.width:
        shared = [each for each in columns[:3] if len(set(each.cells)) == 1]
        columns = [each for each in columns if each not in shared]
        if shared:
            say("all jobs: " + ", ".join(f"{each.title} {each.cells[0]}" for each in shared))
    out.print(folding(columns, console=out, red=red))
    for line in failures(rows):
        say(line, style="red")
    for means in task_means(rows):
        say(f"\n{title(means)}", style="bold")
        out.print(folding(columns_of(MEANS_HEAD, means_cells(means)), console=out))
        for said in sentences(means):
            say(said)
    if folder is not None:
        if (folder / _CAPS).is_file():
            say(f"caps in one figure: {folder / _CAPS}", whole=True)
        say(f"leaderboard: {folder}", whole=True)
    if page is not None:
        say(f"in MLflow: {page}", whole=True)


def _columns(rows: Sequence[SweepRow]) -> list[Column]:
    order = ranked(rows)
    under = {
        "task": [row.task for row in order],
        "model": [row.model for row in order],
        "KV policy": [row.kv_policy for row in order],
        "options": [" ".join(in_words(row.differing)) for row in order],
        "safe cap": [cap_words(row) for row in order],
        "change": [change_words(row, rows) for row in order],
        "shape": [row.shape or MISSING for row in order],
        "evidence": [row.evidence for row in order],
    }
    return [
        Column(title=title, cells=tuple(cells), words=title not in ("safe cap", "change"))
        for title, cells in under.items()
        if title != "options" or any(cells)
    ]


def write_leaderboard(
    rows: Sequence[SweepRow],
    sweep: StoredSweep,
    *,
    folder: Path,
    dpi: int | None = None,
    published: Sequence[PublishedCurve] = (),
) -> None:
    """The tables of a sweep, and with `dpi` its figures: all take their places in `folder` together, or none does."""
    with replacing_together(folder, stale=() if task_means(rows) else (f"{_MEANS}.*",)) as new:
        _write_tables(rows, sweep, folder=new)
        if dpi is not None:
            _draw(rows, folder=new, dpi=dpi, published=published)


def _write_tables(rows: Sequence[SweepRow], sweep: StoredSweep, *, folder: Path) -> None:
    from contextcliff.reporting.page.markup import page_of

    jobs = cells(rows)
    columns = list(jobs[0]) if jobs else ["model", "task", "kv_policy"]
    data = {"columns": columns, "data": [[row[column] for column in columns] for row in jobs]}
    write_text(path=folder / f"{_NAME}.json", text=json_text(data))
    write_text(path=folder / f"{_NAME}.csv", text=csv_text(jobs))
    text = described(rows, n_jobs=sweep.n_jobs, command=sweep.command)
    write_text(path=folder / f"{_NAME}.md", text=f"# {inline(sweep.name)}\n\n{text}\n")
    chapters = [Chapter(key="jobs", title="", text=text)]
    write_text(path=folder / f"{_NAME}.html", text=page_of(chapters, title=sweep.name, subtitle="", figures={}))
    every = task_means(rows)
    if not every:
        return
    of_means = [
        asdict(each) | {"censored": each.censored, "incomplete": {str(k): n for k, n in each.incomplete.items()}}
        for each in every
    ]
    write_text(path=folder / f"{_MEANS}.json", text=json_text({"means": of_means}))
    points: list[Row] = []
    for each in every:
        options = " ".join(f"{key}={value}" for key, value in each.options.items())
        named: Row = {"model": each.model, "kv_policy": each.kv_policy, "options": options, "tasks": len(each.tasks)}
        ends: Row = {"effective_tokens": each.effective_tokens, "cap_tokens": each.cap_tokens}
        for at in each.points:
            at_length: Row = {"asked_tokens": at.asked_tokens, "mean": at.mean, "ci_low": at.low, "ci_high": at.high}
            points.append({**named, **at_length, **ends})
    write_text(path=folder / f"{_MEANS}.csv", text=csv_text(points))


def _draw(rows: Sequence[SweepRow], *, folder: Path, dpi: int, published: Sequence[PublishedCurve]) -> None:
    with_scores = [row for row in rows if row.curve]
    if not with_scores:
        return
    order = ranked(with_scores)
    names = {row.job: name_of(row, with_scores) for row in order}
    figures.write_figure(figures.caps_figure(order, names=names), path=folder / _CAPS, dpi=dpi)
    for task in dict.fromkeys(row.task for row in order):
        of_task = [row for row in order if row.task == task]
        if len(of_task) > 1:
            path = folder / f"curves-{folder_name(task)}.png"
            figures.write_figure(figures.sweep_curves_figure(of_task, names=names), path=path, dpi=dpi)
    if every := task_means(rows):
        figure = figures.task_means_figure(every, names=[_name_of(means) for means in every], published=published)
        figures.write_figure(figure, path=folder / f"{_MEANS}.png", dpi=dpi)


def draw_runs(rows: Sequence[SweepRow], *, experiment: Path, dpi: int) -> dict[str, Path]:
    """For each task the last of these runs beside all comparable ones of the experiment: `runs-TASK.png`. Returns the
    figure of each run's folder."""
    beside, _ = stored_reports(experiment)
    folders: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.folder:
            folders.setdefault((row.task, row.folder.removeprefix(row.run_id)), []).append(row.folder)
    by_folder, drawn = {one.folder.name: one.report for one in beside}, dict[str, Path]()
    for (_, suffix), alike in folders.items():
        if (last := by_folder.get(alike[-1])) is not None:
            figure = figures.draw_curves(last, folder=experiment, dpi=dpi, beside=beside, suffix=suffix)
            drawn |= dict.fromkeys(alike, figure) if figure is not None else {}
    return drawn
