"""What is typed: flags, overrides and the options that they name, each checked before anything is composed."""

from __future__ import annotations

import difflib
import io
import math
import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from contextcliff.composing import conf_dir
from contextcliff.errors import ConfigError, one_line

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override
    from omegaconf import DictConfig

_CONFIG_DIR = "CONTEXTCLIFF_CONFIG_DIR"
"""The folder of `--config-dir`: jobs compose again, in whatever process a launcher runs them, and inherit it."""
_RUNNING = ("run", "multirun")
_SHOWING = ("help", "hydra_help", "cfg", "info", "shell_completion")
_NOT_OURS = ("config_name", "config_path", "experimental_rerun")
"""Flags of Hydra's that take another program's configuration."""
_TYPOGRAPHIC = "“”„‟«»‘’"
_HOME = re.compile(r"""\A([\w.+/@]+)=(~/[^"',\[\]{}\\]*)\Z""")
_OF_HYDRA = re.compile(
    r"hydra/(launcher|sweeper|job_logging|hydra_logging)|hydra\.(launcher|sweeper|job\.env_set)\.\S+"
    r"|hydra\.(mode|verbose|searchpath|run\.dir|sweep\.dir|sweep\.subdir|job\.env_copy)"
)
"""What may be set of Hydra: the rest is what it writes beside our files, and what it notes of itself."""
LAUNCHERS = "hydra/launcher"
_EXTRAS = {"ray": "ray", "ray_aws": "ray", "submitit_local": "slurm", "submitit_slurm": "slurm"}
"""Launchers that an extra of our package installs; `joblib` comes with it, and `basic` is Hydra's own."""
_MOST_JOBS = 10_000
_LONGEST_SHOWN = 200


def shown(text: object) -> str:
    """What was typed, cut to a length that an error message can hold."""
    return one_line(str(text), longest=_LONGEST_SHOWN)


def use_config_dir(folder: str | None) -> None:
    """Find options also in the folder that `--config-dir` names. Raises `ConfigError` where there is none."""
    os.environ.pop(_CONFIG_DIR, None)
    if folder is None:
        return
    with suppress(OSError, ValueError):  # no name of a file at all
        if folder and Path(folder).is_dir():
            os.environ[_CONFIG_DIR] = str(Path(folder).absolute())
            return
    raise ConfigError(f"--config-dir {shown(folder)}: is no folder; give one with options in it")


def option_files(pattern: str) -> Iterator[Path]:
    """The YAML files that a glob pattern names in the shipped folder, and behind it in the one of `--config-dir`."""
    for folder in _config_folders():
        yield from folder.glob(pattern)


def _config_folders() -> tuple[Path, ...]:
    own = os.environ.get(_CONFIG_DIR)
    return (conf_dir(), *([Path(own)] if own else []))


def compose_options(overrides: Sequence[str]) -> DictConfig:
    """The configuration that the overrides compose to, over the options of all folders, with Hydra's. Raises what Hydra
    raises for overrides that it refuses."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    shipped, *own = _config_folders()
    quoted = [f"file://{folder}".replace("\\", "\\\\").replace('"', '\\"') for folder in own]
    found_too = [f'hydra.searchpath=["{folder}"]' for folder in quoted]
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(shipped), version_base="1.3"):
        return compose("config", overrides=[*found_too, *overrides], return_hydra_config=True)


def parse_command_line(arguments: Sequence[str]) -> Namespace:
    """The values of Hydra's flags, with all that is typed as `overrides` and `flags`.

    `showing` is the flag that shows something instead of running, such as `--cfg`. Raises `ConfigError` for an unknown
    flag, or flags that exclude each other."""
    from hydra._internal.utils import get_args_parser

    values, unknown = _Parser(parents=[get_args_parser()], add_help=False).parse_known_args(list(arguments))
    if flag := next((argument for argument in unknown if argument.startswith("-")), None):
        name = flag.partition("=")[0]
        raise ConfigError(f"{shown(name)}: unknown flag; keys have no dashes: write KEY=VALUE (see --help)")
    given = [name for name in (*_NOT_OURS, *_RUNNING, *_SHOWING) if getattr(values, name) not in (False, None)]
    if given and given[0] in _NOT_OURS:
        raise ConfigError(f"{_as_flag(given[0])}: is no flag here; --config-dir FOLDER finds options of your own")
    if len(given) > 1:
        raise ConfigError(f"{' and '.join(map(_as_flag, given))}: exclude each other; give one of them")
    for name in ("resolve", "package"):
        if getattr(values, name) and values.cfg is None:
            raise ConfigError(f"{_as_flag(name)}: works only with --cfg job; write --cfg job {_as_flag(name)}")
    # Argparse does not recognise overrides after a flag that itself comes after overrides.
    values.overrides, values.flags = [*values.overrides, *unknown], list(arguments)
    for override in values.overrides:
        values.flags.remove(override)
    values.showing = next((_as_flag(name) for name in given if name in _SHOWING), "")
    return values


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message.removeprefix('argument ')}; see --help")


def _as_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@contextmanager
def completing() -> Iterator[None]:
    """Let Hydra install the completion, or complete a line of ours, in silence. Under `python -m` Hydra would take over
    the completion of `python`; it completes `contextcliff` in its place."""
    if sys.argv[0].endswith(".py"):
        sys.argv[0] = "contextcliff"
    line = os.environ.get("COMP_LINE")
    if line is None:
        yield
        return
    # With `-m`, since a comma sweeps here without it, and without `ui` and the shell's quotes.
    command, _, rest = line.lstrip().partition(" ")
    os.environ["COMP_LINE"] = re.sub("['\"]", "", f"{command} -m {rest.removeprefix('ui ')}")
    with redirect_stderr(io.StringIO()):  # it would stand in the middle of what somebody types
        yield


def parse_overrides(arguments: Sequence[str]) -> list[Override]:
    """Parse arguments by Hydra's grammar, and check what can be known of each without composing. Raises `ConfigError`.

    Values that begin with `~/` are put in quotes: shells leave them after a dotted key, and Hydra takes `~` in quotes
    only."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import OverrideParseException

    parser = OverridesParser.create()
    overrides: list[Override] = []
    for argument in arguments:
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise ConfigError(f"{argument[:_LONGEST_SHOWN]}: is not UTF-8; rename the file or folder")
        if len(key := argument.partition("=")[0]) > _LONGEST_SHOWN:
            raise ConfigError(f"{shown(key)}: is longer than any key there is")
        try:
            overrides += parser.parse_overrides([_HOME.sub(r'\1="\2"', argument)])
        except OverrideParseException as error:
            raise ConfigError(_parse_error(argument)) from error
    _refuse_many_jobs(overrides)
    for override in overrides:
        _check(override)
    return overrides


def _refuse_many_jobs(overrides: Sequence[Override]) -> None:
    jobs = 1
    for each in {each.get_key_element(): each for each in overrides}.values():  # of two the last one holds
        if each.is_interval_sweep() and not chosen_options(overrides, "hydra/sweeper"):
            raise ConfigError(
                f"{shown(each.input_line)}: only a sweeper that searches takes an interval (hydra/sweeper=OPTION); "
                "give values, KEY=A,B"
            )
        jobs *= _n_values(each)
        if jobs > _MOST_JOBS:
            most = f"a sweep has at most {_MOST_JOBS:,}: give fewer values"
            raise ConfigError(f"{shown(each.input_line)}: makes {jobs:,} jobs; {most}")


def _n_values(override: Override) -> int:
    from hydra.core.override_parser.types import ChoiceSweep, Glob, RangeSweep

    value = override.value() if override.is_sweep_override() else None
    if isinstance(value, RangeSweep):
        start, stop, step = (float(each or 0) for each in (value.start, value.stop, value.step))
        if not step:
            raise ConfigError(f"{shown(override.input_line)}: a range by steps of 0 has no end; give another step")
        return max(0, math.ceil((stop - start) / step))
    if isinstance(value, Glob):
        if not (options := options_of(override.key_or_group)):
            raise ConfigError(f"{shown(override.input_line)}: only a group has options to choose among; give KEY=A,B")
        return len(value.filter(options))
    return len(value.list) if isinstance(value, ChoiceSweep) else 1


def _check(override: Override) -> None:
    """Raise `ConfigError` for an override that Hydra answers with a traceback or an unclear message."""
    key, line = override.key_or_group, str(override.input_line)
    typed = line.partition("=")[0]
    if not key:
        raise ConfigError(f"{shown(line)}: names no key; write KEY=VALUE")
    if re.match(r"hydra\b", key):
        is_word = re.fullmatch(r"(?!null\b)(['\"]?)[\w.-]+\1", line.partition("=")[2]) and not override.is_delete()
        if not _OF_HYDRA.fullmatch(key) or ("/" in key and not is_word):
            raise ConfigError(
                f"{shown(line)}: is Hydra's own; what may be set of it is hydra/launcher=OPTION, hydra.launcher.KEY, "
                "hydra.sweeper.KEY, hydra.mode, hydra.searchpath and hydra.job.env_set.NAME"
            )
        return
    is_optional = f"optional {key}" in defaults()  # Hydra goes without an unknown one, since no default need be there
    options, default = options_of(key), defaults().get(key, "")
    if not options and not is_optional:
        return
    if override.package is None and default and (override.is_delete() or override.is_add()):
        raise ConfigError(f"{typed}: a run needs one; choose it with {key}=OPTION: {', '.join(options)}")
    for chosen in _values(override):
        # A group that may stay empty takes a list, too.
        names = chosen if default is None and isinstance(chosen, list) else [chosen]
        for name in names:
            if not isinstance(name, str) or (is_optional and name not in options) or not name or "/" in name:
                raise ConfigError(no_such_option(key, "null" if name is None else name, typed=typed.lstrip("+~")))


def no_such_option(group: str, name: object, *, typed: str = "") -> str:
    """The error for an option that a group does not have; `typed` is the group with the place that it goes to."""
    options = sorted(["basic", "joblib", *_EXTRAS]) if group == LAUNCHERS else options_of(group)
    wrong, word = f"{typed or group}={shown(name)}", str(name)
    if group == LAUNCHERS and word in _EXTRAS:
        return f"{wrong}: not installed; run pip install 'contextcliff[{_EXTRAS[word]}]'"
    if not options:
        return f"{wrong}: no such option; write {group}/NAME.yaml in the folder of --config-dir, or install its package"
    near = difflib.get_close_matches(word, options, n=1) or [each for each in options if word and word in each][:1]
    suggestion = f"did you mean {near[0]}? " if near else ""
    return f"{wrong}: no such option; {suggestion}the options are: {', '.join(options)}"


def chosen_options(overrides: Sequence[Override], group: str) -> tuple[str, ...]:
    """The options of a group that the overrides name, several in a sweep; empty where the default applies."""
    named = [override for override in overrides if override.key_or_group == group and override.package is None]
    return tuple(str(value) for override in named[-1:] for value in _values(override))


def options_of(group: str) -> list[str]:
    """The options of a group, shipped ones and those of `--config-dir`; empty where there is no such group."""
    if len(group) > _LONGEST_SHOWN or not re.fullmatch(r"\w+(/\w+)*", group):
        return []
    return sorted({file.stem for file in option_files(f"{group}/*.yaml")})


def _values(override: Override) -> Iterator[object]:
    from hydra.core.override_parser.types import Glob

    value = None if override.is_delete() else override.value()
    if isinstance(value, Glob):
        yield from value.filter(options_of(override.key_or_group))
    elif override.is_discrete_sweep():
        yield from (text.strip("'\"") for text in override.sweep_string_iterator())
    elif not override.is_delete() and not override.is_sweep_override():
        yield value


@cache
def defaults() -> Mapping[str, object]:
    """The option of each group that `conf/config.yaml` names, as it stands there."""
    from omegaconf import OmegaConf

    entries: Any = OmegaConf.to_container(OmegaConf.load(conf_dir() / "config.yaml"))
    return {name: option for entry in entries["defaults"] if entry != "_self_" for name, option in entry.items()}


def _parse_error(argument: str) -> str:
    key, equals, value = argument.partition("=")
    wrong = f"{shown(argument)}: is not an override"
    if not equals:
        is_word = argument.isidentifier() and len(argument) <= _LONGEST_SHOWN
        groups = [each.parent.name for each in option_files(f"*/{argument}.yaml")] if is_word else []
        return f"{wrong}; {f'did you mean {groups[0]}={argument}? ' if groups else ''}write KEY=VALUE (see --help)"
    if quoted := _quoted(key, value):
        return f"{shown(argument)}: needs quotes twice, for the shell and inside; write '{shown(quoted)}'"
    return f"{wrong}; write KEY=VALUE or KEY=[A,B], with \"…\" round every text, and '…' round it all for the shell"


def _quoted(key: str, value: str) -> str | None:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import OverrideParseException

    content = value.strip(_TYPOGRAPHIC)
    if content != content.strip(" =,") or content[:1] in ("", *"[{(\"'") or "${" in content or "'" in content:
        return None
    text = content.replace("\\", "\\\\").replace('"', '\\"')
    try:
        OverridesParser.create().parse_overrides([f'{key}="{text}"'])
    except OverrideParseException:
        return None
    return f'{key}="{text}"'
