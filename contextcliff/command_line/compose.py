"""Composing again: one job for a comparison or a page, and `action=analyze run=…` from what a stored run was asked.

A run's folder may be anybody's. It decides task, sampling and analysis, and of these no path; all else is the user's.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from omegaconf import OmegaConf

from contextcliff.actions.override_keys import as_typed
from contextcliff.command_line.keys import explain
from contextcliff.command_line.overrides import chosen_options, compose_options, options_of, parse_overrides, shown
from contextcliff.composing import nodes
from contextcliff.errors import ConfigError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

    from contextcliff.actions.action import Invocation

KEY = "run"
_TAKEN = ("task", "sampling", "analysis")


def recompose(overrides: Sequence[str]) -> Invocation:
    """The invocation of one job with these overrides. Raises `ConfigError`."""
    from hydra.errors import HydraException
    from omegaconf import open_dict
    from omegaconf.errors import OmegaConfBaseException

    from contextcliff.config import build_invocation

    try:
        config = compose_options(overrides)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain(error, parse_overrides(overrides))) from error
    choices = config.hydra.runtime.choices
    with open_dict(config):
        del config["hydra"]
    return build_invocation(config, list(overrides), options=choices)


def run_again(overrides: Sequence[Override]) -> list[str] | None:
    """The command line with the keys of the run that it names; None where it names none, or does not analyse. Raises
    `ConfigError` for a name that is no run, and for a run that can't be analysed here."""
    named = [each for each in overrides if each.key_or_group == KEY]
    if not named or "analyze" not in chosen_options(overrides, "action"):
        return None
    run = str(named[-1].input_line).partition("=")[2]
    if named[-1].is_sweep_override():
        raise ConfigError(f"{KEY}={run}: names several runs; analyse one at a time")
    value = None if named[-1].is_delete() else named[-1].value()
    if not value:
        return None
    from contextcliff.settings import FOLDER_NAME, why_no_path  # late: it loads pydantic

    run = value if isinstance(value, str) else run  # a run id of digits is no number
    if problem := why_no_path(run):
        raise ConfigError(f"{KEY}={shown(run)}: {problem}; give a run's folder or id")
    others = [each for each in overrides if each.key_or_group != KEY]
    places = [each for each in others if each.key_or_group.partition(".")[0] in ("tracking", "output_dir")]
    folder = _folder(run, [str(each.input_line) for each in places if not each.is_sweep_override()])
    try:
        taken = _taken_overrides(_recorded(folder), typed=others)
    except ConfigError as error:
        raise ConfigError(f"{KEY}={run}: {error}") from error
    typed = [str(each.input_line) for each in others]
    experiment = folder.resolve().parent
    place = experiment.parent
    if (place / "state.db").is_file():  # the report lies beside the run's
        here = Path.cwd()
        store = place.relative_to(here) if place.is_relative_to(here) else place
        typed = [line for line in typed if not line.startswith("output_dir=")]
        taken.append(f"output_dir={as_typed(str(store))}")
        is_typed = any(line.startswith("tracking.experiment=") for line in typed)
        if FOLDER_NAME.fullmatch(experiment.name) and not is_typed:
            taken.append(f"tracking.experiment={as_typed(experiment.name)}")
    # An experiment may sweep; its job was one run.
    single = () if any(each.is_sweep_override() for each in overrides) else ("hydra.mode=RUN",)
    return [*taken, *typed, f"{KEY}={as_typed(str(folder))}", *single]


def analysis_of(folder: Path, rule: Mapping[str, str]) -> Invocation:
    """The analysis of the run in a folder by another rule, dotted key to value. Raises `ConfigError`."""
    taken = _taken_overrides({**_recorded(folder), **rule}, typed=())
    return recompose([*taken, "action=analyze", f"{KEY}={as_typed(str(folder))}"])


def _recorded(folder: Path) -> Mapping[str, str]:
    # Imported late, since reading reports loads numpy and more.
    from contextcliff.reporting.run_names import read_parameters
    from contextcliff.reporting.stored_reports import MANIFEST_NAME, read_run

    task, recorded = read_run(folder, key=KEY).run.task, read_parameters(folder / MANIFEST_NAME)
    if not recorded:
        raise ConfigError(f"{KEY}={folder}: has no manifest.json with its configuration; repeat its overrides")
    return {"task": task, **recorded}


def _taken_overrides(recorded: Mapping[str, str], *, typed: Sequence[Override]) -> list[str]:
    """What a recorded configuration decides of task, sampling and analysis, as overrides; what is typed wins.

    A value is taken as plain data, and only for a key that the option has here. Raises `ConfigError` for an option that
    is not here, and for a value that refers to the environment or to another key."""
    from contextcliff.settings import path_fields

    groups, chosen = [], []
    for group in _TAKEN:
        option, given = recorded.get(group), chosen_options(typed, group)
        if given and (group == "analysis" or given != (option,)):
            continue
        groups.append(group)
        if option is not None and option not in options_of(group):
            raise ConfigError(f"{group}={shown(option)}: no such option here; give the --config-dir that it had")
        chosen += [] if option is None else [f"{group}={option}"]
    here = recompose(chosen)
    left = {each.key_or_group for each in typed}
    left |= {f"{group}.{name}" for group in groups for name in path_fields(type(getattr(here, group)))}
    taken = [line for line in chosen if line.partition("=")[0] not in left]
    values = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.create(here.composed)))
    for key, value in nodes({group: values[group] for group in groups}):
        there = recorded.get(key, str(value))
        # A rule's value stands in the place of a class of theirs, which is taken from nobody's folder.
        is_theirs = key in recorded and f"{key}._target_" in recorded
        is_same = there == str(value) and not is_theirs
        is_left = any("." in each and f"{key}.".startswith(f"{each}.") for each in left)
        is_leaf = "." in key and not key.endswith("_target_") and not (isinstance(value, dict) and value)
        if is_leaf and not is_same and not is_left:
            taken.append(f"{key}={_as_override(_plain(there, like=value), key)}")
    return taken


def _plain(text: str, *, like: object) -> object:
    """The value that `str` made this text of, in the place of another one; a text where it is none of YAML's."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    is_text = isinstance(like, str) and not (like == "auto" and text.startswith("["))  # which may stand for a list
    is_plain = value is None or isinstance(value, bool) or (isinstance(value, int | float | list) and not is_text)
    return value if is_plain else text


def _as_override(value: object, key: str) -> str:
    match value:
        case None | bool():
            return "null" if value is None else str(value).lower()
        case int() | float():
            return repr(value)
        case list():
            return f"[{','.join(_as_override(each, key) for each in value)}]"
        case str() if "${" not in value:
            return as_typed(value)
        case _:
            raise ConfigError(
                f"{key}={shown(value)}: is not taken from a run's folder, for it is no plain value; give {key}"
            )


def _folder(run: str, places: Sequence[str]) -> Path:
    from contextcliff.actions.compared_runs import run_folder

    given = Path(run).expanduser()
    if (given / "report.json").is_file():
        return given
    invocation = recompose(places)
    folder = run_folder(run, invocation, key=KEY)
    if folder is None:
        raise ConfigError(
            f"{KEY}={run}: is no run: neither a folder with a report.json nor a run id in {invocation.experiment}; "
            "give one of these, or an MLflow run id"
        )
    return folder
