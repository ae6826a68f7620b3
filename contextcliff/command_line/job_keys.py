"""The keys that the jobs of a command line have, and `++KEY=VALUE`, which sets a key in those jobs that have it.

Hydra's own `++` sets a key or adds it. In a sweep over options with different keys (`task=niah,continuation
++task.trials=2`) a job without the key drops the override with a note; a key that no job has is an error."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin, get_type_hints

from omegaconf import DictConfig, OmegaConf, open_dict

from contextcliff.command_line.config_folders import compose_options, option_files
from contextcliff.command_line.overrides import chosen_options, options_of, parse_overrides
from contextcliff.composing import hint, nodes
from contextcliff.errors import ConfigError, tell

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from hydra.core.override_parser.types import Override


_INSIDE_TASK = re.compile(r"\btask[./](judge|embedding)\b")


def refuse_former_keys(overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` for keys that were there before, with what to write in their place."""
    compares = any(str(override.input_line) == "action=compare" for override in overrides)
    for override in overrides:
        key, equals, value = str(override.input_line).partition("=")
        today = _INSIDE_TASK.sub(r"\1", key)
        if today != key:
            raise ConfigError(f"{key}: judge and embedding are groups of their own now; write {today}{equals}{value}")
        if key.lstrip("+") == "reporting.live":
            raise ConfigError("reporting.live: is gone; the progress bar of a terminal shows the last answer")
        if compares and key.lstrip("+") == "action.runs":
            raise ConfigError(
                "action.runs: a comparison has a baseline and candidates now; write action.baseline=RUN and "
                "action.candidates=[RUN,…]"
            )


_FORCED = "++"
_WEIGHTS = ("model.gguf.path", "model.gguf.repo", "model.gguf.package")


def keys_of_jobs(key: str, overrides: Sequence[Override]) -> Mapping[str, Sequence[str]]:
    """The keys of each job, by the option of `key`'s group (`task=niah`); by '' where `key` is in no group."""
    return {job: _keys_of(config) for job, config in _configs_of_jobs(key, overrides).items()}


def with_open_keys(lines: Sequence[str], overrides: Sequence[Override]) -> list[str]:
    """The lines of the overrides, with `++` before keys of mappings that take any key (`model.extra_body.top_a=1`).

    Hydra itself adds no key without a plus.
    """
    pairs = zip(lines, overrides, strict=True)
    return [f"{_FORCED}{line}" if _is_open(each, overrides) else line for line, each in pairs]


def _is_open(override: Override, overrides: Sequence[Override]) -> bool:
    """Whether it sets a key inside a mapping of any keys, in all jobs."""
    line, key = str(override.input_line), override.key_or_group
    is_inner = key.count(".") > 1 or ("." in key and "{" in line)
    if not is_inner or line.startswith(("+", "~", "hydra.")):
        return False
    configs = _configs_of_jobs(key, overrides).values()
    return all(_leads_into_open(config, key.split(".")) for config in configs)


def _leads_into_open(node: object, path: Sequence[str]) -> bool:
    for name in path:
        if not isinstance(node, dict):
            return False
        kinds = get_type_hints(cls) if (cls := _class_of(node)) else {}
        kind = kinds.get(name)
        if Mapping in (get_origin(kind), *map(get_origin, get_args(kind))):  # by itself, or where it may be null
            return True
        node = node.get(name)
    return False


def _configs_of_jobs(key: str, overrides: Sequence[Override]) -> Mapping[str, Mapping[str, Any]]:
    group = key.partition(".")[0]
    others = [override for override in overrides if override.key_or_group not in (key, group)]
    plain = [str(one.input_line) for one in others if not one.is_sweep_override() and not one.is_force_add()]
    options = _options_of_jobs(group, overrides, plain) if options_of(group) else ()
    if not options:
        return {"": _composed(plain)}
    return {f"{group}={option}": _composed([f"{group}={option}", *plain]) for option in options}


def options_with(key: str) -> list[str]:
    """The options of a key's group that have the key."""
    group = key.partition(".")[0]
    return [option for option in options_of(group) if key in _keys_of_option(group, option)]


def refuse_unknown_forced_keys(overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` for a `++` key that none of several jobs has.

    Keys inside a section are left to the jobs, since some sections take any key (`model.extra_body`).
    """
    for override in overrides:
        group, section = _section(override.key_or_group)
        if not override.is_force_add() or not section or group == "hydra":
            continue
        jobs = keys_of_jobs(override.key_or_group, overrides)
        # Composing reports an option that there is not.
        existing = {f"{group}={option}" for option in options_of(group)}
        if len(jobs) > 1 and existing.issuperset(jobs) and not any(section in known for known in jobs.values()):
            suggestion = hint(override.key_or_group, dict.fromkeys(chain.from_iterable(jobs.values())))
            raise ConfigError(f"{override.key_or_group}: unknown key; none of {', '.join(jobs)} has it; {suggestion}")


def refuse_swept_list(overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` where a key that takes a list is swept over single values: its brackets were forgotten."""
    from hydra.core.override_parser.types import ChoiceSweep

    for override in overrides:
        key = override.key_or_group
        swept = override.value() if override.is_choice_sweep() else None
        if "." not in key or key.startswith("hydra.") or not isinstance(swept, ChoiceSweep):
            continue
        if any(isinstance(value, list) for value in swept.list):
            continue
        plain = [one.input_line for one in overrides if not one.is_sweep_override() and not one.is_force_add()]
        value = dict(nodes(_composed([str(line) for line in plain]))).get(key)
        if isinstance(value, list) or (key == "task.lengths" and value == "auto"):
            given = str(override.input_line).partition("=")[2]
            raise ConfigError(
                f"{key}={given}: takes a list; write {key}=[{','.join(override.sweep_string_iterator())}]"
            )


def refuse_one_file_of_models(overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` where the jobs of several models would all run the weights that are typed."""
    plain = [str(one.input_line) for one in overrides if not one.is_sweep_override() and not one.is_force_add()]
    for override in overrides:
        given = str(override.input_line).lstrip("+").partition("=")[2]
        if override.key_or_group not in _WEIGHTS or override.is_delete() or given in ("", "null"):
            continue
        models = _options_of_jobs("model", overrides, plain)
        if len(models) > 1:
            raise ConfigError(
                f"{override.key_or_group}={given}: model={','.join(models)} would each run these weights; give one "
                "model, and several files with model.gguf.path=A.gguf,B.gguf"
            )


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


def _options_of_jobs(group: str, overrides: Sequence[Override], plain: Sequence[str]) -> tuple[str, ...]:
    """The options of a group: from the command line, else from an experiment's sweep, else the default."""
    named = chosen_options(overrides, group)
    if named:
        return named
    hydra = _composed(plain, hydra=True).get("hydra")
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
        return _keys_of(_composed([f"{group}={option}"]))
    return dict(nodes(cast(dict[str, Any], OmegaConf.to_container(config, resolve=False)), f"{group}."))


def _keys_of(config: Mapping[str, Any]) -> list[str]:
    return [key for key, _ in nodes(config) if not key.endswith("_target_")]


def _composed(overrides: Sequence[str], *, hydra: bool = False) -> dict[str, Any]:
    """The configuration that the overrides compose to.

    Where Hydra refuses them, only their groups are used, then only the outer groups, then none.
    """
    from hydra.errors import HydraException

    groups = [override for override in overrides if "." not in override.partition("=")[0]]
    for attempt in (list(overrides), groups, [group for group in groups if "/" not in group], []):
        try:
            config = compose_options(attempt, with_hydra=hydra)
        except HydraException:
            continue
        return cast(dict[str, Any], OmegaConf.to_container(config, resolve=False))
    return {}
