"""`reporting.compare`: a sweep ends with the comparison of its jobs.

A job that has reported posts its run and its command line into the folder of the sweep's jobs. When the launcher is
done, the process that sweeps compares the runs of each task (`action=compare`), with its first job as the baseline.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.naming import as_typed
from contextcliff.errors import ConfigError, ContextCliffError, ExitCode
from contextcliff.execution.stopping import JOBS_FOLDER
from contextcliff.reporting.data_files import write_text
from contextcliff.seeding import digest_of

_POSTED = "compare-"
_FEWEST = 2


def post_comparison(invocation: Invocation, run: Path, *, job: int) -> None:
    """Ask for the comparison of a run with the others of its task; nothing where the sweep runs on another machine."""
    named = os.environ.get(JOBS_FOLDER)
    folder = Path(named) if named else None
    if folder is None or not folder.is_dir() or not invocation.reporting.compare:
        return
    posted = folder / f"{_POSTED}{digest_of(invocation.task_name)}-{job:04}"
    write_text(path=posted, text=json.dumps({"run": run.name, "overrides": list(invocation.overrides)}))


def compare_jobs(folder: Path) -> ExitCode:
    """Make the comparisons that jobs of this process's sweep asked for; a failure is one line on stderr.

    The exit code is the comparison's: one that can't be made does not make the sweep a failure, for its runs are there.
    """
    from contextcliff.command_line.recompose import recompose

    for _, files in groupby(sorted(folder.glob(f"{_POSTED}*")), key=lambda file: file.name.rpartition("-")[0]):
        jobs = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        runs = list(dict.fromkeys(str(job["run"]) for job in jobs))
        if len(runs) < _FEWEST:
            sys.stderr.write(f"warning: reporting.compare=true: {runs[0]} is the only run of its task\n")
            continue
        named = (f"action.baseline={as_typed(runs[0])}", f"action.candidates=[{','.join(map(as_typed, runs[1:]))}]")
        try:
            invocation = recompose([*_without_action(jobs[0]["overrides"]), "action=compare", *named])
            invocation.action(invocation)
        except ConfigError as error:  # runs that can't stand side by side
            sys.stderr.write(f"warning: reporting.compare=true: {' '.join(str(error).split())}\n")
        except ContextCliffError as error:
            sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
            return error.exit_code
    return ExitCode.DONE


def _without_action(overrides: Sequence[str]) -> list[str]:
    return [each for each in overrides if each.partition("=")[0].lstrip("+~").partition(".")[0] != "action"]
