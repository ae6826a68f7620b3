"""`action=analyze run=…`: the stored run that a folder names, and why a configuration asks something else."""

from __future__ import annotations

from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.baseline import KEY as LIKE
from contextcliff.actions.baseline import different_keys, listed
from contextcliff.datasets.local_files import refuse_large
from contextcliff.errors import ConfigError
from contextcliff.execution.store import Store, StoredRun
from contextcliff.records.report import Report

KEY = "run"
_ASKED = ("task", "dataset", "model", "engine", "tokenizer", "sampling", "kv_policy", "seed", "search", "label")
_OF_NO_ANSWER = ("model.price", "model.memory_gib", "model.rope.trained_tokens")


def run_in_folder(invocation: Invocation, folder: Path, store: Store) -> StoredRun:
    """The run whose report lies in `folder`, by its id in the store: neither its texts nor its weights are needed.

    Raises `ConfigError` for a folder without a report, for a configuration that would ask something else, and where the
    store does not hold the run.
    """
    report = _report(folder)
    _refuse_other_questions(invocation, report, folder)
    run = store.run(report.run.run_id)
    if run is None:
        raise ConfigError(
            f"{KEY}={folder}: the answers of {report.run.run_id} are not in {store.file}; bring the store that has "
            "them with action=gather 'action.stores=[OUTPUT_DIR]', or name their place with output_dir=OUTPUT_DIR"
        )
    return run


def _report(folder: Path) -> Report:
    # Imported late, since reading reports loads numpy and more.
    from contextcliff.reporting.stored_reports import REPORT_NAME, UnreadableReport, read_report

    file = folder / REPORT_NAME
    if not file.is_file():
        raise ConfigError(f"{KEY}={folder}: has no {REPORT_NAME}; give a run's folder, its run id or its MLflow id")
    refuse_large(file.stat().st_size, f"{KEY}={file}")
    try:
        return read_report(file)
    except UnreadableReport as error:
        raise ConfigError(f"{KEY}={folder}: {file.name} {error}, with the overrides of the run") from error


def _refuse_other_questions(invocation: Invocation, report: Report, folder: Path) -> None:
    """Raise `ConfigError` where the configuration asks something else than the run did.

    Weights and texts may be gone or changed since then: what was asked is in the store, and only keys count.
    """
    from contextcliff.reporting.run_names import read_parameters

    recorded = read_parameters(folder / "manifest.json")
    others = different_keys(recorded, invocation, LIKE)
    if not _same_fingerprint(invocation, report) or invocation.label != report.run.label:
        judging = _judging_keys(invocation)
        others += tuple(
            each
            for each in different_keys(recorded, invocation, *_ASKED)
            if not each.startswith((LIKE, *judging, *_OF_NO_ANSWER)) and not _names_a_class(each)
        )
        if not recorded:
            others += (f"{report.run.run_id} there and {invocation.task_name} of {invocation.model_name} here",)
    if others:
        raise ConfigError(
            f"{KEY}={folder}: would ask something else: {listed(others)}; an analysis asks nothing, so leave that out, "
            "or ask it with action=run"
        )


def _same_fingerprint(invocation: Invocation, report: Report) -> bool:
    try:
        return invocation.identify().fingerprint == report.run.fingerprint
    except ConfigError:  # the weights or a text are not on this machine
        return False


def _names_a_class(difference: str) -> bool:
    """Whether it is the class of an option, which the option's own name tells better."""
    return difference.partition("=")[0].endswith("._target_")


def _judging_keys(invocation: Invocation) -> tuple[str, ...]:
    """The keys of the task that say how an answer is scored, each with the sign that ends it."""
    asked = invocation.task.identity()
    keys = (key for key in invocation.parameters if key.startswith("task."))
    return tuple(f"{key}=" for key in keys if key.split(".")[1] not in (*asked, "_target_"))
