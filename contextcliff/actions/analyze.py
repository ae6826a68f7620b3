"""Action `analyze`: score, analyse, report and track again from stored generations; no model is called."""

from __future__ import annotations

from contextcliff.actions.action import Invocation
from contextcliff.actions.analyse_run import analyse_run
from contextcliff.actions.annotate_run import annotate
from contextcliff.actions.baseline import read_baseline, require_replayed
from contextcliff.actions.naming import run_of, stored
from contextcliff.actions.report_run import report_run
from contextcliff.actions.required_cap import require_cap
from contextcliff.actions.run_again import as_recorded, run_told
from contextcliff.errors import ConfigError, ExitCode
from contextcliff.execution.store import Store, StoredRun
from contextcliff.settings import settings


@settings
class Analyze:
    """Takes the run that `run` names, else that of this configuration, with another analysis if one is asked for."""

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Raise `ConfigError` where no run of this configuration is stored, `GateFailed` after all is written."""
        with Store(invocation.output_dir) as store:
            store.verify()
            if invocation.run_folder is None:
                invocation = stored(invocation, store)
                run = _of_this_configuration(invocation, store)
            else:
                invocation = as_recorded(invocation, invocation.run_folder)
                run = run_told(invocation, store)
            # The same questions may have been run under another name: a run keeps the one that it was stored under.
            annotated = annotate(invocation, run.run_id, store)
            analysed = analyse_run(invocation, annotated, store)
            folder = report_run(invocation, annotated, analysed)
        require_cap(invocation, analysed.analysis.safe_cap, folder)
        return ExitCode.DONE


def _of_this_configuration(invocation: Invocation, store: Store) -> StoredRun:
    run = run_of(invocation, store)
    if run is None:
        run_id = invocation.identify().run_id
        raise ConfigError(
            f"action=analyze: {store.file} holds no run of this configuration ({run_id}); "
            "run it first, with the same overrides and output_dir"
        )
    require_replayed(read_baseline(invocation), run)
    return run
