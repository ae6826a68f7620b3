"""The run that `task.like` names, read from its folder: what its decisions rest on, and how it was configured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.errors import ConfigError, RunError
from contextcliff.execution.store import StoredRun
from contextcliff.reporting.data_files import StoredSample, stored_samples

KEY = "task.like"
FIRST = "first"
"""The value that names the first job of a sweep."""
_REPORT_NAME, _MANIFEST_NAME = "report.json", "manifest.json"
_SEARCH_ENDS = ("max_trials", "resolution")
"""Keys of a task that say where a search ends: they are part of no prompt, and two runs may differ in them."""
_MOST_KEYS = 3
_EMPTY = "''"


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """A run to stay paired with."""

    run_id: str
    partial: bool
    """Whether it stopped before its end."""
    tokenizer: str
    task: str
    """The option of its task."""
    configuration: Mapping[str, str]
    """Dotted key to value."""
    asked: tuple[StoredSample, ...]
    """The samples that its `samples.jsonl` has: what its decisions rest on, and what it replayed itself."""


def read_baseline(invocation: Invocation) -> Baseline | None:
    """The run that an invocation stays paired with; None where it names none, or is that run itself.

    Raises `ConfigError` for a name that is no run, for files that can't be read, and for a run of another task.
    Raises `RunError` where the first job of the sweep left none.
    """
    name = invocation.like
    if name is None:
        return None
    if name == FIRST:
        raise ConfigError(
            f"{KEY}={FIRST}: names the first job of a sweep, and this is none; give a run id of this experiment or a "
            "run's folder, or leave it out"
        )
    if not name:
        raise RunError(
            f"{KEY}={FIRST}: the first job of this sweep left no run to stay paired with; see why it failed, or run "
            f"without {KEY}"
        )
    chooses = invocation.task.traits.chooses_by_answers
    if chooses:
        raise ConfigError(
            f"{KEY}={name}: {chooses} asks what its own pilot points to; two runs ask the same with task.pilot=0"
        )
    baseline = _read(name, _folder(name, invocation))
    if baseline.run_id == invocation.identify().run_id:
        return None
    _require_the_same_task(baseline, invocation, name)
    return baseline


def require_replayed(baseline: Baseline | None, run: StoredRun) -> None:
    """Raise `ConfigError` where a stored search did not ask what `baseline` rests on: an analysis asks nothing."""
    if baseline is None or run.facts.search is None:
        return
    replay = run.facts.replay
    if replay is None or replay.run_id != baseline.run_id:
        others = "no other run's samples" if replay is None else f"those of {replay.run_id}"
        raise ConfigError(
            f"{KEY}={baseline.run_id}: the stored run {run.run_id} asked {others}; run it again with this {KEY} "
            "(action=run), or leave it out"
        )


def different_keys(configuration: Mapping[str, str], invocation: Invocation, *prefixes: str) -> tuple[str, ...]:
    """`KEY=VALUE there and VALUE here` for each key below these prefixes that both configurations tell otherwise.

    `configuration` is that of a stored run, dotted key to value. The names of classes are left out, since an earlier
    version may have had them elsewhere.
    """
    here = invocation.parameters
    return tuple(
        f"{key}={there or _EMPTY} there and {here[key] or _EMPTY} here"
        for key, there in configuration.items()
        if here.get(key, there) != there
        and not key.endswith("_target_")
        and any(key == each or key.startswith(f"{each}.") for each in prefixes)
    )


def listed(differences: Sequence[str]) -> str:
    """The first of them."""
    more = len(differences) - _MOST_KEYS
    return ", ".join(differences[:_MOST_KEYS]) + (f" and {more} more" if more > 0 else "")


def _folder(name: str, invocation: Invocation) -> Path:
    experiment = invocation.output_dir / invocation.tracking.experiment
    for folder in (Path(name).expanduser(), experiment / name):
        if (folder / _REPORT_NAME).is_file():
            return folder
    raise ConfigError(
        f"{KEY}={name}: is no run: neither a folder with a {_REPORT_NAME} nor a run id in {experiment}; give one of "
        f"these, or {FIRST} in a sweep"
    )


def _read(name: str, folder: Path) -> Baseline:
    # Imported late, since reading reports loads numpy and more.
    from contextcliff.reporting.run_names import read_parameters
    from contextcliff.reporting.stored_reports import UnreadableReport, read_report

    try:
        run = read_report(folder / _REPORT_NAME).run
    except UnreadableReport as error:
        raise ConfigError(f"{KEY}={name}: {folder / _REPORT_NAME} {error}") from error
    return Baseline(
        run_id=run.run_id,
        partial=run.partial,
        tokenizer=run.tokenizer,
        task=run.task,
        configuration=read_parameters(folder / _MANIFEST_NAME),
        asked=tuple(stored_samples(folder, asked=f"{KEY}={name}")),
    )


def _require_the_same_task(baseline: Baseline, invocation: Invocation, name: str) -> None:
    task, here = invocation.task, invocation.parameters
    targets = [each.get("task._target_", "").rpartition(".")[2] for each in (baseline.configuration, here)]
    if all(targets) and targets[0] != targets[1]:
        raise ConfigError(
            f"{KEY}={name}: is a run of another task: task={baseline.task} there and {invocation.task_name} here; give "
            "the same task"
        )
    # The option itself, `task`, may be another one with the same keys.
    apart = {"", *task.traits.not_asked, *task.traits.idle, *_SEARCH_ENDS}
    differing = [
        each
        for each in different_keys(baseline.configuration, invocation, "task")
        if apart.isdisjoint(each.partition("=")[0].partition(".")[2].split("."))
    ]
    if differing:
        raise ConfigError(f"{KEY}={name}: asks something else: {listed(differing)}; give the same")
