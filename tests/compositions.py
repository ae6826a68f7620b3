"""Configurations as the command line composes them, each once a session: composing takes a tenth of a second."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from unittest import mock

import pytest
from hydra import compose, initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.config_source import ConfigResult, ConfigSource
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from contextcliff.actions.action import Invocation
from contextcliff.actions.prepare import deployment
from contextcliff.command_line.keys import checked, explain
from contextcliff.command_line.overrides import parse_command_line, parse_overrides
from contextcliff.command_line.sweep_jobs import path_errors_by_key
from contextcliff.composing import conf_dir
from contextcliff.config import build_invocation
from contextcliff.errors import ConfigError, ContextCliffError

ON_THE_HUB = ("ruler_qa_1", "ruler_qa_2")
"""Tasks whose own dataset is downloaded."""


def without_hub(task: str) -> tuple[str, ...]:
    """The overrides that take a task, over texts that are here."""
    return (f"task={task}", "dataset=stories") if task in ON_THE_HUB else (f"task={task}",)


@cache
def read_files_once() -> None:
    """Let Hydra read each file of `conf/` once a process: a fourth of what composing takes is reading YAML."""
    Plugins.instance()  # which loads the class anew
    of_files = SourcesRegistry.instance().resolve("file")
    read, known = of_files.load_config, dict[str, ConfigResult]()

    def load_config(source: ConfigSource, config_path: str) -> ConfigResult:
        if not source.path.endswith(str(conf_dir())):
            return read(source, config_path)
        if config_path not in known:
            known[config_path] = read(source, config_path)
        return deepcopy(known[config_path])

    mock.patch.object(of_files, "load_config", load_config).start()


@cache
def composed(*overrides: str) -> DictConfig:
    """`conf/` under these overrides, read-only."""
    read_files_once()
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


def jobs_of(*arguments: str) -> list[list[str]]:
    """The overrides of each job of a command line, checked as the command line checks them."""
    overrides = parse_overrides(checked(parse_overrides(parse_command_line(list(arguments)).overrides)))
    return [list(job) for batch in BasicSweeper.split_arguments(overrides, None) for job in batch]


def line_of(*arguments: str) -> str:
    """The error line of a refused command line, by jobs of this process; only `engine=simulated` is opened."""
    overrides: list[Override] = []
    try:
        for job in jobs_of(*arguments):
            overrides = parse_overrides(job)
            invocation = built(*job)
            with path_errors_by_key(invocation.parameters):
                invocation.identify()
                deployment(invocation)
                if invocation.engine.name == "simulated":
                    invocation.action(invocation)
    except ContextCliffError as error:
        return str(error)
    except (HydraException, OmegaConfBaseException) as error:
        return explain(error, overrides)
    raise AssertionError("was not refused")
