"""One job of a sweep: where it stands, and what it leaves for the sweep's table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.override_keys import overrides_by_key
from contextcliff.actions.sweep_row import row_without_report
from contextcliff.command_line.end_of_sweep import post_comparison, post_plan, post_row
from contextcliff.command_line.sweep_callback import SweepNote, noted
from contextcliff.errors import ConfigError, ContextCliffError, GateFailed
from contextcliff.records.kv_cache import shown_policy
from contextcliff.records.report import shown_model
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.run_names import with_file_names
from contextcliff.reporting.stored_sweeps import read_rows, sweep_folder, write_row
from contextcliff.tracking.tracker import SweepPlace


@contextmanager
def listed_in_sweep(
    invocation: Invocation, *, job: int | None, overrides: Sequence[str], in_main: bool
) -> Iterator[Invocation]:
    """The invocation at its place in the sweep; as it is where there is none (`job` None).

    A job that fails leaves a row that says why. One in another process than the sweep's draws no progress of its own.
    """
    if job is None:
        yield invocation
        return
    posted = replace(invocation, on_reported=_posting(invocation, job), on_planned=partial(post_plan, job=job))
    note = noted()
    if note is None:
        yield posted
        return
    place = SweepPlace(
        sweep_id=note.sweep_id,
        name=note.name,
        command=note.command,
        job=job,
        n_jobs=note.n_jobs,
        differing=_differing(note, overrides),
    )
    reporting = invocation.reporting if in_main else replace(invocation.reporting, progress=False)
    placed = replace(posted, place=place, reporting=reporting)
    folder = sweep_folder(invocation.output_dir / invocation.tracking.experiment, note.sweep_id)
    try:
        yield placed
    except ConfigError as error:
        post_row(row_without_report(placed, place, state="failed", error=" ".join(str(error).split())))
        raise
    except (Exception, KeyboardInterrupt) as error:
        if not isinstance(error, GateFailed):  # which is a result
            expected = isinstance(error, (ContextCliffError, KeyboardInterrupt))
            why = " ".join((str(error) if expected else f"{type(error).__name__}: {error}").split())
            why = why or "stopped by a signal"
            write_row(folder, row_without_report(placed, place, state="failed", error=why))
        raise
    if any(row.job == job and row.state == "running" for row in read_rows(folder)):
        write_row(folder, row_without_report(placed, place, state="failed", error=_STOPPED))


_QUOTES = "'\""
_STOPPED = "stopped before its first answer"


def list_unbuilt(
    choices: Mapping[str, str | None], error: ConfigError, *, job: int | None, overrides: Sequence[str]
) -> None:
    """The row of a job whose configuration can't be built: its options, and why."""
    note = noted()
    if job is None or note is None:
        return
    row = SweepRow(
        job=job,
        model=shown_model(choices.get("model") or "", engine=choices.get("engine") or ""),
        task=choices.get("task") or "",
        kv_policy=shown_policy(choices.get("kv_policy") or "", key_type="f16", value_type="f16", as_started=False),
        differing=_differing(note, overrides),
        state="failed",
        error=" ".join(str(error).split()),
    )
    post_row(row)


def _differing(note: SweepNote, overrides: Sequence[str]) -> Mapping[str, str]:
    """What tells the job with these overrides from the others of its sweep, beside model, task and KV policy."""
    keys = overrides_by_key(overrides)
    return with_file_names({key: keys[key].strip(_QUOTES) for key in note.differing if key in keys})


def _posting(invocation: Invocation, job: int) -> Callable[[Path], None]:
    def reported(folder: Path) -> None:
        invocation.on_reported(folder)
        post_comparison(invocation, folder, job=job)

    return reported
