"""Another command line, composed inside a job: a comparison judges stored runs again by one rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.errors import ConfigError

if TYPE_CHECKING:
    from contextcliff.actions.action import Invocation


def recompose(overrides: Sequence[str]) -> Invocation:
    """The invocation of one job with these overrides. Raises `ConfigError`."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf import open_dict
    from omegaconf.errors import OmegaConfBaseException

    from contextcliff.composing import conf_dir
    from contextcliff.config import build_invocation

    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            config = compose("config", overrides=list(overrides), return_hydra_config=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(f"{' '.join(overrides)}: does not compose any more") from error
    choices = config.hydra.runtime.choices
    with open_dict(config):
        del config["hydra"]
    return build_invocation(config, list(overrides), options=choices)
