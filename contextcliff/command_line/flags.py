"""Hydra's flags, with its usage errors in one line, and `--version`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import NoReturn

from contextcliff.command_line.job_keys import keys_of_jobs
from contextcliff.errors import ConfigError

_MODES = ("run", "multirun")
_SHOWING = ("help", "hydra_help", "cfg", "info", "shell_completion")
_SEE = "see --help"


def version() -> str:
    """Our version, and that of Hydra, whose flags are ours."""
    import hydra

    try:
        ours = metadata.version("contextcliff")
    except metadata.PackageNotFoundError:
        ours = "from a checkout that is not installed"
    return f"contextcliff {ours} (Hydra {hydra.__version__})"


def asks_for_version(arguments: Sequence[str]) -> bool:
    """Whether `--version` is among the arguments, shortened as argparse takes it."""
    return any(argument.startswith("--v") and "--version".startswith(argument) for argument in arguments)


@dataclass(frozen=True, kw_only=True, slots=True)
class Typed:
    """A command line: its overrides, its flags with what belongs to each, and what the flags ask for."""

    overrides: tuple[str, ...]
    flags: tuple[str, ...]
    multirun: bool
    shows: str
    """The flag that shows something in the place of a run; empty where there is none."""


def read(arguments: Sequence[str]) -> Typed:
    """Tell flags from overrides. Raises `ConfigError` for a flag that Hydra does not have, or can't take like this."""
    from hydra._internal.utils import get_args_parser

    parser = get_args_parser()
    parser.error = _refuse  # type: ignore[method-assign]
    found, unknown = parser.parse_known_args(list(arguments))
    flag = next((argument for argument in unknown if argument.startswith("-")), None)
    if flag is not None:
        raise ConfigError(_unknown(flag, arguments))
    given = [name for name in (*_MODES, *_SHOWING) if getattr(found, name) not in (False, None)]
    if len(given) > 1:
        raise ConfigError(f"{' and '.join(map(_as_flag, given))}: say different things; give one of them")
    for name in ("resolve", "package"):
        if getattr(found, name) and found.cfg is None and not found.help:
            raise ConfigError(f"{_as_flag(name)}: goes with --cfg job; write --cfg job {_as_flag(name)}")
    # Argparse leaves over what stands behind a flag that stands behind overrides.
    overrides, flags = (*found.overrides, *unknown), list(arguments)
    for override in overrides:
        flags.remove(override)
    shows = next((_as_flag(name) for name in given if name in _SHOWING), "")
    return Typed(overrides=overrides, flags=tuple(flags), multirun=found.multirun, shows=shows)


def _refuse(message: str) -> NoReturn:
    raise ConfigError(f"{message.removeprefix('argument ')}; {_SEE}")


def _unknown(flag: str, arguments: Sequence[str]) -> str:
    key, _, value = flag.lstrip("-").partition("=")
    after = arguments[arguments.index(flag) + 1 :][:1] if flag in arguments else []
    if not value and after and not after[0].startswith("-") and "=" not in after[0]:
        value = after[0]
    shown = flag.partition("=")[0]
    # A flag of another tool names the end of a key: --trials is task.trials.
    known = [name for name in keys_of_jobs("", [])[""] if f".{name}".endswith(f".{key.replace('-', '_')}")]
    if not known:
        return f"{shown}: is no flag; {_SEE}"
    return f"{shown}: is no flag; write {min(known, key=len)}={value or 'VALUE'} ({_SEE})"


def _as_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
