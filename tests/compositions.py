"""Configurations as the command line composes them, each once a session: composing takes a tenth of a second."""

from __future__ import annotations

from functools import cache

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

from contextcliff.actions.action import Invocation
from contextcliff.composing import conf_dir
from contextcliff.config import build_invocation
from contextcliff.errors import ConfigError

ON_THE_HUB = ("ruler_qa_1", "ruler_qa_2")
"""Tasks whose own dataset is downloaded."""


def without_hub(task: str) -> tuple[str, ...]:
    """The overrides that take a task, over texts that are here."""
    return (f"task={task}", "dataset=stories") if task in ON_THE_HUB else (f"task={task}",)


@cache
def composed(*overrides: str) -> DictConfig:
    """`conf/` under these overrides, read-only."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = compose("config", overrides=list(overrides))
    OmegaConf.set_readonly(config, True)
    return config


@cache
def built(*overrides: str) -> Invocation:
    """The objects of a composed configuration."""
    return build_invocation(composed(*overrides), overrides)


def refusal(*overrides: str) -> str:
    """The line with which a configuration is refused."""
    with pytest.raises(ConfigError) as refused:
        built(*overrides)
    return str(refused.value)
