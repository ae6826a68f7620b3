"""Action `analyze`: score, analyse, report and track again from stored generations; no model is called."""

from __future__ import annotations

from dataclasses import replace

from contextcliff.actions.action import Invocation
from contextcliff.actions.finish_run import finish_run
from contextcliff.actions.naming import run_of, stored
from contextcliff.errors import ConfigError, ExitCode
from contextcliff.execution.store import Store
from contextcliff.settings import settings


@settings
class Analyze:
    """Takes the run of the same configuration, with another analysis where it is asked for."""

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Raise `ConfigError` where no run of this configuration is stored."""
        with Store(invocation.output_dir) as store:
            invocation = stored(invocation, store)
            identity = invocation.identify()
            run = run_of(invocation, store)
            if run is None:
                raise ConfigError(
                    f"action=analyze: {store.file} holds no run of this configuration ({identity.run_id}); "
                    "run it first, with the same overrides and output_dir"
                )
            # The same questions may have been run under another name: a run keeps the one that it was stored under.
            finish_run(invocation, replace(identity, run_id=run.run_id), store)
        return ExitCode.DONE
