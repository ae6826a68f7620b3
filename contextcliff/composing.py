"""Hydra's side of the command line: where `conf/` lies, what sweeps, and its errors in one line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

_NO_SUCH_KEY = re.compile(r"Could not override '([^']+)'|Key '([^']+)' is not in struct")
_NO_SUCH_OPTION = re.compile(r"Could not find '([^']+)/([^'/]+)'")
_FULL_KEY = re.compile(r"full_key: (\S+)")
_ALL_KEYS = "see all keys with: python -m contextcliff --cfg job"


def conf_dir() -> Path:
    """The shipped `conf/`: inside the package where it is installed, beside it in a checkout."""
    package = Path(__file__).resolve().parent
    packaged = package / "conf"
    return packaged if packaged.is_dir() else package.parent / "conf"


def _of_task(group: str, task: str, default: str) -> str:
    """The option of a group that goes with a task, by `conf/of_task.yaml`; `default` where it names none."""
    return str(_options_of_tasks().get(task, {}).get(group, default))


@cache
def _options_of_tasks() -> Mapping[str, Mapping[str, str]]:
    return cast(Mapping[str, Mapping[str, str]], OmegaConf.to_container(OmegaConf.load(conf_dir() / "of_task.yaml")))


OmegaConf.register_new_resolver("of_task", _of_task, replace=True)


def sweeps(arguments: Sequence[str]) -> bool:
    """Whether an override asks for several values (`model=a,b`) and no flag says so yet."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import OverrideParseException

    if {"-m", "--multirun"} & set(arguments):
        return False
    overrides = [argument for argument in arguments if "=" in argument and not argument.startswith("-")]
    try:
        return any(override.is_sweep_override() for override in OverridesParser.create().parse_overrides(overrides))
    except OverrideParseException:
        return False  # composing says what is wrong


def explain(error: Exception, arguments: Sequence[str]) -> str:
    """Hydra's error in one line that names the key, the value and the way out."""
    from hydra.errors import OverrideParseException

    if isinstance(error, OverrideParseException):
        return (
            f"{error.override}: is no override ({str(error).splitlines()[0]}); write KEY=VALUE, in quotes for the shell"
        )
    told = f"{error}\n{error.__cause__ or ''}"
    option = _NO_SUCH_OPTION.search(told)
    if option is not None:
        group, name = option.groups()
        options = sorted(file.stem for file in (conf_dir() / group).glob("*.yaml"))
        if not options:
            return f"{group}={name}: no such option; is the package that brings it installed?"
        return f"{group}={name}: no such option; {_near(name, options)}the options are: {', '.join(options)}"
    key = _NO_SUCH_KEY.search(told)
    if key is not None:
        full = _FULL_KEY.search(told)
        name = full.group(1) if full is not None else next(filter(None, key.groups()))
        return f"{name}: unknown key; {hint(name, _composed_keys(name, arguments))}"
    return " ".join(str(error).split())


def hint(key: str, known: Iterable[str]) -> str:
    """`did you mean X?`, or the way to see the keys where none is near."""
    near = difflib.get_close_matches(key, list(known), n=1)
    return f"did you mean {near[0]}?" if near else _ALL_KEYS


def nodes(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    """Every node of nested mappings as dotted key and value, parents before children."""
    for key, value in values.items():
        path = f"{prefix}{key}"
        yield path, value
        if isinstance(value, Mapping):
            yield from nodes(value, f"{path}.")


def _near(name: str, options: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, options, n=1)
    return f"did you mean {near[0]}? " if near else ""


def _composed_keys(unknown: str, arguments: Sequence[str]) -> list[str]:
    """Keys of what the other overrides compose to; of the defaults where they do not compose."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf import OmegaConf

    others = [
        argument
        for argument in arguments
        if "=" in argument and not argument.startswith("-") and argument.split("=")[0].lstrip("+~") != unknown
    ]
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        try:
            config = compose("config", overrides=[item for item in others if not sweeps([item])])
        except HydraException:
            config = compose("config")
    values = cast(dict[str, Any], OmegaConf.to_container(config, resolve=False))
    return [key for key, _ in nodes(values) if not key.endswith("_target_")]
