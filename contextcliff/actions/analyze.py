"""Action `analyze`: score, analyse, report and track again from stored generations; no model is called."""

from __future__ import annotations

from contextcliff.actions.action import Invocation
from contextcliff.actions.conclude import conclude
from contextcliff.actions.naming import stored
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
            if store.run(identity.run_id) is None:
                raise ConfigError(
                    f"action=analyze: {store.file} holds no run of this configuration ({identity.run_id}); "
                    "run it first, with the same overrides and output_dir"
                )
            conclude(invocation, identity, store)
        return ExitCode.DONE
