"""What is typed: flags, overrides and the options that they name, each checked before anything is composed."""

from __future__ import annotations

import io
import math
import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from contextcliff.composing import conf_dir, nodes
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
_SEE_HELP = "see --help"
_COMMAND = "contextcliff"
_TYPED_SO_FAR = "COMP_LINE"
_TYPOGRAPHIC = "“”„‟«»‘’"
_HOME = re.compile(r"""\A([\w.+/@]+)=(~/[^"',\[\]{}\\]*)\Z""")
_INSIDE_TASK = re.compile(r"\btask[./](judge|embedding)\b")
_OF_HYDRA = re.compile(
    r"hydra/(launcher|sweeper|job_logging|hydra_logging|help)|hydra\.(launcher|sweeper|job\.env_set)\.\S+"
    r"|hydra\.(mode|verbose|searchpath|run\.dir|sweep\.dir|sweep\.subdir|job\.env_copy)"
)
"""What may be set of Hydra: the rest is what it writes beside our files, and what it notes of itself."""
_MOST_JOBS = 10_000
_LONGEST, _LONGEST_KEY = 20_000, 200
"""Characters of an override, for more of which Hydra's parser takes some seconds, and of its key."""
_LONGEST_SHOWN = 200
_NO_BLANKS = "without blanks round the ="


def use_config_dir(folder: str | None) -> None:
    """Find options also in the folder that `--config-dir` names. Raises `ConfigError` where there is none."""
    os.environ.pop(_CONFIG_DIR, None)
    if folder is None:
        return
    path = Path(folder).absolute()
    try:
        if not folder or not path.is_dir():
            raise ConfigError(f"--config-dir {_shown(folder)}: is no folder; give one with options in it")
        os.environ[_CONFIG_DIR] = str(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"--config-dir {_shown(folder)}: {error}; give a folder with options in it") from error


def option_files(pattern: str) -> Iterator[Path]:
    """The YAML files that a glob pattern names in the shipped folder, and behind it in the one of `--config-dir`."""
    for folder in _config_folders():
        yield from folder.glob(pattern)


def _config_folders() -> tuple[Path, ...]:
    own = os.environ.get(_CONFIG_DIR)
    return (conf_dir(), *([Path(own)] if own else []))


def compose_options(overrides: Sequence[str], *, with_hydra: bool = False) -> DictConfig:
    """The configuration that the overrides compose to, over the options of all folders.

    Raises what Hydra raises for overrides that it refuses.
    """
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    shipped, *own = _config_folders()
    quoted = [f"file://{folder}".replace("\\", "\\\\").replace('"', '\\"') for folder in own]
    found_too = [f'hydra.searchpath=["{folder}"]' for folder in quoted]
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(shipped), version_base="1.3"):
        return compose("config", overrides=[*found_too, *overrides], return_hydra_config=with_hydra)


def version() -> str:
    """Our version, and that of Hydra, which brings the flags."""
    import hydra

    try:
        ours = metadata.version("contextcliff")
    except metadata.PackageNotFoundError:
        ours = "from a checkout that is not installed"
    return f"contextcliff {ours} (Hydra {hydra.__version__})"


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandLine:
    """A command line: its overrides, its flags with their values, and what the flags ask for."""

    overrides: tuple[str, ...]
    flags: tuple[str, ...]
    multirun: bool
    showing: str
    """The flag that shows something instead of running, such as `--cfg`; empty if none."""
    config_dir: str | None
    """The folder of `--config-dir`, as it is typed."""


def parse_command_line(arguments: Sequence[str]) -> CommandLine:
    """Separate flags from overrides. Raises `ConfigError` for an unknown flag, or flags that exclude each other."""
    from hydra._internal.utils import get_args_parser

    values, unknown = _Parser(parents=[get_args_parser()], add_help=False).parse_known_args(list(arguments))
    flag = next((argument for argument in unknown if argument.startswith("-")), None)
    if flag is not None:
        raise ConfigError(_unknown_flag(flag, arguments))
    for name in _NOT_OURS:
        if getattr(values, name) is not None:
            raise ConfigError(f"{_as_flag(name)}: is no flag here; --config-dir FOLDER finds options of your own")
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
    return CommandLine(
        overrides=overrides,
        flags=tuple(flags),
        multirun=values.multirun,
        showing=next((_as_flag(name) for name in given if name in _SHOWING), ""),
        config_dir=values.config_dir,
    )


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message.removeprefix('argument ')}; {_SEE_HELP}")


def _unknown_flag(flag: str, arguments: Sequence[str]) -> str:
    from omegaconf import OmegaConf

    shown, _, value = flag.partition("=")
    after = arguments[arguments.index(flag) + 1 :][:1] if flag in arguments else []
    if not value and after and not after[0].startswith("-") and "=" not in after[0]:
        value = after[0]
    # A flag as other tools have it may name the end of a key: --trials is task.trials.
    end = f".{shown.lstrip('-').replace('-', '_')}"
    defaults = cast(Mapping[str, Any], OmegaConf.to_container(compose_options([]), resolve=False))
    keys = [name for name, _ in nodes(defaults) if f".{name}".endswith(end)]
    if not keys:
        return f"{_shown(shown)}: unknown flag; {_SEE_HELP}"
    return f"{shown}: unknown flag; write {min(keys, key=len)}={value or 'VALUE'} ({_SEE_HELP})"


def _as_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@contextmanager
def completing() -> Iterator[None]:
    """Let Hydra install the completion, or complete a line of ours, in silence.

    Under `python -m` Hydra would take over the completion of `python`; it completes `contextcliff` in its place.
    """
    if sys.argv[0].endswith(".py"):
        sys.argv[0] = _COMMAND
    typed = os.environ.get(_TYPED_SO_FAR)
    if typed is None:
        yield
        return
    os.environ[_TYPED_SO_FAR] = as_hydra_reads(typed)
    with redirect_stderr(io.StringIO()):  # it would stand in the middle of what somebody types
        yield


def as_hydra_reads(line: str) -> str:
    """The line with `-m`, since a comma sweeps here without it, and without `ui` and the shell's quotes."""
    command, _, rest = line.lstrip().partition(" ")
    return f"{command} -m {rest.removeprefix('ui ')}".replace("'", "").replace('"', "")


def parse_overrides(arguments: Sequence[str]) -> list[Override]:
    """Parse arguments by Hydra's grammar, and check what can be known of each without composing. Raises `ConfigError`.

    Values that begin with `~/` are put in quotes: shells leave them after a dotted key, and Hydra takes `~` in quotes
    only.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import OverrideParseException

    parser = OverridesParser.create()
    overrides: list[Override] = []
    for argument in arguments:
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise ConfigError(f"{argument[:_LONGEST_SHOWN]}: is not UTF-8; rename the file or folder")
        for text, most in ((argument.partition("=")[0], _LONGEST_KEY), (argument, _LONGEST)):
            if len(text) > most:
                raise ConfigError(f"{_shown(text)}: has {len(text):,} characters; give at most {most:,}")
        try:
            overrides += parser.parse_overrides([_HOME.sub(r'\1="\2"', argument)])
        except OverrideParseException as error:
            raise ConfigError(_parse_error(argument, str(error).splitlines()[0])) from error
        except RecursionError as error:
            raise ConfigError(f"{_shown(argument)}: has too many brackets; give fewer") from error
    _refuse_former_keys(overrides)
    _refuse_many_jobs(overrides)
    for override in overrides:
        _check(override)
    return overrides


def _refuse_former_keys(overrides: Sequence[Override]) -> None:
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


def _refuse_many_jobs(overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` for a sweep of more jobs than anybody waits for, before Hydra lists them."""
    interval = next((each for each in overrides if each.is_interval_sweep()), None)
    if interval is not None and not chosen_options(overrides, "hydra/sweeper"):
        raise ConfigError(
            f"{_shown(interval.input_line)}: only a sweeper that searches takes an interval (hydra/sweeper=OPTION); "
            "give values, KEY=A,B"
        )
    counts = {override.get_key_element(): _n_values(override) for override in overrides}  # of two the last one holds
    if math.prod(counts.values()) > _MOST_JOBS:
        key = max(counts, key=lambda key: counts[key])
        given = next(each for each in reversed(overrides) if each.get_key_element() == key)
        raise ConfigError(
            f"{_shown(given.input_line)}: makes {math.prod(counts.values()):,} jobs; a sweep has at most "
            f"{_MOST_JOBS:,}: give fewer values"
        )


def _n_values(override: Override) -> int:
    """How many values a key is swept over, without listing them; 1 if it is not swept."""
    from hydra.core.override_parser.types import ChoiceSweep, Glob, RangeSweep

    value = override.value() if override.is_sweep_override() else None
    if isinstance(value, RangeSweep):
        start, stop, step = (float(each or 0) for each in (value.start, value.stop, value.step))
        if not step:
            raise ConfigError(f"{_shown(override.input_line)}: a range by steps of 0 has no end; give another step")
        return max(0, math.ceil((stop - start) / step))
    if isinstance(value, ChoiceSweep):
        return len(value.list)
    return len(value.filter(options_of(override.key_or_group))) if isinstance(value, Glob) else 1


def _check(override: Override) -> None:
    """Raise `ConfigError` for an override that Hydra answers with a traceback or an unclear message."""
    key, line = override.key_or_group, str(override.input_line)
    typed, _, value = line.partition("=")
    if not key:
        raise ConfigError(f"{_shown(line)}: names no key; write KEY=VALUE")
    if override.is_sweep_override() and "glob" in value and not options_of(key):
        from hydra.core.override_parser.types import Glob

        if isinstance(override.value(), Glob):
            raise ConfigError(f"{_shown(line)}: only a group has options to choose among; give values, {key}=A,B")
    if re.match(r"hydra\b", key):
        if not _OF_HYDRA.fullmatch(key) or ("/" in key and (override.is_delete() or not _is_word(override))):
            raise ConfigError(
                f"{_shown(line)}: is Hydra's own; what may be set of it is hydra/launcher=OPTION, hydra.launcher.KEY, "
                "hydra.sweeper.KEY, hydra.mode, hydra.searchpath and hydra.job.env_set.NAME"
            )
        return
    options, default = options_of(key), _defaults().get(key, "")
    if f"optional {key}" in _defaults():  # Hydra goes without an unknown one, since the default need not be there
        _check_optional(key, options, override)
        return
    if not options:
        return
    if override.package is None and override.is_delete() and default:
        raise ConfigError(f"~{key}: a run needs one; choose it with {key}=OPTION: {', '.join(options)}")
    if override.package is None and override.is_add() and default:
        raise ConfigError(f"{typed}: is chosen already; write {key}=OPTION")
    for chosen in _values(override):
        several = default is None and isinstance(chosen, list)  # a group that may stay empty takes a list, too
        if not chosen or not (several or (isinstance(chosen, str) and "/" not in chosen)):
            shown = _shown(value) or "''"
            raise ConfigError(f"{typed.lstrip('+~')}={shown}: is not an option; the options are: {', '.join(options)}")


def _is_word(override: Override) -> bool:
    return not override.is_sweep_override() and bool(re.fullmatch(r"[\w.-]+", str(override.value() or "")))


def _check_optional(group: str, options: Sequence[str], override: Override) -> None:
    for value in _values(override):
        if value is None:
            raise ConfigError(f"{group}=null: is not an option; write ~{group} to leave it out")
        if value not in options:
            others = f"the options are: {', '.join(options)}" if options else "there is none yet"
            name = _shown(str(value))
            raise ConfigError(
                f"{group}={name}: no such option; {others}; write conf/{group}/{name}.yaml, or {group}/{name}.yaml "
                "in the folder of --config-dir"
            )


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
def _defaults() -> Mapping[str, object]:
    """The default option of each group in `config.yaml`; None for a group that is left empty."""
    from omegaconf import OmegaConf

    config = cast(Mapping[str, list[object]], OmegaConf.to_container(OmegaConf.load(conf_dir() / "config.yaml")))
    groups = [entry for entry in config["defaults"] if isinstance(entry, Mapping)]
    return {str(name): option for entry in groups for name, option in entry.items()}


def _parse_error(argument: str, hydra_says: str) -> str:
    key, equals, value = argument.partition("=")
    shown = f"{_shown(argument)}: is not an override"
    if not equals:
        return f"{shown}; {_suggestion(argument)}write KEY=VALUE {_NO_BLANKS}"
    if key != key.rstrip() or value != value.lstrip():
        return f"{shown}; write {_shown(key.strip())}={_shown(value.strip()) or 'VALUE'} {_NO_BLANKS}"
    if value.startswith("="):
        return f"{shown}; write {key}={_shown(value.lstrip('=')) or 'VALUE'}"
    if value.endswith(",") and value[0] not in "[{(":
        return f"{_shown(argument)}: ends in a comma; write {key}={_shown(value.rstrip(','))}, or add the next value"
    quoted = _quoted(key, value)
    if quoted is not None:
        return f"{_shown(argument)}: needs quotes twice, for the shell and inside; write '{_shown(quoted)}'"
    if hydra_says.startswith("LexerNoViableAltException"):  # a character that the grammar does not have
        return f"{shown}; put \"…\" round every text in it, and '…' round it all for the shell"
    if hydra_says.startswith("Error parsing override"):
        return f"{shown}; write KEY=VALUE or KEY=[A,B], in quotes for the shell"
    return f"{shown} ({_shown(hydra_says)}); write KEY=VALUE, in quotes for the shell"


def _suggestion(word: str) -> str:
    """`did you mean …?` for a bare word that names a flag or an option; else empty."""
    if word in ("help", "version"):
        return f"did you mean --{word}? "
    named = word.isidentifier() and len(word) <= _LONGEST_SHOWN
    groups = sorted({file.parent.name for file in option_files(f"*/{word}.yaml")} - {"hydra"}) if named else []
    return f"did you mean {groups[0]}={word}? " if groups else ""


def _quoted(key: str, value: str) -> str | None:
    """The override with its value in straight double quotes; None where that does not make it valid."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import OverrideParseException

    content = value.strip(_TYPOGRAPHIC)
    if not content or content[0] in "[{(\"'" or "${" in content or "'" in content:
        return None
    text = content.replace("\\", "\\\\").replace('"', '\\"')
    try:
        OverridesParser.create().parse_overrides([f'{key}="{text}"'])
    except OverrideParseException:
        return None
    return f'{key}="{text}"'


def _shown(text: object) -> str:
    return one_line(str(text), longest=_LONGEST_SHOWN)
