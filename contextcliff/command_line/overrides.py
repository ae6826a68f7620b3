"""Overrides as they are typed: parsed one by one, and checked before anything is composed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from contextcliff.command_line.config_folders import option_files
from contextcliff.composing import conf_dir
from contextcliff.errors import ConfigError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_TYPOGRAPHIC = "“”„‟«»‘’"
_HOME = re.compile(r"""\A([\w.+/@]+)=(~/[^"',\[\]{}\\]*)\Z""")
_UNKNOWN_CHARACTER = "LexerNoViableAltException"
_NO_REASON = "Error parsing override"
_NO_BLANKS = "without blanks round the ="
_OPTIONAL = "optional "


def parse_overrides(arguments: Sequence[str]) -> list[Override]:
    """Parse arguments by Hydra's grammar. Raises `ConfigError` for one that is not an override."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import OverrideParseException

    parser = OverridesParser.create()
    overrides = []
    for argument in arguments:
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise ConfigError(f"{argument}: is not UTF-8; rename the file or folder")
        try:
            overrides += parser.parse_overrides([argument])
        except OverrideParseException as error:
            raise ConfigError(_parse_error(argument, str(error).splitlines()[0])) from error
    return overrides


def quote_home_paths(arguments: Sequence[str]) -> list[str]:
    """Quote values that begin with `~/`: shells leave them after a dotted key, and Hydra takes `~` in quotes only."""
    return [_HOME.sub(r'\1="\2"', argument) for argument in arguments]


def check_overrides(overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` for overrides that Hydra answers with a traceback or an unclear message."""
    for override in overrides:
        key = override.key_or_group
        if not key:
            raise ConfigError(f"{override.input_line}: names no key; write KEY=VALUE")
        options = options_of(key)
        if f"{_OPTIONAL}{key}" in _defaults():
            _check_optional(key, options, _values(override))
            continue
        if not options or override.package is not None:
            continue
        default = _defaults().get(key, "")
        if override.is_delete() and default:
            raise ConfigError(f"~{key}: a run needs one; choose it with {key}=OPTION: {', '.join(options)}")
        for value in _values(override):
            several = default is None and isinstance(value, list)  # a group that may stay empty takes a list, too
            if not value or not (isinstance(value, str) or several):
                shown = str(override.input_line).partition("=")[2] or "''"
                raise ConfigError(f"{key}={shown}: is not an option; the options are: {', '.join(options)}")


def _check_optional(group: str, options: Sequence[str], chosen: Iterable[object]) -> None:
    """Refuse an option that there is not: Hydra goes without it, since the default one need not be there."""
    for value in chosen:
        if value is None:
            raise ConfigError(f"{group}=null: is not an option; write ~{group} to leave it out")
        if value not in options:
            others = f"the options are: {', '.join(options)}" if options else "there is none yet"
            raise ConfigError(
                f"{group}={value}: no such option; {others}; write conf/{group}/{value}.yaml, or {group}/{value}.yaml "
                "in the folder of --config-dir"
            )


def chosen_options(overrides: Sequence[Override], group: str) -> tuple[str, ...]:
    """The options of a group that the overrides name, several in a sweep; empty where the default applies."""
    named = [override for override in overrides if override.key_or_group == group and override.package is None]
    return tuple(str(value) for override in named[-1:] if not override.is_delete() for value in _values(override))


def options_of(group: str) -> list[str]:
    """The options of a group, shipped ones and those of `--config-dir`; empty where there is no such group."""
    return sorted({file.stem for file in option_files(f"{group}/*.yaml")}) if re.fullmatch(r"\w+(/\w+)*", group) else []


def _values(override: Override) -> Iterator[object]:
    from hydra.core.override_parser.types import Glob, ValueType

    if override.is_delete():
        return
    if not override.is_sweep_override():
        yield override.value()
    elif override.value_type is ValueType.GLOB_CHOICE_SWEEP:
        yield from cast(Glob, override.value()).filter(options_of(override.key_or_group))
    elif override.is_discrete_sweep():
        yield from (text.strip("'\"") for text in override.sweep_string_iterator())


@cache
def _defaults() -> Mapping[str, object]:
    """The default option of each group in `config.yaml`; None for a group that is left empty."""
    from omegaconf import OmegaConf

    config = cast(Mapping[str, list[object]], OmegaConf.to_container(OmegaConf.load(conf_dir() / "config.yaml")))
    groups = [entry for entry in config["defaults"] if isinstance(entry, Mapping)]
    return {str(name): option for entry in groups for name, option in entry.items()}


def _parse_error(argument: str, hydra_says: str) -> str:
    key, equals, value = argument.partition("=")
    if not equals:
        return f"{argument}: is not an override; {_suggestion(argument)}write KEY=VALUE {_NO_BLANKS}"
    if key != key.rstrip() or value != value.lstrip():
        return f"{argument}: is not an override; write {key.strip()}={value.strip() or 'VALUE'} {_NO_BLANKS}"
    if value.startswith("="):
        return f"{argument}: is not an override; write {key}={value.lstrip('=') or 'VALUE'}"
    if value.endswith(",") and value[0] not in "[{(":
        return f"{argument}: ends in a comma; write {key}={value.rstrip(',')}, or add the next value"
    quoted = _quoted(key, value)
    if quoted is not None:
        return f"{argument}: needs quotes twice, for the shell and inside; write '{quoted}'"
    if hydra_says.startswith(_UNKNOWN_CHARACTER):
        return f"{argument}: is not an override; put \"…\" round every text in it, and '…' round it all for the shell"
    if hydra_says.startswith(_NO_REASON):
        return f"{argument}: is not an override; write KEY=VALUE or KEY=[A,B], in quotes for the shell"
    return f"{argument}: is not an override ({hydra_says}); write KEY=VALUE, in quotes for the shell"


def _suggestion(word: str) -> str:
    """`did you mean …?` for a bare word that names a flag or an option; else empty."""
    if word in ("help", "version"):
        return f"did you mean --{word}? "
    groups = (
        sorted({file.parent.name for file in option_files(f"*/{word}.yaml")} - {"hydra"}) if word.isidentifier() else []
    )
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
