"""Where options are found: in the shipped folder, and behind it in the one of `--config-dir`.

Jobs compose again for comparisons and for error messages, in whatever process a launcher runs them. So the folder is in
the environment, which processes inherit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.composing import conf_dir
from contextcliff.errors import ConfigError

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from contextcliff.actions.action import Invocation


_CONFIG_DIR = "CONTEXTCLIFF_CONFIG_DIR"


def use_config_dir(folder: str | None) -> None:
    """Find options also in the folder that `--config-dir` names; None: in no other than the shipped one."""
    os.environ.pop(_CONFIG_DIR, None)
    if folder is not None:
        os.environ[_CONFIG_DIR] = str(Path(folder).absolute())


def config_folders() -> tuple[Path, ...]:
    """The folders with groups of options; of two options of one name the first folder's is taken."""
    own = os.environ.get(_CONFIG_DIR)
    return (conf_dir(), *([Path(own)] if own else []))


def option_files(pattern: str) -> Iterator[Path]:
    """The YAML files of all folders that a glob pattern below them names."""
    for folder in config_folders():
        yield from folder.glob(pattern)


def compose_options(overrides: Sequence[str], *, with_hydra: bool = False) -> DictConfig:
    """The configuration that the overrides compose to, over the options of all folders.

    Raises what Hydra raises for overrides that it refuses.
    """
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    shipped, *own = config_folders()
    found_too = [f'hydra.searchpath=["{_quoted(folder)}"]' for folder in own]
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(shipped), version_base="1.3"):
        return compose("config", overrides=[*found_too, *overrides], return_hydra_config=with_hydra)


def _quoted(folder: Path) -> str:
    return f"file://{folder}".replace("\\", "\\\\").replace('"', '\\"')


def recompose(overrides: Sequence[str]) -> Invocation:
    """The invocation of one job with these overrides. Raises `ConfigError`."""
    from hydra.errors import HydraException
    from omegaconf import open_dict
    from omegaconf.errors import OmegaConfBaseException

    from contextcliff.command_line.config_folders import compose_options
    from contextcliff.config import build_invocation

    try:
        config = compose_options(overrides, with_hydra=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(f"{' '.join(overrides)}: does not compose any more") from error
    choices = config.hydra.runtime.choices
    with open_dict(config):
        del config["hydra"]
    return build_invocation(config, list(overrides), options=choices)
