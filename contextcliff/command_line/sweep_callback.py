"""Hydra's callback: a sweep begins before its first job."""

from __future__ import annotations

import sys
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from contextcliff.command_line.jobs import print_error
from contextcliff.errors import ConfigError

_RUNS = ("contextcliff.actions.run.Run", "contextcliff.actions.analyze.Analyze")
"""Actions of which a sweep has a leaderboard."""


class SweepCallback(Callback):
    """Begins a sweep before its first job. Named by `hydra.callbacks` in `conf/config.yaml`."""

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        from contextcliff.command_line.keys import open_swept_keys  # late: Hydra imports this module for every job

        try:
            open_swept_keys(config)
        except ConfigError as error:  # Hydra would only warn of it
            print_error(error)
            sys.exit(error.exit_code)
        if config.action.get("_target_") in _RUNS:
            from contextcliff.command_line.sweep import begin

            begin(config)
