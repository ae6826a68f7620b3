"""What a tracker is: it takes a finished run's report and files to where runs are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from contextcliff.records.report import Report


class TrackingError(Exception):
    """A run couldn't be tracked. The message is one line that names the place and the cause."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tracked:
    """A finished run as it is handed over."""

    report: Report
    folder: Path
    """The run's local result files, all complete: every file below it is uploaded."""
    parameters: Mapping[str, str]
    """The composed configuration, flattened: dotted key to value."""
    samples: Sequence[Mapping[str, object]]
    """Rows of the samples table, all with the same columns."""
    name: str = ""
    """What it is called; empty: by the run's id. A run that is judged by several rules has a report of each."""


class Tracker(Protocol):
    """A place that keeps runs. Its own failure never touches the run's local results."""

    @property
    def experiment(self) -> str:
        """What the run belongs to: a group of runs, and the folder below `output_dir` of the run's own."""
        ...

    def check(self) -> None:
        """Validate the settings without creating a file or contacting anything.

        Raises `ValueError` with one line that names the key.
        """
        ...

    def log(self, tracked: Tracked) -> str | None:
        """Keep a run; doing it twice with the same results changes nothing.

        Returns one line that says where it is, None where nothing is kept. Raises `TrackingError`.
        """
        ...

    def ui_command(self) -> str | None:
        """The line to type to look at the kept runs; None where there is nothing to look at."""
        ...
