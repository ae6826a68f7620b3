"""`reporting.compare`: a sweep ends with the comparison of its jobs.

A job that has reported posts its command line into the folder of the sweep's jobs, one for each task. When the launcher
is done, the process that sweeps compares what they left (`action=compare`), with the first job as the baseline.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.errors import ConfigError, ContextCliffError, ExitCode
from contextcliff.execution.stopping import JOBS_FOLDER
from contextcliff.reporting.data_files import write_text
from contextcliff.seeding import digest_of

_POSTED = "compare-"


def post_comparison(invocation: Invocation) -> None:
    """Ask for the comparison of the jobs of this task; nothing where the sweep runs on another machine."""
    named = os.environ.get(JOBS_FOLDER)
    folder = Path(named) if named else None
    if folder is None or not folder.is_dir() or not invocation.reporting.compare:
        return
    posted = folder / f"{_POSTED}{digest_of(invocation.task_name)}"
    if not posted.exists():
        write_text(path=posted, text=json.dumps(list(invocation.overrides)))


def compare_jobs(folder: Path) -> ExitCode:
    """Make the comparisons that jobs of this process's sweep asked for; a failure is one line on stderr.

    The exit code is the comparison's: one that can't be made does not make the sweep a failure, for its runs are there.
    """
    from contextcliff.command_line.recompose import recompose

    for posted in sorted(folder.glob(f"{_POSTED}*"), key=lambda file: file.stat().st_mtime_ns):
        overrides: list[str] = json.loads(posted.read_text(encoding="utf-8"))
        try:
            invocation = recompose([*_without_action(overrides), "action=compare"])
            invocation.action(invocation)
        except ConfigError as error:  # a single run, or runs that can't stand side by side
            sys.stderr.write(f"warning: reporting.compare=true: {' '.join(str(error).split())}\n")
        except ContextCliffError as error:
            sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
            return error.exit_code
    return ExitCode.DONE


def _without_action(overrides: Sequence[str]) -> list[str]:
    return [each for each in overrides if each.partition("=")[0].lstrip("+~").partition(".")[0] != "action"]
