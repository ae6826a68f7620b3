"""`python -m contextcliff`: check the command line, let Hydra compose and run its jobs, exit with their code."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff import __version__
from contextcliff.command_line import jobs
from contextcliff.errors import ConfigError, ContextCliffError, ExitCode, print_error

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override


_LOADING = "loading …"
"""Said on a terminal until something else is: libraries and weights take seconds to load."""


def main() -> None:
    """The console script."""
    loads = os.isatty(2) and not any(
        each.startswith("-") or each == "reporting.progress=false" for each in sys.argv[1:]
    )
    if loads:  # the next line begins where it does, and is longer
        sys.stderr.write(f"{_LOADING}\r")
        sys.stderr.flush()
    jobs.prepare_environment()
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # What is buffered still goes nowhere: it would fail once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print_error("the reader of the output went away; what was answered is kept, the same command goes on")
        code = ExitCode.FAILED
    except ContextCliffError as error:
        code = jobs.refused(error)
    finally:
        if loads:
            sys.stderr.write(f"{'':{len(_LOADING)}}\r")
    sys.exit(code)


def _run(arguments: list[str]) -> ExitCode:
    if any(each.startswith("--v") and "--version".startswith(each) for each in arguments):  # as argparse takes it
        import hydra

        sys.stdout.write(f"contextcliff {__version__} (Hydra {hydra.__version__})\n")
        return ExitCode.DONE
    if arguments[:1] == ["ui"]:
        from contextcliff.command_line.ui import show_runs

        return show_runs(arguments[1:])
    from contextcliff.command_line.compose import run_again
    from contextcliff.command_line.keys import checked, help_text
    from contextcliff.command_line.overrides import completing, parse_command_line, parse_overrides, use_config_dir

    typed = parse_command_line(arguments)
    use_config_dir(typed.config_dir)
    if typed.help:
        sys.stdout.write(help_text(typed.overrides))
        return ExitCode.DONE
    overrides = parse_overrides(typed.overrides)
    if (again := run_again(overrides)) is not None:
        overrides = parse_overrides(again)
    sweeping = any(override.is_sweep_override() for override in overrides)
    if sweeping and typed.showing:
        raise ConfigError(f"{typed.showing}: shows one job; give each key one value")
    # Overrides first: argparse does not accept them on both sides of a flag.
    sys.argv[1:] = [*checked(overrides), *typed.flags, *(["--multirun"] if sweeping and not typed.multirun else [])]
    if typed.showing:  # no job runs
        with completing() if typed.showing == "--shell-completion" else nullcontext():
            return _run_hydra(overrides)
    try:
        return _run_jobs(overrides)
    except KeyboardInterrupt:  # also one that comes while the folder is removed
        return jobs.report_stop()


def _run_jobs(overrides: Sequence[Override]) -> ExitCode:
    from contextcliff.engines.engine import models_kept
    from contextcliff.execution.signals import JOBS_FOLDER, handle_signals

    with tempfile.TemporaryDirectory(prefix="contextcliff-jobs-") as folder:
        os.environ[JOBS_FOLDER] = folder
        os.environ.setdefault("CONTEXTCLIFF_SWEEP_DIR", f"{folder}/hydra")
        handle_signals(sweeps=True)
        jobs.exit_codes.clear()
        with models_kept():
            code = _run_hydra(overrides)
        if "contextcliff.command_line.sweep" not in sys.modules and not any(Path(folder).iterdir()):
            return code  # there was one job
        from contextcliff.command_line.sweep import end_sweep

        try:
            return end_sweep(code)
        except ContextCliffError as error:
            failed = jobs.refused(error)
            return code if code is not ExitCode.DONE else failed


def _run_hydra(overrides: Sequence[Override]) -> ExitCode:
    import hydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from contextcliff.command_line.keys import explain, explain_setup
    from contextcliff.composing import conf_dir
    from contextcliff.execution.signals import stop_code

    try:
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(jobs.run_job)()
    except (HydraException, OmegaConfBaseException) as error:
        if jobs.wants_traceback():
            raise
        return jobs.refused(ConfigError(explain(error, overrides)))
    except jobs.JobFailed as error:
        if error.unseen_message:
            print_error(error.unseen_message)
        return error.code
    except SystemExit as end:  # --cfg ends so, and an unknown --package, with a line of Hydra's
        if isinstance(end.__context__, BrokenPipeError):  # so rich ends a program whose output is closed
            raise end.__context__ from None
        return stop_code() or (ExitCode.BAD_CONFIGURATION if end.code else ExitCode.DONE)
    except Exception as error:
        if stop_code() is not None:  # a launcher whose processes were ended by the signal too
            return jobs.report_stop()
        explained = None if jobs.wants_traceback() else explain_setup(error, overrides, began=bool(jobs.exit_codes))
        if explained is None:
            raise
        return jobs.refused(explained)
    return stop_code() or next((code for code in jobs.exit_codes if code is not ExitCode.DONE), ExitCode.DONE)


if __name__ == "__main__":
    main()
