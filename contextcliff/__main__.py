"""`python -m contextcliff`: compose with Hydra, build, run the action, exit with its code."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING

from contextcliff.errors import ConfigError, ContextCliffError, ExitCode

if TYPE_CHECKING:
    from omegaconf import DictConfig

_FULL_ERROR = "HYDRA_FULL_ERROR"
_SWEEP_DIR = "CONTEXTCLIFF_SWEEP_DIR"

_MAIN_PROCESS = "CONTEXTCLIFF_MAIN_PROCESS"

_codes: list[ExitCode] = []


class JobFailed(Exception):
    """Carries a job's exit code out of a launcher that runs jobs in other processes."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = ExitCode(code)


def job(config: DictConfig) -> None:
    """Run one composed configuration; its failure is one line on stderr and an exit code.

    After Ctrl-C or SIGTERM no further job begins.
    """
    from contextcliff.execution.stopping import at_work, heard, posted

    with at_work():
        code = heard() or _outcome_of(config)
    _codes.append(code)
    if os.environ.get(_MAIN_PROCESS) == str(os.getpid()):
        if heard() is not None:
            sys.exit(heard())
    elif code is not ExitCode.DONE and posted() is None:  # else the process that sweeps knows
        raise JobFailed(code)


def _outcome_of(config: DictConfig) -> ExitCode:
    from hydra.core.hydra_config import HydraConfig

    from contextcliff.config import build_invocation

    try:
        composed = HydraConfig.get()
        invocation = build_invocation(config, list(composed.overrides.task), options=composed.runtime.choices)
        return invocation.action(invocation)
    except ContextCliffError as error:
        if _wants_traceback():
            raise
        _complain(error)
        return error.exit_code
    except KeyboardInterrupt:
        return _stopped()


def main() -> None:
    """The console script."""
    os.environ["CONTEXTCLIFF_FULL_ERROR"] = os.environ.get(_FULL_ERROR, "0")
    os.environ[_FULL_ERROR] = "1"  # Hydra then raises its errors, and this module words them
    os.environ[_MAIN_PROCESS] = str(os.getpid())
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> ExitCode:
    import hydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from contextcliff.composing import conf_dir, explain, sweeps
    from contextcliff.execution.stopping import JOBS_FOLDER, heard, listen

    with (
        tempfile.TemporaryDirectory(prefix="contextcliff-sweep-") as sweep_dir,
        tempfile.TemporaryDirectory(prefix="contextcliff-jobs-") as jobs_dir,
    ):
        os.environ.setdefault(_SWEEP_DIR, sweep_dir)
        os.environ[JOBS_FOLDER] = jobs_dir
        listen(sweeps=True)
        try:
            if sweeps(arguments):
                sys.argv.append("--multirun")
            hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(job)()
        except (HydraException, OmegaConfBaseException) as error:
            if _wants_traceback():
                raise
            _complain(ConfigError(explain(error, arguments)))
            return ExitCode.BAD_CONFIGURATION
        except JobFailed as error:
            return error.code
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


def _complain(error: Exception) -> None:
    from contextcliff.addresses import shown_text

    sys.stderr.write(f"error: {shown_text(' '.join(str(error).split()))}\n")


def _wants_traceback() -> bool:
    return os.environ.get("CONTEXTCLIFF_FULL_ERROR") == "1"


if __name__ == "__main__":
    main()
