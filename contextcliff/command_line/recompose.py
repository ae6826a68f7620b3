"""Another command line, composed inside a job: a comparison judges stored runs again by one rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.errors import ConfigError

if TYPE_CHECKING:
    from contextcliff.actions.action import Invocation


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
