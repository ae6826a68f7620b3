"""Hydra's callback: a sweep is there before its first job, and its jobs are told where they belong."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from contextcliff.errors import ConfigError, tell

SWEEP = "CONTEXTCLIFF_SWEEP"
"""The variable by which the jobs of a sweep know it, in whatever process and on whatever machine."""
_RUNS = ("contextcliff.actions.run.Run", "contextcliff.actions.analyze.Analyze")


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepNote:
    """What a job is told of its sweep."""

    sweep_id: str
    name: str
    command: str
    n_jobs: int
    differing: tuple[str, ...]

    def packed(self) -> str:
        """As a word that needs no quotes anywhere."""
        return json.dumps(asdict(self)).encode().hex()


def noted() -> SweepNote | None:
    """What this process was told of the sweep that its job belongs to; None outside a sweep."""
    packed = os.environ.get(SWEEP)
    if not packed:
        return None
    told = json.loads(bytes.fromhex(packed))
    return SweepNote(**{**told, "differing": tuple(told["differing"])})


class SweepCallback(Callback):
    """Named by `hydra.callbacks` in `conf/config.yaml`."""

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Watch the sweep, and have Hydra set the variable in every job. Nothing is written before a job begins."""
        _open_keys(config)
        if OmegaConf.select(config, "action._target_") not in _RUNS:
            return
        # Imported here: Hydra imports this module for every command line.
        from contextcliff.actions.override_keys import overrides_by_key
        from contextcliff.command_line.sweep_grid import grid_of
        from contextcliff.command_line.sweep_watch import begin
        from contextcliff.tracking.outgoing import own_paths, without_paths

        try:
            grid = grid_of(config)
            sweep = begin(grid, config)
        except ConfigError as error:  # every job will say so
            tell(f"warning: no leaderboard: {error}")
            return
        note = SweepNote(
            sweep_id=sweep.sweep_id,
            name=sweep.name,
            command=without_paths(sweep.command, own_paths(overrides_by_key(grid.typed))),
            n_jobs=sweep.n_jobs,
            differing=grid.differing_keys(),
        )
        with read_write(config.hydra.overrides):
            config.hydra.overrides.hydra.append(f"+hydra.job.env_set.{SWEEP}={note.packed()}")


def _open_keys(config: DictConfig) -> None:
    """Let an experiment sweep over keys of mappings that take any key, as a command line may."""
    params = config.hydra.sweeper.get("params") or {}
    if not any("." in key for key in params):
        return
    from contextcliff.command_line.job_keys import with_open_keys
    from contextcliff.command_line.overrides import parse_overrides

    lines = [*(f"{key}={value}" for key, value in params.items()), *config.hydra.overrides.task]
    opened = with_open_keys(lines, parse_overrides(lines))[: len(params)]
    if opened != lines[: len(params)]:
        with read_write(config.hydra), open_dict(config.hydra):
            config.hydra.sweeper.params = dict(line.partition("=")[::2] for line in opened)
