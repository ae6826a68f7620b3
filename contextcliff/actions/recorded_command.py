"""The command line that a run was recorded with, as overrides that can be composed again under others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence

from contextcliff.errors import ConfigError
from contextcliff.records.report import Report

_PROGRAM = ("python", "-m", "contextcliff")
_REACHES_OUT = re.compile(r"_target_|\$\{[^}]*:")
"""A class by its name, or a resolver, which may read the environment."""


def recorded_overrides(report: Report, *, but: Collection[str]) -> list[str]:
    """The overrides of a run without those that set a key of `but`, or one below it.

    A report may be anybody's: raises `ConfigError` for one whose command names a class or reads the environment.
    """
    try:
        words = shlex.split(report.run.command)
    except ValueError:
        words = []
    if tuple(words[: len(_PROGRAM)]) != _PROGRAM:
        raise ConfigError(f"{report.run.run_id}: its report.json has no command of ContextCliff; repeat its overrides")
    overrides = words[len(_PROGRAM) :]
    unsafe = next((each for each in overrides if _REACHES_OUT.search(each)), None)
    if unsafe is not None:
        raise ConfigError(
            f"{report.run.run_id}: its command has {unsafe}, and what names a class or reads the environment is not "
            "taken from a file; repeat its overrides"
        )
    return [each for each in overrides if not any(_is_below(key_of(each), key) for key in but)]


def key_of(override: str) -> str:
    """The dotted key that an override sets; of `engine@judge.engine=vllm` it is `judge.engine`."""
    key = override.partition("=")[0].lstrip("+~")
    return re.split("[@:]", key)[-1].replace("/", ".")


def overrides_by_key(overrides: Sequence[str]) -> dict[str, str]:
    """Key to value, both as typed."""
    return dict(each.lstrip("+~").partition("=")[::2] for each in overrides)


def _is_below(key: str, other: str) -> bool:
    return key == other or key.startswith(f"{other}.")
