"""`action=analyze run=…`: the overrides of a stored run stand in the place of `run`, and those that are typed follow.

So Hydra composes the configuration of that run, and whatever is typed beside `run` is checked against its keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.command_line.overrides import chosen_options
from contextcliff.command_line.recompose import recompose
from contextcliff.errors import ConfigError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

KEY = "run"
_STORE = "state.db"
_OF_PLACES = ("tracking", "output_dir")
_REPLACED = ("analysis", "judge", "embedding", "tracking", "reporting")
"""Groups of which an option that is typed takes the place of all that was recorded below it."""
_NOT_REPEATED = ("action", KEY, "output_dir", "reporting.compare", "hydra")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunAgain:
    """A command line that names a stored run, with that run's own overrides in it."""

    run: str
    """As it was typed."""
    typed: tuple[str, ...]
    overrides: tuple[str, ...]
    """The whole command line: what was recorded, then what was typed."""

    def explained(self, problem: str) -> str:
        """Hydra's complaint itself where it is of a key that was typed, else that the recorded ones do not compose."""
        from contextcliff.actions.recorded_command import key_of

        if any(problem.lstrip("+~").startswith(key_of(item)) for item in self.typed):
            return problem
        return (
            f"{KEY}={self.run}: the overrides that it was recorded with do not compose here ({problem}); give the "
            "--config-dir that it had, or repeat its overrides"
        )


def run_again(lines: Sequence[str], overrides: Sequence[Override]) -> RunAgain | None:
    """The command line with the overrides of the run that it names; None where it names none, or does not analyse.

    Raises `ConfigError` for a name that is no run.
    """
    named = [override for override in overrides if override.key_or_group == KEY]
    if not named or "analyze" not in chosen_options(overrides, "action"):
        return None
    run = _value(named[-1])
    if named[-1].is_sweep_override():
        raise ConfigError(f"{KEY}={run}: names several runs; analyse one at a time")
    if run in ("", "null"):
        return None
    # Imported late, since reading reports loads numpy and more.
    from contextcliff.actions.compared_runs import run_at
    from contextcliff.actions.naming import as_typed
    from contextcliff.actions.recorded_command import key_of, recorded_overrides

    typed = tuple(line for line, each in zip(lines, overrides, strict=True) if each.key_or_group != KEY)
    folder = _folder(run, [line for line, each in zip(lines, overrides, strict=True) if _is_of_places(each)])
    report = run_at(folder, key=KEY).report
    assert report is not None
    try:
        replaced = [key for key in map(key_of, typed) if key.partition(".")[0] in _REPLACED]
        recorded = recorded_overrides(report, but=(*_NOT_REPEATED, *replaced))
    except ConfigError as error:
        raise ConfigError(f"{KEY}={run}: {error}") from error
    place = _place_of_store(folder)
    stores = () if place is None else (f"output_dir={as_typed(str(place))}",)
    typed = tuple(item for item in typed if place is None or key_of(item) != "output_dir")
    # An experiment may sweep; its job was one run.
    single = () if any(override.is_sweep_override() for override in overrides) else ("hydra.mode=RUN",)
    return RunAgain(
        run=run,
        typed=typed,
        overrides=(*recorded, *typed, *stores, f"{KEY}={as_typed(str(folder))}", *single),
    )


def _folder(run: str, places: Sequence[str]) -> Path:
    """The folder of a run. What is typed of `tracking` and `output_dir` says where ids are looked up."""
    from contextcliff.actions.compared_runs import run_folder

    given = Path(run).expanduser()
    if (given / "report.json").is_file():
        return given
    invocation = recompose(places)
    experiment = invocation.output_dir / invocation.tracking.experiment

    def fetch(tracked_id: str) -> Path:
        return invocation.tracking.fetch(tracked_id, experiment=experiment)

    folder = run_folder(run, experiment, key=KEY, fetch=fetch)
    if folder is None:
        raise ConfigError(
            f"{KEY}={run}: is no run: neither a folder with a report.json nor a run id in {experiment}; give one of "
            "these, or an MLflow run id"
        )
    return folder


def _place_of_store(folder: Path) -> Path | None:
    """The output folder that a run's folder lies in, where that has a store; seen from here where it lies below."""
    place = folder.resolve().parent.parent
    if not (place / _STORE).is_file():
        return None
    here = Path.cwd()
    return place.relative_to(here) if place.is_relative_to(here) else place


def _is_of_places(override: Override) -> bool:
    return override.key_or_group.partition(".")[0] in _OF_PLACES and not override.is_sweep_override()


def _value(override: Override) -> str:
    """What was typed behind the `=`: a run id of digits is no number."""
    value = None if override.is_sweep_override() or override.is_delete() else override.value()
    return value if isinstance(value, str) else str(override.input_line).partition("=")[2]
