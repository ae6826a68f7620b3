"""The end of a sweep: the sum of its plans, and with `reporting.compare` the comparison of its jobs.

A job that has reported posts its run and its command line into the folder of the sweep's jobs. When the launcher is
done, the process that sweeps compares the runs of each task (`action=compare`), with its first job as the baseline.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Sequence
from dataclasses import asdict
from functools import reduce
from itertools import groupby
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.override_keys import as_typed
from contextcliff.errors import ConfigError, ContextCliffError, ExitCode, tell
from contextcliff.execution.signals import JOBS_FOLDER
from contextcliff.records.run_plan import Plan, PlanTotal
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.data_files import write_text
from contextcliff.reporting.stored_sweeps import read_rows, write_row
from contextcliff.seeding import digest_of

_POSTED, _PLANNED, _NOT_BEGUN = "compare-", "plan-", "not-begun"
_FEWEST = 2


def post_comparison(invocation: Invocation, run: Path, *, job: int) -> None:
    """Ask for the comparison of a run with the others of its task; nothing where the sweep runs on another machine."""
    folder = _jobs_folder()
    if folder is None or not invocation.reporting.compare:
        return
    posted = folder / f"{_POSTED}{digest_of(invocation.task_name)}-{job:04}"
    write_text(path=posted, text=json.dumps({"run": run.name, "overrides": list(invocation.overrides)}))


def post_plan(plan: Plan, *, job: int) -> None:
    """Keep what a job would send for the sum of all."""
    folder = _jobs_folder()
    if folder is not None:
        total = PlanTotal(
            jobs=1,
            samples=plan.samples + plan.controls,
            stored=plan.stored,
            prompt_tokens=plan.prompt_tokens,
            cached_prompt_tokens=plan.cached_prompt_tokens,
            completion_tokens=plan.completion_tokens,
            usd=plan.usd,
            wall_s=plan.wall_s,
        )
        write_text(path=folder / f"{_PLANNED}{job:04}", text=json.dumps(asdict(total)))


def post_row(row: SweepRow) -> None:
    """Keep, for as long as the sweep runs, that a job could not begin: nothing is left of a sweep that never began."""
    folder = _jobs_folder()
    if folder is not None:
        write_row(folder / _NOT_BEGUN, row)


def posted_rows() -> tuple[SweepRow, ...]:
    """The rows of the jobs of this process's sweep that could not begin."""
    folder = _jobs_folder()
    return () if folder is None else read_rows(folder / _NOT_BEGUN)


def sum_plans(folder: Path) -> PlanTotal | None:
    """What the jobs of this process's sweep would send together; None where none was planned.

    Dollars and seconds are None where those of a job are not known.
    """
    plans = [PlanTotal(**json.loads(file.read_text(encoding="utf-8"))) for file in sorted(folder.glob(f"{_PLANNED}*"))]
    return reduce(operator.add, plans) if plans else None


def compare_jobs(folder: Path) -> ExitCode:
    """Make the comparisons that jobs of this process's sweep asked for; a failure is one line on stderr.

    The exit code is the comparison's: one that can't be made does not make the sweep a failure, for its runs are there.
    """
    from contextcliff.command_line.config_folders import recompose

    for _, files in groupby(sorted(folder.glob(f"{_POSTED}*")), key=lambda file: file.name.rpartition("-")[0]):
        jobs = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        runs = list(dict.fromkeys(str(job["run"]) for job in jobs))
        if len(runs) < _FEWEST:
            tell(f"warning: reporting.compare=true: {runs[0]} is the only run of its task")
            continue
        named = (f"action.baseline={as_typed(runs[0])}", f"action.candidates=[{','.join(map(as_typed, runs[1:]))}]")
        try:
            invocation = recompose([*_without_action(jobs[0]["overrides"]), "action=compare", *named])
            invocation.action(invocation)
        except ConfigError as error:  # runs that can't stand side by side
            tell(f"warning: reporting.compare=true: {error}")
        except ContextCliffError as error:
            tell(f"error: {error}")
            return error.exit_code
    return ExitCode.DONE


def _jobs_folder() -> Path | None:
    """Where the jobs of a sweep on this machine leave what its end needs; None on another machine."""
    named = os.environ.get(JOBS_FOLDER)
    folder = Path(named) if named else None
    return folder if folder is not None and folder.is_dir() else None


def _without_action(overrides: Sequence[str]) -> list[str]:
    return [each for each in overrides if each.partition("=")[0].lstrip("+~").partition(".")[0] != "action"]
