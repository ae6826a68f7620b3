"""Hydra's flags, with its usage errors in one line, and `--version`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import NoReturn

from contextcliff.command_line.job_keys import keys_of_jobs
from contextcliff.errors import ConfigError

_RUNNING = ("run", "multirun")
_SHOWING = ("help", "hydra_help", "cfg", "info", "shell_completion")
_SEE_HELP = "see --help"


def version() -> str:
    """Our version, and that of Hydra, which brings the flags."""
    import hydra

    try:
        ours = metadata.version("contextcliff")
    except metadata.PackageNotFoundError:
        ours = "from a checkout that is not installed"
    return f"contextcliff {ours} (Hydra {hydra.__version__})"


def asks_for_version(arguments: Sequence[str]) -> bool:
    """Whether `--version` is among the arguments, also shortened (`--vers`) as argparse allows."""
    return any(argument.startswith("--v") and "--version".startswith(argument) for argument in arguments)


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandLine:
    """A command line: its overrides, its flags with their values, and what the flags ask for."""

    overrides: tuple[str, ...]
    flags: tuple[str, ...]
    multirun: bool
    showing: str
    """The flag that shows something instead of running, such as `--cfg`; empty where there is none."""
    config_dir: str | None
    """The folder of `--config-dir`, as it is typed."""


def parse_command_line(arguments: Sequence[str]) -> CommandLine:
    """Separate flags from overrides. Raises `ConfigError` for an unknown flag, or flags that exclude each other."""
    from hydra._internal.utils import get_args_parser

    values, unknown = _Parser(parents=[get_args_parser()], add_help=False).parse_known_args(list(arguments))
    flag = next((argument for argument in unknown if argument.startswith("-")), None)
    if flag is not None:
        raise ConfigError(_unknown_flag(flag, arguments))
    given = [name for name in (*_RUNNING, *_SHOWING) if getattr(values, name) not in (False, None)]
    if len(given) > 1:
        raise ConfigError(f"{' and '.join(map(_as_flag, given))}: exclude each other; give one of them")
    for name in ("resolve", "package"):
        if getattr(values, name) and values.cfg is None and not values.help:
            raise ConfigError(f"{_as_flag(name)}: works only with --cfg job; write --cfg job {_as_flag(name)}")
    # Argparse does not recognise overrides after a flag that itself comes after overrides.
    overrides, flags = (*values.overrides, *unknown), list(arguments)
    for override in overrides:
        flags.remove(override)
    showing = next((_as_flag(name) for name in given if name in _SHOWING), "")
    return CommandLine(
        overrides=overrides,
        flags=tuple(flags),
        multirun=values.multirun,
        showing=showing,
        config_dir=values.config_dir,
    )


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message.removeprefix('argument ')}; {_SEE_HELP}")


def _unknown_flag(flag: str, arguments: Sequence[str]) -> str:
    key, _, value = flag.lstrip("-").partition("=")
    after = arguments[arguments.index(flag) + 1 :][:1] if flag in arguments else []
    if not value and after and not after[0].startswith("-") and "=" not in after[0]:
        value = after[0]
    shown = flag.partition("=")[0]
    # A flag as other tools have it may name the end of a key: --trials is task.trials.
    keys = [name for name in keys_of_jobs("", [])[""] if f".{name}".endswith(f".{key.replace('-', '_')}")]
    if not keys:
        return f"{shown}: unknown flag; {_SEE_HELP}"
    return f"{shown}: unknown flag; write {min(keys, key=len)}={value or 'VALUE'} ({_SEE_HELP})"


def _as_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
