"""Less work of Hydra's for the same configurations: composing takes a tenth of a second, much of a simulated job.

Each job of a sweep is composed once (Hydra does so to check all of them, and again when each begins), what jobs with
the same options have in common is read and merged once, and the schemas are not copied for it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from hydra._internal import config_loader_impl
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import IConfigRepository
from hydra._internal.defaults_list import DefaultsList, Overrides
from hydra.core.config_store import ConfigStore
from hydra.core.default_element import ResultDefault
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig

_MOST_KEPT = 500
"""Configurations in memory; the later ones of a longer sweep are composed again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Checked:
    master: DictConfig
    """Held, since its identity is part of the key."""
    config: DictConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class _Merged:
    defaults: list[ResultDefault]
    """Held, since its identity is the key."""
    config: DictConfig


@contextmanager
def jobs_composed_once() -> Iterator[None]:
    """Within the block, a job that begins takes the configuration that was composed when the sweep was checked."""
    compose = ConfigLoaderImpl.load_sweep_config
    checked: dict[tuple[int, tuple[str, ...]], _Checked] = {}

    def load(self: ConfigLoaderImpl, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        job = (id(master_config), tuple(sweep_overrides))
        # Given away, and not lent: the launcher writes the number of the job into it.
        if job in checked:
            return checked.pop(job).config
        config = compose(self, master_config, sweep_overrides)
        if len(checked) < _MOST_KEPT:
            checked[job] = _Checked(master=master_config, config=config)
        return config

    ConfigLoaderImpl.load_sweep_config = load  # type: ignore[method-assign]
    try:
        yield
    finally:
        ConfigLoaderImpl.load_sweep_config = compose  # type: ignore[method-assign]


@contextmanager
def options_merged_once() -> Iterator[None]:
    """Within the block, jobs that choose the same options share what these compose to, before values are set in it.

    Which options a job has follows from the overrides that name groups, and from nothing else. The files are taken not
    to change while a sweep is checked.
    """
    list_options = config_loader_impl.create_defaults_list  # type: ignore[attr-defined]
    merge = ConfigLoaderImpl._compose_config_from_defaults_list
    listed: dict[object, DefaultsList] = {}
    merged: dict[int, _Merged] = {}

    def options_of(
        repo: IConfigRepository,
        config_name: str | None,
        overrides_list: list[Override],
        prepend_hydra: bool,
        skip_missing: bool,
    ) -> DefaultsList:
        values = Overrides(repo=repo, overrides_list=overrides_list).config_overrides
        choices = tuple(each.input_line for each in overrides_list if each not in values)
        sources = tuple((each.provider, each.path) for each in repo.get_sources())
        asked = (sources, config_name, choices, prepend_hydra, skip_missing)
        if asked not in listed:
            listed[asked] = list_options(repo, config_name, overrides_list, prepend_hydra, skip_missing)
        return replace(listed[asked], config_overrides=values)

    def compose(self: ConfigLoaderImpl, defaults: list[ResultDefault], repo: IConfigRepository) -> DictConfig:
        kept = merged.get(id(defaults))
        if kept is None:
            kept = _Merged(defaults=defaults, config=merge(self, defaults, repo))
            if len(merged) < _MOST_KEPT:
                merged[id(defaults)] = kept
        return copy.deepcopy(kept.config)

    config_loader_impl.create_defaults_list = options_of  # type: ignore[attr-defined]
    ConfigLoaderImpl._compose_config_from_defaults_list = compose  # type: ignore[method-assign]
    try:
        yield
    finally:
        config_loader_impl.create_defaults_list = list_options  # type: ignore[attr-defined]
        ConfigLoaderImpl._compose_config_from_defaults_list = merge  # type: ignore[method-assign]


@contextmanager
def config_store_shared() -> Iterator[None]:
    """Within the block, Hydra's store of schemas is not copied whenever Hydra copies its list of sources.

    Hydra does so for each composition and for each line of `--help`. The store gives away copies of what it holds, so
    that all may share it.
    """

    def shared(self: ConfigStore, _: object) -> ConfigStore:
        return self

    ConfigStore.__deepcopy__ = shared  # type: ignore[attr-defined]
    try:
        yield
    finally:
        del ConfigStore.__deepcopy__  # type: ignore[attr-defined]
