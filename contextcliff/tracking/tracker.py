"""What a tracker is given of a run: its results, its name, and its place in a sweep. `tracking=none` keeps none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.records.report import Report, shown_model
from contextcliff.records.sweep import SweepRow
from contextcliff.settings import FolderName, settings

if TYPE_CHECKING:
    from contextcliff.tracking.mlflow import MLflowTracker

_LONGEST_MODEL = 40


class TrackingError(Exception):
    """A run could not be tracked. The message is one line that names the place and the cause."""


@settings
class NoTracker:
    """What every option of `tracking` has; nothing is kept beside the run's local files."""

    experiment: FolderName = "contextcliff"
    """Name of the folder below `output_dir` that holds the run's folder."""

    @property
    def mlflow(self) -> MLflowTracker | None:
        """What keeps runs; None with `tracking=none`."""
        return None

    def check(self) -> None:
        """Raise `ValueError`, one line that names the key, for settings that can't be; contacts nothing."""

    def fetch(self, mlflow_id: str, *, experiment: Path) -> Path:  # noqa: ARG002
        """The folder of the run with this MLflow id, or one with the files that MLflow has. Raises `TrackingError`."""
        raise TrackingError(f"tracking=none keeps no run {mlflow_id}; give tracking=mlflow and its tracking.uri")


def run_title(
    model: str,
    *,
    option: str,
    engine: str,
    task: str,
    kv_policy: str,
    rope: str = "",
    label: str = "",
    apart: Sequence[str] = (),
    rule: str = "",
) -> str:
    """`qwen · niah · q8_0`, then what else was chosen: `apart` tells it from other runs, `rule` says by what a
    further report was judged. The model goes by the option of `conf/model/` by which it was chosen, else by the last
    part of its name."""
    if option in ("", "served"):
        bare = model.removesuffix(shown_model("", engine=engine))  # it may be marked already
        last = bare.rstrip("/").rpartition("/")[2] or bare
        option = last if len(last) <= _LONGEST_MODEL else f"{last[:_LONGEST_MODEL]}…"
    parts = (shown_model(option, engine=engine), task, kv_policy, rope, label, *apart, rule)
    return " · ".join(filter(None, parts))


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepPlace:
    """Where a run stands in a sweep."""

    sweep_id: str
    name: str
    command: str
    job: int
    n_jobs: int
    differing: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What beside model, task and KV policy tells its job from the others: key to value, as typed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tracked:
    report: Report
    folder: Path
    """The folder of the run's finished result files; every file below it is uploaded. A run that was judged by several
    rules has one for each."""
    parameters: Mapping[str, str]
    samples: Sequence[Mapping[str, object]]
    """Rows of the samples table, all with the same columns."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    place: SweepPlace | None = None
    row: SweepRow | None = None
    beside: tuple[Path, ...] = ()
    """Figures of several runs, this one among them."""
    interrupted: bool = False
