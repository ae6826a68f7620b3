"""The end of a sweep on the console: a table of its jobs, what failed, and where more of it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.analysis.task_means import TaskMeans, task_means
from contextcliff.models.model import dollars
from contextcliff.records.run_plan import PlanTotal
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.leaderboard import CAPS, cap_words, change_words, ranked, verdict_words
from contextcliff.reporting.outside_text import tame
from contextcliff.reporting.stored_sweeps import StoredSweep
from contextcliff.reporting.task_mean_tables import HEAD, cells, sentences, title

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_MINUTE_S = 60


def render_sweep(
    rows: Sequence[SweepRow],
    *,
    sweep: StoredSweep,
    folder: Path | None,
    page: str | None,
    console: Console | None = None,
) -> None:
    """Print the table of a sweep: the cap of each job, and how it stands to that of the first job of its task.

    Where it is too wide for the console, what all jobs have in common stands over it. `folder` is where the leaderboard
    lies, None where no job began; `page` is the address of MLflow's.
    """
    from rich.console import Console
    from rich.measure import Measurement
    from rich.text import Text

    out = console or Console()
    failed = [row for row in rows if row.state == "failed"]
    n_jobs = sweep.n_jobs or len(rows)
    columns = _columns(rows)
    table = _table(columns, rows)
    out.print()
    out.print(Text(tame(f"{sweep.name}: {len(rows):,} of {n_jobs:,} jobs, {len(failed):,} failed")), style="bold")
    if len(rows) > 1 and Measurement.get(out, out.options.update(width=_WIDEST), table).maximum > out.width:
        shared = {name: cells[0] for name, cells in columns.items() if name in _NAMES and len(set(cells)) == 1}
        table = _table({name: cells for name, cells in columns.items() if name not in shared}, rows)
        if shared:
            out.print(Text(tame("all jobs: " + ", ".join(f"{name} {cell}" for name, cell in shared.items()))))
    out.print(table)
    for row in failed:
        out.print(
            Text(tame(f"job {row.job + 1} failed: {row.task}, {row.model}, {row.kv_policy}: {row.error}")), style="red"
        )
    for means in task_means(rows):
        out.print()
        out.print(Text(tame(title(means))), style="bold")
        out.print(_means_table(means))
        for said in sentences(means):
            out.print(Text(tame(said)))
    if folder is not None:
        if (folder / CAPS).is_file():
            out.print(Text(tame(f"caps in one figure: {folder / CAPS}")), soft_wrap=True)
        out.print(Text(tame(f"leaderboard: {folder}")), soft_wrap=True)
    if page is not None:
        out.print(Text(tame(f"in MLflow (contextcliff ui opens it): {page}")), soft_wrap=True)


_WIDEST = 10_000
_NAMES = ("task", "model", "KV policy")
_FIGURES = ("safe cap", "change")


def _columns(rows: Sequence[SweepRow]) -> dict[str, list[str]]:
    """The cells under each title, the best jobs first."""
    order = ranked(rows)
    options = [" ".join(f"{key.rpartition('.')[2]}={value}" for key, value in row.differing.items()) for row in order]
    return {
        "task": [row.task for row in order],
        "model": [row.model for row in order],
        "KV policy": [row.kv_policy for row in order],
        **({"options": options} if any(options) else {}),
        "safe cap": [cap_words(row) for row in order],
        "change": [change_words(row, rows) for row in order],
        "evidence": [row.evidence for row in order],
        "verdict": [verdict_words(row) for row in order],
    }


def _table(columns: Mapping[str, Sequence[str]], rows: Sequence[SweepRow]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in _FIGURES else "left", overflow="fold")
    for row, shown in zip(ranked(rows), zip(*columns.values(), strict=True), strict=True):
        table.add_row(*(Text(tame(cell)) for cell in shown), style="red" if row.state == "failed" else None)
    return table


def _means_table(means: TaskMeans) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for name in HEAD:
        table.add_column(name, justify="right")
    for row in cells(means):
        table.add_row(*(Text(tame(cell)) for cell in row))
    return table


def render_plan_total(total: PlanTotal, *, console: Console | None = None) -> None:
    """Print what the jobs of a sweep would take together."""
    from rich.console import Console
    from rich.text import Text

    out = console or Console()
    computed = total.prompt_tokens - total.cached_prompt_tokens
    line = (
        f"ALL {total.jobs:,} JOBS: {total.samples:,} requests ({total.stored:,} samples are stored), "
        f"{total.prompt_tokens:,} prompt tokens, {computed:,} of them to compute, "
        f"at most {total.completion_tokens:,} tokens of answers"
    )
    if total.usd is not None:
        line += f", {dollars(total.usd, at_most=True)}"
    if total.wall_s is not None:
        line += f", {total.wall_s / _MINUTE_S:,.1f} minutes one after the other"
    out.print()
    out.print(Text(line), style="bold")
