"""Which keys the jobs of a command line have, and `++KEY=VALUE`: a key that is set in the jobs that have it.

Hydra's own `++` sets a key or adds it. In a sweep over options with different keys (`task=niah,continuation
++task.trials=2`) the jobs without the key leave it out and say so; a key that none of them has is an error.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from omegaconf import DictConfig, OmegaConf, open_dict

from contextcliff.command_line.overrides import chosen, options_of, parsed
from contextcliff.composing import conf_dir, hint, nodes
from contextcliff.errors import ConfigError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_FORCED = "++"


def keys_of_jobs(key: str, overrides: Sequence[Override]) -> Mapping[str, Sequence[str]]:
    """The keys of each job that differs in the option of `key`'s group, by `task=niah`; '' for a key of no group."""
    group = key.partition(".")[0]
    others = [override for override in overrides if override.key_or_group not in (key, group)]
    plain = [str(one.input_line) for one in others if not one.is_sweep_override() and not one.is_force_add()]
    options = _options_of_jobs(group, overrides, plain) if options_of(group) else ()
    if not options:
        return {"": _composed_keys(plain)}
    return {f"{group}={option}": _composed_keys([f"{group}={option}", *plain]) for option in options}


def options_with(key: str) -> list[str]:
    """The shipped options of a key's group that have the key."""
    group = key.partition(".")[0]
    return [option for option in options_of(group) if key in _keys_of_option(group, option)]


def refuse_forced_nowhere(overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` for a `++` key that several jobs are given and none of them has.

    What stands deeper in a section is left to the jobs, since some sections take any key (`model.extra_body`).
    """
    for override in overrides:
        group, section = _section(override.key_or_group)
        if not override.is_force_add() or not section or group == "hydra":
            continue
        jobs = keys_of_jobs(override.key_or_group, overrides)
        # An option of the user's own (--config-dir) is not looked into.
        shipped = {f"{group}={option}" for option in options_of(group)}
        if len(jobs) > 1 and shipped.issuperset(jobs) and not any(section in known for known in jobs.values()):
            told = hint(override.key_or_group, dict.fromkeys(chain.from_iterable(jobs.values())))
            raise ConfigError(f"{override.key_or_group}: unknown key; none of {', '.join(jobs)} has it; {told}")


def refuse_swept_list(overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` for a key that takes a list and is swept over single values: brackets were forgotten."""
    from hydra.core.override_parser.types import ChoiceSweep

    for override in overrides:
        key = override.key_or_group
        swept = override.value() if override.is_choice_sweep() else None
        if "." not in key or key.startswith("hydra.") or not isinstance(swept, ChoiceSweep):
            continue
        if any(isinstance(value, list) for value in swept.list):
            continue
        plain = [one.input_line for one in overrides if not one.is_sweep_override() and not one.is_force_add()]
        if isinstance(dict(nodes(_composed([str(line) for line in plain]))).get(key), list):
            given = str(override.input_line).partition("=")[2]
            raise ConfigError(
                f"{key}={given}: takes a list; write {key}=[{','.join(override.sweep_string_iterator())}]"
            )


def without_absent(config: DictConfig, overrides: Sequence[str], choices: Mapping[str, str | None]) -> list[str]:
    """Take the `++` keys that its options do not have out of a job of a sweep, each named in a line on stderr.

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
            sys.stderr.write(f"note: {key}: {group}={choices.get(group)} has no such key, and goes without it\n")
        else:
            kept.append(item)
    return kept


def _section(key: str) -> tuple[str, str]:
    """The group of a key, and the key of that group which it is or lies in: `task`, `task.needle`; '' for a group."""
    group, _, rest = key.partition(".")
    return group, f"{group}.{rest.partition('.')[0]}" if rest else ""


def _lacks(node: object, key: str) -> bool:
    """Whether the class that a group names has no such field."""
    target = node.get("_target_") if key and isinstance(node, DictConfig) else None
    if target is None:
        return False
    module, _, name = str(target).rpartition(".")
    try:
        cls = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return False  # building says what is wrong with it
    return is_dataclass(cls) and key not in {field.name for field in fields(cls)}


def _options_of_jobs(group: str, overrides: Sequence[Override], plain: Sequence[str]) -> tuple[str, ...]:
    """The options that a command line names, that the sweeper of its experiment goes over, or that goes by default."""
    named = chosen(overrides, group)
    if named:
        return named
    hydra = _composed(plain, hydra=True).get("hydra")
    if hydra is None:
        return ()
    swept = hydra["sweeper"]["params"] or {}
    if group in swept:
        return chosen(parsed([f"{group}={swept[group]}"]), group)
    default = hydra["runtime"]["choices"].get(group)
    return (default,) if isinstance(default, str) else ()


def _keys_of_option(group: str, option: str) -> Collection[str]:
    config = OmegaConf.load(conf_dir() / group / f"{option}.yaml")
    if "defaults" in config:  # a judge: its model and its engine are options too
        return _composed_keys([f"{group}={option}"])
    return dict(nodes(cast(dict[str, Any], OmegaConf.to_container(config, resolve=False)), f"{group}."))


def _composed_keys(overrides: Sequence[str]) -> list[str]:
    return [key for key, _ in nodes(_composed(overrides)) if not key.endswith("_target_")]


def _composed(overrides: Sequence[str], *, hydra: bool = False) -> dict[str, Any]:
    """What the overrides compose to; their groups alone, the outer ones, or the defaults, where they do not."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException

    groups = [override for override in overrides if "." not in override.partition("=")[0]]
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        for taken in (list(overrides), groups, [group for group in groups if "/" not in group], []):
            try:
                config = compose("config", overrides=taken, return_hydra_config=hydra)
            except HydraException:
                continue
            return cast(dict[str, Any], OmegaConf.to_container(config, resolve=False))
    return {}
