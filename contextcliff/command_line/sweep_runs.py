"""Which runs a sweep left: each job posts the folder of its run, so that a comparison can take the latest sweep.

`EXPERIMENT/sweeps/SWEEP/JOB` holds the name of that folder. A sweep's id begins with the time at which it began.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.command_line.end_of_sweep import post_comparison
from contextcliff.reporting.data_files import write_text
from contextcliff.reporting.stored_sweeps import SWEEPS

SWEEP_ID = "CONTEXTCLIFF_SWEEP_ID"
"""The environment variable by which the jobs of a sweep know its id, in whatever process they run."""


def begin_sweep() -> None:
    """Give the sweep that this process starts an id."""
    os.environ[SWEEP_ID] = f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}-{uuid.uuid4().hex[:6]}"


def listed_in_sweep(invocation: Invocation, *, job: int | None) -> Invocation:
    """The invocation, whose run is listed under this job of the sweep; as it is where there is none (`job` None)."""
    sweep = os.environ.get(SWEEP_ID)
    if job is None or sweep is None:
        return invocation

    def reported(folder: Path) -> None:
        invocation.on_reported(folder)
        experiment = invocation.output_dir / invocation.tracking.experiment
        write_text(path=experiment / SWEEPS / sweep / f"{job:04}", text=folder.name)
        post_comparison(invocation, folder, job=job)

    return replace(invocation, on_reported=reported)
