"""The keys that the jobs of a command line have: what is typed is checked against them, and Hydra's errors explained.

Which keys a job has is decided by the options of its groups, so those alone are composed, once for each kind of job.
`++KEY=VALUE` sets a key in the jobs that have it. Hydra's own `++` sets a key or adds it. In a sweep over options with
different keys (`task=niah,continuation ++task.trials=2`) a job without the key drops the override with a note; a key
that no job has is an error.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin, get_type_hints

from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from contextcliff.command_line.overrides import (
    chosen_options,
    compose_options,
    option_files,
    options_of,
    parse_overrides,
)
from contextcliff.composing import hint, nodes
from contextcliff.errors import ConfigError, ContextCliffError, RunError, one_line, tell

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from hydra.core.override_parser.types import Override

_FORCED = "++"
_WEIGHTS = ("model.gguf.path", "model.gguf.repo", "model.gguf.package")
_NO_SUCH_OPTION = re.compile(r"Could not (?:find|load) '([^']+)/([^'/]+)'")
_WRONG_VALUE = re.compile(r"Error merging override (.+)", re.DOTALL)
_FULL_KEY = re.compile(r"full_key: (\S+)")
_LAUNCHERS = "hydra/launcher"
_EXTRAS = {"ray": "ray", "ray_aws": "ray", "submitit_local": "slurm", "submitit_slurm": "slurm"}
"""Launchers that an extra of our package installs; `joblib` comes with it, and `basic` is Hydra's own."""
_MOST_OPTIONS = 12
"""So many options of a group that have a key are named in one line."""
_LONGEST_SHOWN = 200


def checked(overrides: Sequence[Override]) -> list[str]:
    """The overrides as Hydra takes them, checked against the keys of the jobs. Raises `ConfigError`.

    Keys of mappings that take any key (`model.extra_body.top_a=1`) get the `++` without which Hydra adds none.
    """
    for override in overrides:
        _refuse_unknown_forced_key(override, overrides)
        _refuse_swept_list(override, overrides)
        _refuse_one_file_of_models(override, overrides)
    return [f"{_FORCED}{each.input_line}" if _is_open(each, overrides) else str(each.input_line) for each in overrides]


def _refuse_unknown_forced_key(override: Override, overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` for a `++` key below a list, or that none of several jobs has.

    Keys inside a section are left to the jobs, since some sections take any key (`model.extra_body`).
    """
    key = override.key_or_group
    group, section = _section(key)
    if not override.is_force_add() or not section or group == "hydra":
        return
    configs = _jobs_of(key, overrides)
    for name, value in (pair for config in configs.values() for pair in nodes(config)):
        if isinstance(value, list) and key.startswith(f"{name}."):
            raise ConfigError(f"{_shown(override.input_line)}: {name} is a list; write {name}=[A,B]")
    jobs = {job: _keys_of(config) for job, config in configs.items()}
    existing = {f"{group}={option}" for option in options_of(group)}  # composing reports an unknown option
    if len(jobs) > 1 and existing.issuperset(jobs) and not any(section in known for known in jobs.values()):
        raise ConfigError(f"{key}: unknown key; none of {', '.join(jobs)} has it; {_hint(key, jobs)}")


def _refuse_swept_list(override: Override, overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` where a key that takes a list is swept over single values: its brackets were forgotten."""
    key = override.key_or_group
    if "." not in key or not override.is_discrete_sweep():
        return
    values = list(override.sweep_string_iterator())
    if any(value.startswith("[") for value in values):
        return
    value = dict(nodes(_composed(_choices(overrides)))).get(key)
    if isinstance(value, list) or (key == "task.lengths" and value == "auto"):
        given = str(override.input_line).partition("=")[2]
        raise ConfigError(f"{key}={given}: takes a list; write {key}=[{_shown(','.join(values))}]")


def _refuse_one_file_of_models(override: Override, overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` where the jobs of several models would all run the weights that are typed."""
    given = str(override.input_line).lstrip("+").partition("=")[2]
    if override.key_or_group not in _WEIGHTS or override.is_sweep_override() or override.is_delete():
        return
    models = _options_of_jobs("model", overrides)
    if given not in ("", "null") and len(models) > 1:
        raise ConfigError(
            f"{override.key_or_group}={given}: model={','.join(models)} would each run these weights; give one "
            "model, and several files with model.gguf.path=A.gguf,B.gguf"
        )


def open_swept_keys(config: DictConfig) -> None:
    """Let an experiment sweep over keys of mappings that take any key, as a command line may.

    Changes `config` in place. Raises `ConfigError` for what no command line may sweep over.
    """
    lines = [f"{key}={value}" for key, value in (config.hydra.sweeper.get("params") or {}).items()]
    if not lines:
        return
    # Unresolved: an interpolation in an override refers to our configuration, not to Hydra's.
    typed = cast(list[str], OmegaConf.to_container(config.hydra.overrides.task, resolve=False))
    overrides = parse_overrides([*lines, *typed])
    opened = [f"{_FORCED}{line}" if _is_open(overrides[n], overrides) else line for n, line in enumerate(lines)]
    if opened != lines:
        with read_write(config.hydra), open_dict(config.hydra):
            config.hydra.sweeper.params = dict(line.partition("=")[::2] for line in opened)


def _is_open(override: Override, overrides: Sequence[Override]) -> bool:
    """Whether it sets a key inside a mapping of any keys, in all jobs."""
    line, key = str(override.input_line), override.key_or_group
    is_inner = key.count(".") > 1 or ("." in key and "{" in line)
    if not is_inner or line.startswith(("+", "~", "hydra.")):
        return False
    return all(_leads_into_open(config, key.split(".")) for config in _jobs_of(key, overrides).values())


def _leads_into_open(node: object, path: Sequence[str]) -> bool:
    for name in path:
        if not isinstance(node, dict):
            return False
        kind = get_type_hints(cls).get(name) if (cls := _class_of(node)) else None
        if Mapping in (get_origin(kind), *map(get_origin, get_args(kind))):  # by itself, or where it may be null
            return True
        node = node.get(name)
    return False


def drop_absent_keys(
    config: DictConfig, overrides: Sequence[str], choices: Mapping[str, str | None], *, of_experiment: Collection[str]
) -> list[str]:
    """Drop the `++` keys that the options of one job of a sweep do not have, each with a note on stderr.

    Those that an experiment brings are for the jobs that have them, and go without a note. Changes `config` in place.
    Returns the overrides that are left.
    """
    kept = []
    for item in overrides:
        key = item.partition("=")[0].removeprefix(_FORCED)
        group, section = _section(key)
        name = section.rpartition(".")[2]
        if item.startswith(_FORCED) and _lacks(config.get(group), name) and f"{group}/{name}" not in choices:
            with open_dict(config[group]):
                config[group].pop(name, None)
            if item not in of_experiment:
                tell(f"note: {key}: {group}={choices.get(group)} has no such key, and goes without it")
        else:
            kept.append(item)
    return kept


def _section(key: str) -> tuple[str, str]:
    """A key's group and section: `task` and `task.needle` for `task.needle.text`; the section is '' for a group."""
    group, _, rest = key.partition(".")
    return group, f"{group}.{rest.partition('.')[0]}" if rest else ""


def _lacks(node: object, key: str) -> bool:
    """Whether the class that a group names has no such field."""
    cls = _class_of(node) if key and isinstance(node, DictConfig) else None
    return cls is not None and key not in {field.name for field in fields(cls)}


def _class_of(node: Mapping[str, object] | DictConfig) -> type[DataclassInstance] | None:
    """The settings class that a section names; None for what building the section reports as wrong, too."""
    module, _, name = str(node.get("_target_") or "").rpartition(".")
    try:
        cls = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return None
    return cls if isinstance(cls, type) and is_dataclass(cls) else None


def explain(error: Exception, overrides: Sequence[Override]) -> str:
    """An error of Hydra's in one line: the first override that the jobs can't take, else what Hydra says."""
    message = f"{error}\n{error.__cause__ or ''}"
    if no_option := _NO_SUCH_OPTION.search(message):
        return _no_such_option(*no_option.groups())
    if problem := next(_problems(overrides), None):
        return problem
    wrong = _WRONG_VALUE.match(str(error))
    if wrong and error.__cause__:
        return f"{_shown(wrong[1])}: {_shown(str(error.__cause__).splitlines()[0])}; give another value"
    said, full = one_line(str(error), longest=2 * _LONGEST_SHOWN), _FULL_KEY.search(message)
    for each in overrides:
        key, value = str(each.get_key_element()).lstrip("+~"), str(each.input_line).partition("=")[2]
        meant = f"'{key}'" in message or (full and full[1] == key) or ("${" in value and value in message)
        if meant and not said.startswith(key):
            return f"{_shown(each.input_line)}: {said}"
    return said


def explain_setup(error: Exception, overrides: Sequence[Override], *, began: bool) -> ContextCliffError | None:
    """What is wrong with a launcher, or before a job began with a key of Hydra or a forced one; None if neither."""
    said = f"{one_line(str(error), longest=_LONGEST_SHOWN) or type(error).__name__}; HYDRA_FULL_ERROR=1 shows where"
    for launcher in chosen_options(overrides, _LAUNCHERS):
        if launcher != "basic":
            return RunError(f"{_LAUNCHERS}={launcher}: {said}")
    set_by_force = [each for each in overrides if re.match(r"hydra\b", each.key_or_group) or each.is_force_add()]
    return ConfigError(f"{_shown(set_by_force[-1].input_line)}: {said}") if set_by_force and not began else None


def _no_such_option(group: str, name: str) -> str:
    shown = f"{group}={_shown(name)}"
    if group == _LAUNCHERS and name in _EXTRAS:
        return f"{shown}: not installed; run pip install 'contextcliff[{_EXTRAS[name]}]'"
    options = sorted(["basic", "joblib", *_EXTRAS]) if group == _LAUNCHERS else options_of(group)
    if not options:
        return f"{shown}: no such option; is the package that brings it installed?"
    near = difflib.get_close_matches(name, options, n=1) or [option for option in options if name in option][:1]
    suggestion = f"did you mean {near[0]}? " if near else ""
    return f"{shown}: no such option; {suggestion}the options are: {', '.join(options)}"


def _problems(overrides: Sequence[Override]) -> Iterator[str]:
    """What is wrong with keys that some job has not, or has already."""
    for override in overrides:
        key, group = override.key_or_group, override.key_or_group.partition(".")[0]
        if "/" in key or group == "hydra" or override.package is not None or options_of(key) or override.is_force_add():
            continue
        jobs = {job: _keys_of(config) for job, config in _jobs_of(key, overrides).items()}
        lacking = [job for job, known in jobs.items() if key not in known]
        if override.is_delete() or override.is_add():
            if override.is_delete() and len(lacking) == len(jobs):
                yield f"~{_shown(key)}: unknown key; {_hint(key, jobs)}"
            elif override.is_add() and len(lacking) < len(jobs):
                more = f", or ++{key}=VALUE to set it where it exists" if len(jobs) > 1 else ""
                yield f"+{key}: exists already; write {key}=VALUE{more}"
            continue
        named = f"{_shown(key)}: {' and '.join(lacking)} {'has' if len(lacking) == 1 else 'have'} no such key"
        others = [option for option in options_of(group) if key in _keys_of_option(group, option)] if lacking else []
        if 0 < len(lacking) < len(jobs):
            yield f"{named}; write ++{key}=VALUE to set it where it exists"
        elif others and all(lacking):
            more = f" and {len(others) - _MOST_OPTIONS} more" if len(others) > _MOST_OPTIONS else ""
            yield f"{named}; these do: {group}={', '.join(others[:_MOST_OPTIONS])}{more}"
        elif lacking:
            yield f"{_shown(key)}: unknown key; {_hint(key, jobs)}"


def _hint(key: str, jobs: Mapping[str, Collection[str]]) -> str:
    known = dict.fromkeys(name for names in jobs.values() for name in names)
    return hint(_shown(key), [name for name in known if not name.endswith("_target_")])


def _shown(text: object) -> str:
    return one_line(str(text), longest=_LONGEST_SHOWN)


def _jobs_of(key: str, overrides: Sequence[Override]) -> Mapping[str, Mapping[str, Any]]:
    """The configuration of each job, by the option of a key's group (`task=niah`); by '' if it is in no group."""
    group = key.partition(".")[0]
    options = _options_of_jobs(group, overrides) if options_of(group) else ()
    others = _choices([each for each in overrides if each.key_or_group != group or each.package is not None])
    return {f"{group}={each}": _composed((f"{group}={each}", *others)) for each in options} or {"": _composed(others)}


def _choices(overrides: Sequence[Override]) -> tuple[str, ...]:
    """The lines that choose one option of a group, and Hydra's, which an experiment may sweep by."""
    plain = [each for each in overrides if not each.is_sweep_override() and not each.is_force_add()]
    return tuple(str(each.input_line) for each in plain if re.match(r"hydra\b|[^.]*$", each.key_or_group))


def _options_of_jobs(group: str, overrides: Sequence[Override]) -> tuple[str, ...]:
    """The options of a group: from the command line, else from an experiment's sweep, else the default."""
    named = chosen_options(overrides, group)
    if named:
        return named
    hydra = _composed(_choices(overrides)).get("hydra")
    if hydra is None:
        return ()
    swept = hydra["sweeper"]["params"] or {}
    if group in swept:
        return chosen_options(parse_overrides([f"{group}={swept[group]}"]), group)
    default = hydra["runtime"]["choices"].get(group)
    return (default,) if isinstance(default, str) else ()


def _keys_of_option(group: str, option: str) -> Collection[str]:
    config = OmegaConf.load(next(option_files(f"{group}/{option}.yaml")))
    if "defaults" in config:  # a judge: its model and its engine are options too
        return _keys_of(_composed((f"{group}={option}",)))
    return dict(nodes(cast(dict[str, Any], OmegaConf.to_container(config, resolve=False)), f"{group}."))


def _keys_of(config: Mapping[str, Any]) -> set[str]:
    return {key for key, _ in nodes(config)}


@cache
def _composed(choices: tuple[str, ...]) -> Mapping[str, Any]:
    """The configuration that these choices compose to, with Hydra's.

    Where Hydra refuses them, only those of groups are used, then only the outer groups, then none.
    """
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    groups = [each for each in choices if not re.match(r"[+~]*hydra\b", each)]
    for attempt in (choices, groups, [each for each in groups if "/" not in each and "@" not in each], ()):
        try:
            config = compose_options(attempt, with_hydra=True)
        except (HydraException, OmegaConfBaseException):
            continue
        return cast(dict[str, Any], OmegaConf.to_container(config, resolve=False))
    return {}
