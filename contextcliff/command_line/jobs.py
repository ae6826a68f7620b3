"""One job of a command line: build the composed configuration, run its action, and pass on how it ended.

A command line is one job, or in a sweep several, which a launcher may run in other processes."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hydra.experimental.callback import Callback

from contextcliff.errors import ConfigError, ContextCliffError, ExitCode, GateFailed, in_short, print_error, tell

if TYPE_CHECKING:
    from omegaconf import DictConfig

_MAIN_PROCESS = "CONTEXTCLIFF_MAIN_PROCESS"
_STDERR = "CONTEXTCLIFF_STDERR"
_FULL_ERROR = "CONTEXTCLIFF_FULL_ERROR"
_HYDRA_FULL_ERROR = "HYDRA_FULL_ERROR"

_LISTED = ("contextcliff.actions.run.Run", "contextcliff.actions.analyze.Analyze")

exit_codes: list[ExitCode] = []
_said: set[str] = set()


class JobFailed(Exception):
    """Carries a job's exit code out of a launcher that runs jobs in other processes. `unseen_message` is its error
    where its process has another stderr than ours, such as a cluster's log; else empty."""

    def __init__(self, code: int, unseen_message: str = "") -> None:
        super().__init__(code, unseen_message)
        self.code = ExitCode(code)
        self.unseen_message = unseen_message


def prepare_environment() -> None:
    """Set the variables that jobs read: which process starts them, its stderr, and whether to show tracebacks."""
    os.environ[_MAIN_PROCESS], os.environ[_STDERR] = _process_id(), _stderr_id()
    os.environ[_FULL_ERROR] = os.environ.get(_HYDRA_FULL_ERROR, "0")
    os.environ[_HYDRA_FULL_ERROR] = "1"  # Hydra then raises its errors instead of printing them
    os.environ.setdefault("TQDM_DISABLE", "1")  # transformers has no other switch for the bar of a GGUF file
    try:
        Path.home()
    except RuntimeError:  # no HOME, and a user without a name, as in many containers; caches would lie in a folder `~`
        os.environ["HOME"] = home = tempfile.mkdtemp(prefix="contextcliff-")
        tell(f"warning: HOME is not set: caches go to {home}; set HOME=FOLDER to keep them")


def run_job(config: DictConfig) -> None:
    """Run one composed configuration; a failure is one line on stderr and an exit code. After Ctrl-C or SIGTERM no
    further job begins."""
    from contextcliff.execution.signals import job_in_progress, posted_stop_code, stop_code

    exit_codes.append(ExitCode.FAILED)  # until it has ended
    with job_in_progress():
        stopped = stop_code()
        code, message = _outcome_of(config) if stopped is None else (stopped, "")
    exit_codes[-1] = code
    if os.environ.get(_MAIN_PROCESS) == _process_id():
        if stop_code() is not None:
            sys.exit(stop_code())
    # After a signal to the process that sweeps, that process knows the exit code by itself.
    elif code is not ExitCode.DONE and posted_stop_code() is None:
        raise JobFailed(code, message if os.environ.get(_STDERR) != _stderr_id() else "")


def report_stop() -> ExitCode:
    """Print that a signal ended the job; returns its exit code."""
    from contextcliff.execution.signals import stop_code

    code = stop_code() or ExitCode.INTERRUPTED
    print_error(f"{code.name.lower()}; what was answered is kept, the same command goes on")
    return code


def refused(error: ContextCliffError) -> ExitCode:
    """Print an error; returns its exit code. Raises it where tracebacks are wanted."""
    if wants_traceback():
        raise error
    print_error(error)
    return error.exit_code


def wants_traceback() -> bool:
    """Whether the user asked for whole tracebacks, with `HYDRA_FULL_ERROR=1`."""
    return os.environ.get(_FULL_ERROR) == "1"


def _outcome_of(config: DictConfig) -> tuple[ExitCode, str]:
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode
    from omegaconf import OmegaConf

    from contextcliff.command_line.compose import analysis_of
    from contextcliff.command_line.keys import drop_absent_keys
    from contextcliff.command_line.sweep_jobs import in_sweep, list_unbuilt
    from contextcliff.config import build_invocation

    hydra = HydraConfig.get()
    # Unresolved: an interpolation in an override refers to our configuration, not to Hydra's.
    overrides = cast(list[str], OmegaConf.to_container(hydra.overrides.task, resolve=False))
    number = hydra.job.num if hydra.mode is RunMode.MULTIRUN else None
    in_main = os.environ.get(_MAIN_PROCESS) == _process_id()
    try:
        if number is not None:
            swept = {f"{key}={value}" for key, value in (hydra.sweeper.params or {}).items()}
            overrides = drop_absent_keys(config, overrides, hydra.runtime.choices, of_experiment=swept)
        try:
            invocation = build_invocation(config, overrides, options=hydra.runtime.choices)
        except ConfigError as error:
            if number is not None:
                list_unbuilt(hydra.runtime.choices, error, job=number, overrides=overrides)
            raise
        invocation = replace(invocation, analysis_of=analysis_of)
        with in_sweep(invocation, job=number, in_main=in_main) as job:
            return job.action(job), ""
    except ContextCliffError as error:
        if wants_traceback() and not isinstance(error, GateFailed):  # which is a result, and no fault to look for
            raise
        # Jobs of one model fail alike, and the sweep's table says which ones did.
        said = str(error) if number is None else in_short(str(error))
        if number is None or said not in _said:
            print_error(said)
        _said.add(said)
        return error.exit_code, said
    except KeyboardInterrupt:
        return report_stop(), ""


class SweepCallback(Callback):
    """Begins a sweep before its first job. Named by `hydra.callbacks` in `conf/config.yaml`."""

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        from contextcliff.command_line.keys import open_swept_keys

        try:
            open_swept_keys(config)
        except ConfigError as error:  # Hydra would only warn of it
            print_error(error)
            sys.exit(error.exit_code)
        if config.action.get("_target_") in _LISTED:
            from contextcliff.command_line.sweep import begin

            begin(config)


def _process_id() -> str:
    return f"{platform.node()}:{os.getpid()}"


def _stderr_id() -> str:
    status = os.fstat(2)
    return f"{status.st_dev}:{status.st_ino}"
