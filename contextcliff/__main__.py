"""`python -m contextcliff`: compose with Hydra, build, run the action, exit with its code."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from contextcliff.errors import ConfigError, ContextCliffError, ExitCode

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override
    from omegaconf import DictConfig

_FULL_ERROR = "HYDRA_FULL_ERROR"
_SWEEP_DIR = "CONTEXTCLIFF_SWEEP_DIR"
_MAIN_PROCESS = "CONTEXTCLIFF_MAIN_PROCESS"
_STDERR = "CONTEXTCLIFF_STDERR"

_codes: list[ExitCode] = []


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ended:
    """How a job ended, and the line that it said where it failed."""

    code: ExitCode
    line: str = ""


class JobFailed(Exception):
    """Carries a job's exit code out of a launcher that runs jobs in other processes.

    `unheard` is the failure's line where the process has another stderr than ours (a cluster's log).
    """

    def __init__(self, code: int, unheard: str = "") -> None:
        super().__init__(code, unheard)
        self.code = ExitCode(code)
        self.unheard = unheard


def job(config: DictConfig) -> None:
    """Run one composed configuration; its failure is one line on stderr and an exit code.

    After Ctrl-C or SIGTERM no further job begins.
    """
    from contextcliff.execution.stopping import at_work, heard, posted

    with at_work():
        before = heard()
        ended = _outcome_of(config) if before is None else _Ended(code=before)
    _codes.append(ended.code)
    if os.environ.get(_MAIN_PROCESS) == _process():
        if heard() is not None:
            sys.exit(heard())
    elif ended.code is not ExitCode.DONE and posted() is None:  # else the process that sweeps knows
        raise JobFailed(ended.code, ended.line if os.environ.get(_STDERR) != _stderr() else "")


def _outcome_of(config: DictConfig) -> _Ended:
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode
    from omegaconf import OmegaConf

    from contextcliff.command_line.job_keys import without_absent
    from contextcliff.command_line.paths import refused_path
    from contextcliff.config import build_invocation

    hydra = HydraConfig.get()
    # As they were typed: an interpolation in them is one of our configuration, not of Hydra's.
    overrides = cast(list[str], OmegaConf.to_container(hydra.overrides.task, resolve=False))
    try:
        if hydra.mode is RunMode.MULTIRUN:
            overrides = without_absent(config, overrides, hydra.runtime.choices)
        invocation = build_invocation(config, overrides, options=hydra.runtime.choices)
        with refused_path(invocation.parameters):
            return _Ended(code=invocation.action(invocation))
    except ContextCliffError as error:
        if _wants_traceback():
            raise
        _complain(error)
        return _Ended(code=error.exit_code, line=str(error))
    except KeyboardInterrupt:
        return _Ended(code=_stopped())


def main() -> None:
    """The console script."""
    os.environ["CONTEXTCLIFF_FULL_ERROR"] = os.environ.get(_FULL_ERROR, "0")
    os.environ[_MAIN_PROCESS], os.environ[_STDERR] = _process(), _stderr()
    os.environ[_FULL_ERROR] = "1"  # Hydra then raises its errors, and this module words them
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> ExitCode:
    from contextcliff.command_line.flags import asks_for_version, read, version
    from contextcliff.command_line.former_keys import refuse_former_keys
    from contextcliff.command_line.job_keys import refuse_forced_nowhere, refuse_swept_list
    from contextcliff.command_line.overrides import check_overrides, parsed, with_home

    if asks_for_version(arguments):
        sys.stdout.write(f"{version()}\n")
        return ExitCode.DONE
    try:
        typed = read(arguments)
        given = with_home(typed.overrides)
        overrides = parsed(given)
        refuse_former_keys(overrides)
        check_overrides(overrides)
        sweeping = any(override.is_sweep_override() for override in overrides)
        if sweeping and typed.shows:
            raise ConfigError(f"{typed.shows}: shows one job; give each key one value")
        refuse_forced_nowhere(overrides)
        refuse_swept_list(overrides)
    except ConfigError as error:
        if _wants_traceback():
            raise
        _complain(error)
        return error.exit_code
    # Overrides first: argparse takes none on both sides of a flag.
    sys.argv[1:] = [*given, *typed.flags, *(["--multirun"] if sweeping and not typed.multirun else [])]
    return _hydra(overrides)


def _hydra(overrides: Sequence[Override]) -> ExitCode:
    import hydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from contextcliff.command_line.hydra_errors import explain
    from contextcliff.composing import conf_dir
    from contextcliff.execution.stopping import JOBS_FOLDER, heard, listen

    with (
        tempfile.TemporaryDirectory(prefix="contextcliff-sweep-") as sweep_dir,
        tempfile.TemporaryDirectory(prefix="contextcliff-jobs-") as jobs_dir,
    ):
        os.environ.setdefault(_SWEEP_DIR, sweep_dir)
        os.environ[JOBS_FOLDER] = jobs_dir
        listen(sweeps=True)
        try:
            hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(job)()
        except (HydraException, OmegaConfBaseException) as error:
            if _wants_traceback():
                raise
            _complain(ConfigError(explain(error, overrides)))
            return ExitCode.BAD_CONFIGURATION
        except JobFailed as error:
            if error.unheard:
                _complain(error.unheard)
            return error.code
        except SystemExit as end:  # --help and --cfg end so, and a --package that is not there, in a line of Hydra's
            return heard() or (ExitCode.BAD_CONFIGURATION if end.code else ExitCode.DONE)
        except KeyboardInterrupt:
            return _stopped()
        except Exception:  # a launcher whose processes the signal ended too
            if heard() is None:
                raise
            return _stopped()
    return heard() or next((code for code in _codes if code is not ExitCode.DONE), ExitCode.DONE)


def _stopped() -> ExitCode:
    from contextcliff.execution.stopping import heard, word

    code = heard() or ExitCode.INTERRUPTED
    _complain(ContextCliffError(f"{word(code)}; what was answered is kept, the same command goes on"))
    return code


def _process() -> str:
    """This process, among those of a cluster."""
    return f"{platform.node()}:{os.getpid()}"


def _stderr() -> str:
    """Which file stderr is."""
    status = os.fstat(2)
    return f"{status.st_dev}:{status.st_ino}"


def _complain(error: Exception | str) -> None:
    from contextcliff.addresses import shown_text

    sys.stderr.write(f"error: {shown_text(' '.join(str(error).split()))}\n")


def _wants_traceback() -> bool:
    return os.environ.get("CONTEXTCLIFF_FULL_ERROR") == "1"


if __name__ == "__main__":
    main()
