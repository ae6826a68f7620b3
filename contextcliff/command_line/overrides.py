"""Overrides as they are typed: read one by one, and refused in one line before anything is composed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from contextcliff.composing import conf_dir
from contextcliff.errors import ConfigError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_TYPOGRAPHIC = "“”„‟«»‘’"
_HOME = re.compile(r"""\A([\w.+/@]+)=(~/[^"',\[\]{}\\]*)\Z""")
_UNKNOWN_SIGN = "LexerNoViableAltException"
_NOTHING_SAID = "Error parsing override"
_AROUND = "without blanks round the ="


def parsed(arguments: Sequence[str]) -> list[Override]:
    """Every argument that is no flag, by Hydra's grammar. Raises `ConfigError` for one that is no override."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import OverrideParseException

    parser = OverridesParser.create()
    found = []
    for argument in arguments:
        try:
            found += parser.parse_overrides([argument])
        except OverrideParseException as error:
            raise ConfigError(_told(argument, str(error).splitlines()[0])) from error
    return found


def with_home(arguments: Sequence[str]) -> list[str]:
    """The arguments with quotes round a path in the home folder, whose `~` Hydra's grammar takes in quotes only.

    No shell expands it behind a key with dots.
    """
    return [_HOME.sub(r'\1="\2"', argument) for argument in arguments]


def check_overrides(overrides: Sequence[Override]) -> None:
    """Raise `ConfigError` for what Hydra would answer with a traceback, or with words of its own making."""
    for override in overrides:
        key = override.key_or_group
        if not key:
            raise ConfigError(f"{override.input_line}: names no key; write KEY=VALUE")
        options = options_of(key)
        if not options or override.package is not None:
            continue
        default = _defaults().get(key, "")
        if override.is_delete() and default:
            raise ConfigError(f"~{key}: a run needs one; choose it with {key}=OPTION: {', '.join(options)}")
        for value in _values(override):
            several = default is None and isinstance(value, list)  # a group that may stay empty takes a list, too
            if not value or not (isinstance(value, str) or several):
                shown = str(override.input_line).partition("=")[2] or "''"
                raise ConfigError(f"{key}={shown}: is no option; the options are: {', '.join(options)}")


def chosen(overrides: Sequence[Override], group: str) -> tuple[str, ...]:
    """The options of a group that the overrides name, all of them where it is swept; none: the default's."""
    named = [override for override in overrides if override.key_or_group == group and override.package is None]
    return tuple(str(value) for override in named[-1:] if not override.is_delete() for value in _values(override))


def options_of(group: str) -> list[str]:
    """The shipped options of a group; none where there is no such group."""
    folder = conf_dir() / group
    return sorted(file.stem for file in folder.glob("*.yaml")) if re.fullmatch(r"\w+(/\w+)*", group) else []


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


def _defaults() -> Mapping[str, object]:
    """The option of each group that `config.yaml` names; None where it names none."""
    from omegaconf import OmegaConf

    config = cast(Mapping[str, list[object]], OmegaConf.to_container(OmegaConf.load(conf_dir() / "config.yaml")))
    groups = [entry for entry in config["defaults"] if isinstance(entry, Mapping)]
    return {str(name): option for entry in groups for name, option in entry.items()}


def _told(argument: str, hydra_says: str) -> str:
    key, equals, value = argument.partition("=")
    if not equals:
        return f"{argument}: is no override; {_meant(argument)}write KEY=VALUE {_AROUND}"
    if key != key.rstrip() or value != value.lstrip():
        return f"{argument}: is no override; write {key.strip()}={value.strip() or 'VALUE'} {_AROUND}"
    if value.startswith("="):
        return f"{argument}: is no override; write {key}={value.lstrip('=') or 'VALUE'}"
    if value.endswith(",") and value[0] not in "[{(":
        return f"{argument}: ends in a comma; write {key}={value.rstrip(',')}, or another value behind it"
    quoted = _quoted(key, value)
    if quoted is not None:
        return f"{argument}: needs quotes, a pair for the shell and one inside; write '{quoted}'"
    if hydra_says.startswith(_UNKNOWN_SIGN):
        return f"{argument}: is no override; put \"…\" round every text in it, and '…' round all of it for the shell"
    if hydra_says.startswith(_NOTHING_SAID):
        return f"{argument}: is no override; write KEY=VALUE or KEY=[A,B], in quotes for the shell"
    return f"{argument}: is no override ({hydra_says}); write KEY=VALUE, in quotes for the shell"


def _meant(word: str) -> str:
    """The flag or the option that a bare word must have meant."""
    if word in ("help", "version"):
        return f"did you mean --{word}? "
    groups = (
        sorted({file.parent.name for file in conf_dir().glob(f"*/{word}.yaml")} - {"hydra"})
        if word.isidentifier()
        else []
    )
    return f"did you mean {groups[0]}={word}? " if groups else ""


def _quoted(key: str, value: str) -> str | None:
    """The override with its value in double quotes, where that makes it one; typographic quotes become straight."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import OverrideParseException

    inside = value.strip(_TYPOGRAPHIC)
    if not inside or inside[0] in "[{(\"'" or "${" in inside or "'" in inside:
        return None
    text = inside.replace("\\", "\\\\").replace('"', '\\"')
    try:
        OverridesParser.create().parse_overrides([f'{key}="{text}"'])
    except OverrideParseException:
        return None
    return f'{key}="{text}"'
