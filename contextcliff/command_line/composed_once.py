"""Less work of Hydra's for the same configurations. Composing takes some tenths of a second, much of a simulated job's
time: each job of a sweep is composed once (Hydra does so to check all of them, and again when each begins), and the
schemas are not copied for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig

_MOST_KEPT = 500
"""Configurations in memory; the later ones of a longer sweep are composed again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Checked:
    master: DictConfig
    """Held, since its identity is part of the key."""
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
