"""What a tracker is: it uploads a finished run's report and files to a place where runs are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from contextcliff.records.report import Report


class TrackingError(Exception):
    """A run could not be tracked. The message is one line that names the place and the cause."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tracked:
    """A finished run, to be tracked."""

    report: Report
    folder: Path
    """The folder of the run's finished result files; every file below it is uploaded."""
    parameters: Mapping[str, str]
    """The composed configuration: dotted key to value."""
    samples: Sequence[Mapping[str, object]]
    """Rows of the samples table, all with the same columns."""
    name: str = ""
    """Name of the report; empty stands for the run's id. A run judged by several rules has a report for each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackedComparison:
    """A comparison of several runs, to be tracked as a run of its own."""

    name: str
    """Name of its folder; a comparison of one name takes the place of an earlier one."""
    folder: Path
    """The folder of its finished files; every file below it is uploaded."""
    digest: str
    """Of what it says: an equal one is not uploaded again."""
    run_ids: tuple[str, ...]
    """The runs that it compares, the baseline first."""
    tags: Mapping[str, str]
    metrics: Mapping[str, float]


class Tracker(Protocol):
    """A place that keeps runs. A failure of the tracker never affects the run's local results."""

    @property
    def experiment(self) -> str:
        """The group that the run belongs to, and the name of the folder below `output_dir` with the run's folder."""
        ...

    def check(self) -> None:
        """Validate the settings without creating a file or contacting anything.

        Raises `ValueError` with one line that names the key.
        """
        ...

    def log(self, tracked: Tracked) -> str | None:
        """Keep a run; a second call with the same results changes nothing.

        Returns one line that says where it is, None where nothing is kept. Raises `TrackingError`.
        """
        ...

    def log_comparison(self, tracked: TrackedComparison) -> str | None:
        """Keep a comparison, as `log` keeps a run."""
        ...

    def fetch(self, tracked_id: str, *, experiment: Path) -> Path:
        """The folder with the files of a kept run, by the tracker's own id: in `experiment`, the folder of our runs.

        Raises `TrackingError`.
        """
        ...

    def ui_command(self) -> str | None:
        """The shell command that shows the kept runs; None where nothing is kept."""
        ...
