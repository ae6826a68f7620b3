"""The jobs that a sweep is made of, before any of them runs: their overrides, what they differ in, and its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from omegaconf import DictConfig, OmegaConf

from contextcliff.records.report import shown_model
from contextcliff.reporting.run_names import with_file_names
from contextcliff.seeding import digest_of

_OTHERS = frozenset({"action", "budget", "hydra", "output_dir", "reporting", "tracking"})
"""Keys that don't make another sweep: what is asked, and of whom, stays."""
_QUOTES = "'\""
_NAMED = ("model", "task", "kv_policy")
_LONGEST_NAME = 100
_SWEEPER = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"
_ID_SHOWN = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepGrid:
    """The jobs of a sweep, each by its overrides. None are known of a sweeper that chooses on the way."""

    typed: tuple[str, ...]
    jobs: tuple[tuple[str, ...], ...]
    engine: str
    """The engine's option, of the first jobs where engines are swept."""

    @property
    def sweep_id(self) -> str:
        """The same for the same jobs in whatever order, however they are run and reported."""
        asked = self.jobs or (self.typed,)
        return digest_of(sorted(sorted(each for each in job if _key(each) not in _OTHERS) for job in asked))[:_ID_SHOWN]

    @property
    def name(self) -> str:
        """`sweep · qwen, glm · niah, tracing`: the values that are swept, marked where all jobs are simulated."""
        shown = (
            [with_file_names({key: value.strip(_QUOTES)})[key] for value in values]
            for key, values in self._swept().items()
        )
        parts = [", ".join(values) for values in shown]
        name = " · ".join(["sweep", *parts])
        name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
        return name if "engine" in self._swept() else shown_model(name, engine=self.engine)

    def differing_keys(self) -> tuple[str, ...]:
        """The keys in which jobs differ, without model, task and KV policy."""
        return tuple(key for key in self._swept() if key not in _NAMED)

    def _swept(self) -> Mapping[str, list[str]]:
        """The keys in which jobs differ, those of the table first, with their values in order."""
        values: dict[str, dict[str, None]] = {}
        for job in self.jobs:
            for override in job:
                key, _, value = override.lstrip("+~").partition("=")
                values.setdefault(key, {})[value] = None
        several = {key: list(seen) for key, seen in values.items() if len(seen) > 1}
        first = [key for key in _NAMED if key in several]
        return {key: several[key] for key in (*first, *(key for key in several if key not in first))}


def grid_of(config: DictConfig) -> SweepGrid:
    """The grid of a sweep, from the configuration that Hydra composed for all its jobs."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.override_parser.overrides_parser import OverridesParser

    hydra = config.hydra
    typed = tuple(map(str, OmegaConf.to_container(hydra.overrides.task, resolve=False) or ()))
    sweeper, engine = hydra.sweeper, str(hydra.runtime.choices.get("engine") or "")
    if sweeper.get("_target_") != _SWEEPER:
        return SweepGrid(typed=typed, jobs=(), engine=engine)
    given = [f"{key}={value}" for key, value in (sweeper.get("params") or {}).items()]
    overrides = OverridesParser.create().parse_overrides([*given, *typed])
    batches = BasicSweeper.split_arguments(overrides, None)
    jobs = tuple(tuple(job) for batch in batches for job in batch)
    return SweepGrid(typed=typed, jobs=jobs, engine=engine)


def _key(override: str) -> str:
    return override.lstrip("+~").partition("=")[0].partition(".")[0].partition("/")[0]
