"""What a tracker is: it uploads a finished run's report and files to a place where runs are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from contextcliff.records.report import Report, shown_model
from contextcliff.records.sweep import SweepRow


class TrackingError(Exception):
    """A run could not be tracked. The message is one line that names the place and the cause."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunTitle:
    """What a run's name is made of. `label` and `rope` are empty where there is nothing to say."""

    model: str
    """The option of `conf/model/`, or the model's name where that says more."""
    task: str
    kv_policy: str
    label: str = ""
    rope: str = ""

    def shown(self, *, rule: str = "") -> str:
        """`qwen · niah · q8_0`, then what else was chosen; `rule` says by what a further report was judged."""
        return " · ".join(filter(None, (self.model, self.task, self.kv_policy, self.rope, self.label, rule)))


_LONGEST_MODEL = 40


def model_title(model: str, *, option: str, engine: str) -> str:
    """The option of `conf/model/` by which a model was chosen, else the last part of its name, marked as it is shown.

    `model` may be marked already.
    """
    if option not in ("", "served"):
        return shown_model(option, engine=engine)
    bare = model.removesuffix(shown_model("", engine=engine))
    last = bare.rstrip("/").rpartition("/")[2] or bare
    return shown_model(last if len(last) <= _LONGEST_MODEL else f"{last[:_LONGEST_MODEL]}…", engine=engine)


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepPlace:
    """Where a run stands in a sweep."""

    sweep_id: str
    name: str
    command: str
    """The command line of the whole sweep."""
    job: int
    n_jobs: int
    differing: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What beside model, task and KV policy tells its job from the others: key to value, as typed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """A run that begins to send."""

    run_id: str
    title: RunTitle
    parameters: Mapping[str, str]
    """The composed configuration: dotted key to value."""
    tags: Mapping[str, str]
    place: SweepPlace | None = None
    row: SweepRow | None = None
    """What the sweep knows of it."""
    computes_here: bool = False
    """Whether the model runs on this machine, so that the machine's load belongs to the run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthPoint:
    """The score of a length whose samples are answered."""

    context_tokens: int
    score: float
    n_samples: int


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
    """Name of the report's folder; empty stands for the run's id. A run judged by several rules has one for each."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """The prompts that were kept, by `sample_id`."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """By what it was made: `git_commit`, `dataset_digest`."""
    place: SweepPlace | None = None
    beside: tuple[Path, ...] = ()
    """Figures of several runs, this one among them."""
    row: SweepRow | None = None
    """What the sweep knows of it."""
    interrupted: bool = False
    """Whether a signal ended it."""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackedSweep:
    """A sweep as it stands: the run that the runs of its jobs lie under."""

    sweep_id: str
    name: str
    command: str
    parameters: Mapping[str, str]
    """The overrides of the command: key to value, as typed."""
    folder: Path
    """The folder of its files: the table of its jobs and the figures; every file below it is uploaded."""
    rows: Sequence[SweepRow]
    """A row for each job that is known of."""
    n_jobs: int
    over: bool
    """Whether no further job will end."""
    description: str
    """Markdown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """What a tracker has of a run that is under way."""

    tracked_id: str
    """The tracker's own id."""
    points: frozenset[LengthPoint]


class LiveRun(Protocol):
    """A run while it is under way. No call but `hand_over` waits for the place that keeps it, and none raises."""

    def point(self, point: LengthPoint) -> None:
        """Keep the score of a length that is answered."""

    def hand_over(self) -> Begun | None:
        """What is kept of it, for `Tracker.log`, when no more comes; None where it could not be kept."""

    def fail(self, why: str, *, interrupted: bool = False) -> None:
        """The run ended without a report, for this reason: one line."""


class Tracker(Protocol):
    """A place that keeps runs. A failure of the tracker never affects the run's local results."""

    @property
    def experiment(self) -> str:
        """The group that the run belongs to, and the name of the folder below `output_dir` with the run's folder."""

    @property
    def is_shared(self) -> bool:
        """Whether it is reached from several machines."""

    def check(self) -> None:
        """Validate the settings without creating a file or contacting anything.

        Raises `ValueError` with one line that names the key.
        """

    def begin(self, started: Started) -> LiveRun:
        """A run that begins to send is there at once, without waiting for it."""

    def log(self, tracked: Tracked, *, begun: Begun | None = None) -> str | None:
        """Keep a run, which may have `begun`; a second call with the same results changes nothing.

        Returns one line that says where it is, None where nothing is kept. Raises `TrackingError`.
        """

    def has(self, tracked: Tracked) -> bool:
        """Whether a run is kept with the same results; True where nothing is kept at all. Raises `TrackingError`."""

    def log_comparison(self, tracked: TrackedComparison) -> str | None:
        """Keep a comparison, as `log` keeps a run."""

    def log_sweep(self, sweep: TrackedSweep) -> str:
        """Keep a sweep as it stands; returns the tracker's own id of it, empty where nothing is kept.

        A sweep that is there goes on. Raises `TrackingError`.
        """

    def sweep_rows(self, sweep_id: str) -> Sequence[SweepRow]:
        """The rows of the sweep's jobs that are kept, from whatever machine. Raises `TrackingError`."""

    def fetch(self, tracked_id: str, *, experiment: Path) -> Path:
        """The folder with the files of a kept run, by the tracker's own id: in `experiment`, the folder of our runs.

        Raises `TrackingError`.
        """

    def leaderboard(self) -> str | None:
        """The address of the page with all runs side by side; None where there is none. Raises `TrackingError`."""

    def ui_command(self) -> str | None:
        """The shell command that shows the kept runs; None where nothing is kept."""
