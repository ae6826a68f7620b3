"""`python -m contextcliff`: check the command line, let Hydra compose and run its jobs, exit with their code."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.command_line.jobs import (
    JobFailed,
    exit_codes,
    prepare_environment,
    print_error,
    report_stop,
    run_job,
    wants_traceback,
)
from contextcliff.errors import ConfigError, ContextCliffError, ExitCode

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_SWEEP_DIR = "CONTEXTCLIFF_SWEEP_DIR"


def main() -> None:
    """The console script."""
    prepare_environment()
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # What is buffered still goes nowhere: it would fail once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print_error("the reader of the output went away; what was answered is kept, the same command goes on")
        code = ExitCode.FAILED
    sys.exit(code)


def _run(arguments: list[str]) -> ExitCode:
    from contextcliff.command_line.completion import completing
    from contextcliff.command_line.config_folders import use_config_dir
    from contextcliff.command_line.flags import asks_for_version, parse_command_line, version
    from contextcliff.command_line.job_keys import (
        refuse_former_keys,
        refuse_one_file_of_models,
        refuse_swept_list,
        refuse_unknown_forced_keys,
        with_open_keys,
    )
    from contextcliff.command_line.overrides import check_overrides, parse_overrides, quote_home_paths
    from contextcliff.command_line.run_key import run_again

    if asks_for_version(arguments):
        sys.stdout.write(f"{version()}\n")
        return ExitCode.DONE
    if arguments[:1] == ["ui"]:
        return _show_runs(arguments[1:])
    try:
        typed = parse_command_line(arguments)
        use_config_dir(typed.config_dir)
        quoted = quote_home_paths(typed.overrides)
        overrides = parse_overrides(quoted)
        refuse_former_keys(overrides)
        check_overrides(overrides)
        again = run_again(quoted, overrides)
        if again is not None:
            quoted = again
            overrides = parse_overrides(quoted)
        sweeping = any(override.is_sweep_override() for override in overrides)
        if sweeping and typed.showing:
            raise ConfigError(f"{typed.showing}: shows one job; give each key one value")
        refuse_unknown_forced_keys(overrides)
        refuse_swept_list(overrides)
        refuse_one_file_of_models(overrides)
        quoted = with_open_keys(quoted, overrides)
    except ConfigError as error:
        if wants_traceback():
            raise
        print_error(error)
        return error.exit_code
    # Overrides first: argparse does not accept them on both sides of a flag.
    sys.argv[1:] = [*quoted, *typed.flags, *(["--multirun"] if sweeping and not typed.multirun else [])]
    if typed.showing:  # no job runs
        with completing() if typed.showing == "--shell-completion" else nullcontext():
            return _run_hydra(overrides)
    return _run_jobs(overrides)


def _show_runs(arguments: list[str]) -> ExitCode:
    from contextcliff.command_line.ui import show_runs

    try:
        return show_runs(arguments)
    except ContextCliffError as error:
        if wants_traceback():
            raise
        print_error(error)
        return error.exit_code


def _run_jobs(overrides: Sequence[Override]) -> ExitCode:
    from contextcliff.command_line.end_of_sweep import compare_jobs
    from contextcliff.engines.engine import models_kept
    from contextcliff.execution.signals import JOBS_FOLDER, handle_signals

    try:
        with (
            tempfile.TemporaryDirectory(prefix="contextcliff-sweep-") as sweep_dir,
            tempfile.TemporaryDirectory(prefix="contextcliff-jobs-") as jobs_dir,
        ):
            os.environ.setdefault(_SWEEP_DIR, sweep_dir)
            os.environ[JOBS_FOLDER] = jobs_dir
            handle_signals(sweeps=True)
            exit_codes.clear()
            with models_kept():
                code = _run_hydra(overrides)
            try:
                _end_of_jobs(Path(jobs_dir))
            except ContextCliffError as error:
                if wants_traceback():
                    raise
                print_error(error)
                return code if code is not ExitCode.DONE else error.exit_code
            return code if code is not ExitCode.DONE else compare_jobs(Path(jobs_dir))
    except KeyboardInterrupt:  # also one that comes while the folders are removed
        return report_stop()


def _end_of_jobs(jobs_dir: Path) -> None:
    """What is said of several jobs together: the sweep's table, or the sum of their plans."""
    if "contextcliff.command_line.sweep_watch" in sys.modules:  # else no sweep has begun
        from contextcliff.command_line.sweep_watch import end_sweep

        end_sweep()
    from contextcliff.command_line.end_of_sweep import sum_plans

    total = sum_plans(jobs_dir)
    if total is not None and total.jobs > 1:
        from contextcliff.reporting.plan_report import render_plan_total

        render_plan_total(total)


def _run_hydra(overrides: Sequence[Override]) -> ExitCode:
    import hydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from contextcliff.command_line.hydra_errors import explain, explain_launcher
    from contextcliff.composing import conf_dir
    from contextcliff.execution.signals import stop_code

    try:
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(run_job)()
    except (HydraException, OmegaConfBaseException) as error:
        if wants_traceback():
            raise
        print_error(explain(error, overrides))
        return ExitCode.BAD_CONFIGURATION
    except JobFailed as error:
        if error.unseen_message:
            print_error(error.unseen_message)
        return error.code
    except SystemExit as end:  # --help and --cfg end so, and an unknown --package, with a line of Hydra's
        if isinstance(end.__context__, BrokenPipeError):  # so rich ends a program whose output is closed
            raise end.__context__ from None
        return stop_code() or (ExitCode.BAD_CONFIGURATION if end.code else ExitCode.DONE)
    except Exception as error:
        if stop_code() is not None:  # a launcher whose processes were ended by the signal too
            return report_stop()
        said = None if wants_traceback() else explain_launcher(error, overrides)
        if said is None:
            raise
        print_error(said)
        return ExitCode.FAILED
    return stop_code() or next((code for code in exit_codes if code is not ExitCode.DONE), ExitCode.DONE)


if __name__ == "__main__":
    main()
