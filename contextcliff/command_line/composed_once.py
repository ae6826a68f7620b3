"""Each job of a sweep composed once: Hydra composes all of them to check them, and each again when it begins.

Composing takes some tenths of a second, which is much of a simulated job's time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hydra._internal.config_loader_impl import ConfigLoaderImpl
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
