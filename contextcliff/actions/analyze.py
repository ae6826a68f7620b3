"""Action `analyze`: score, analyse, report and track again from stored generations; no model is called."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter

from contextcliff.actions.action import Invocation, RunState
from contextcliff.actions.analyse import analyse
from contextcliff.actions.annotate import annotate
from contextcliff.actions.baseline import KEY as LIKE
from contextcliff.actions.baseline import different_keys, listed, read_baseline, require_replayed
from contextcliff.actions.naming import run_of, stored
from contextcliff.actions.override_keys import key_of
from contextcliff.actions.report import report, require_cap
from contextcliff.actions.track import LiveTracking
from contextcliff.errors import ConfigError, ExitCode, one_line
from contextcliff.execution.store import Store, StoredRun
from contextcliff.models.model import Price
from contextcliff.records.report import Report
from contextcliff.settings import folder_name, path_fields, settings


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
            stored_run = RunState(
                invocation=invocation, store=store, run_id=run.run_id, live=LiveTracking(invocation=invocation)
            )
            annotate(stored_run)
            analyse(stored_run)
            require_cap(stored_run, report(stored_run))
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


KEY = "run"
_SHOWN = ("model", "engine", "tokenizer", "dataset", "kv_policy", "seed", "search", "label", "beyond_window")
"""Keys that a run's folder, which may be anybody's, does not configure: their recorded values are only shown."""
_JUDGED = ("task", "sampling")
_OF_NO_ANSWER = ("model.price", "model.memory_gib", "model.rope.trained_tokens", "engine.", "beyond_window")
_PRICE = "model.price."
_NONE = ("None", "none")
_LONGEST_SHOWN = 200


def as_recorded(invocation: Invocation, folder: Path) -> Invocation:
    """The invocation with what the files of a run's folder say of model, engine and texts, to be shown.

    Raises `ConfigError` for a folder without a report, for a configuration that would ask something else, and for one
    that lacks what the answers were scored by.
    """
    # Imported late, since reading reports loads numpy and more.
    from contextcliff.reporting.run_names import read_parameters

    told, recorded = _report(folder).run, read_parameters(folder / "manifest.json")
    typed = {key_of(item) for item in invocation.overrides}
    _refuse_other_questions(invocation, recorded, typed, folder)
    _require_scoring(invocation, recorded, typed, folder)

    def is_ours(key: str) -> bool:
        return (key != LIKE and key.partition(".")[0] not in _SHOWN) or _is_typed(key, typed)

    parameters = {
        **{key: value for key, value in invocation.parameters.items() if is_ours(key)},
        **{key: value for key, value in recorded.items() if not is_ours(key)},
    }
    return replace(
        invocation,
        parameters=parameters,
        model=replace(invocation.model, price=_price(parameters, folder)),
        told=replace(
            told,
            kv_policy=one_line(told.kv_policy, longest=_LONGEST_SHOWN),
            rope=one_line(told.rope, longest=_LONGEST_SHOWN),
            dataset_kind=one_line(told.dataset_kind, longest=_LONGEST_SHOWN),
        ),
    )


def run_told(invocation: Invocation, store: Store) -> StoredRun:
    """The run that `as_recorded` has read of, by its id: neither its texts nor its weights are needed.

    Raises `ConfigError` where the store does not hold it, and for an id by which a report would go elsewhere.
    """
    assert invocation.told is not None
    if folder_name(invocation.told.run_id) != invocation.told.run_id or not invocation.told.run_id:
        shown = one_line(invocation.told.run_id, longest=_LONGEST_SHOWN)
        raise ConfigError(f"{KEY}={invocation.run_folder}: is of a run called {shown}, which names no folder")
    run = store.run(invocation.told.run_id)
    if run is None:
        raise ConfigError(
            f"{KEY}={invocation.run_folder}: the answers of {invocation.told.run_id} are not in {store.file}; bring "
            "the store that has them with action=gather 'action.stores=[OUTPUT_DIR]', or name their place with "
            "output_dir=OUTPUT_DIR"
        )
    return run


def _report(folder: Path) -> Report:
    # Imported late, since reading reports loads numpy and more.
    from contextcliff.reporting.stored_reports import REPORT_NAME, UnreadableReport, read_report

    file = folder / REPORT_NAME
    if not file.is_file():
        raise ConfigError(f"{KEY}={folder}: has no {REPORT_NAME}; give a run's folder, its run id or its MLflow id")
    try:
        return read_report(file)
    except UnreadableReport as error:
        raise ConfigError(f"{KEY}={folder}: {file.name} {error}, with the overrides of the run") from error


def _refuse_other_questions(
    invocation: Invocation, recorded: Mapping[str, str], typed: Collection[str], folder: Path
) -> None:
    """Raise `ConfigError` for a typed key that asks something else than the run did."""
    others = tuple(
        each
        for each in different_keys(recorded, invocation, *_SHOWN, *_JUDGED)
        if _is_typed(each.partition("=")[0], typed)
        and not each.startswith((*_judging_keys(invocation), *_OF_NO_ANSWER))
    )
    if others:
        raise ConfigError(
            f"{KEY}={folder}: would ask something else: {listed(others)}; an analysis asks nothing, so leave that out, "
            "or ask it with action=run"
        )


def _require_scoring(invocation: Invocation, recorded: Mapping[str, str], typed: Collection[str], folder: Path) -> None:
    """Raise `ConfigError` where answers were scored by what no folder can bring, and nothing was typed for it."""
    task = {f"task.{name}" for name in path_fields(type(invocation.task))} - {LIKE}
    judging = [key.rstrip("=") for key in _judging_keys(invocation)]
    own = {key: f"{key}._target_" for key in judging if f"{key}._target_" in recorded}  # as a scorer of their own
    for key in ("judge", "embedding", *sorted(key for key in judging if key in task), *own):
        there, here = recorded.get(own.get(key, key), "None"), invocation.parameters.get(own.get(key, key))
        if there not in (*_NONE, here) and (key in own or here in (*_NONE, None)) and key not in typed:
            raise ConfigError(
                f"{KEY}={folder}: was scored with {key}={one_line(there, longest=_LONGEST_SHOWN)}, which is not taken "
                f"from a run's folder; give it again, or go without it: {key}={'null' if '.' in key else 'none'}"
            )


def _price(parameters: Mapping[str, str], folder: Path) -> Price:
    given = {key.removeprefix(_PRICE): value for key, value in parameters.items() if key.startswith(_PRICE)}
    known: dict[str, object] = {key: each for key, each in given.items() if each not in _NONE}
    try:
        if "tiers" in known:
            known["tiers"] = literal_eval(given["tiers"])
        return TypeAdapter(Price).validate_python(known)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise ConfigError(f"{KEY}={folder}: its manifest.json has a model.price that is none") from error


def _is_typed(key: str, typed: Collection[str]) -> bool:
    """Whether a key was typed, or is inside a section that was; an option that is typed is one key."""
    return any(key == each or ("." in each and key.startswith(f"{each}.")) for each in typed)


def _judging_keys(invocation: Invocation) -> tuple[str, ...]:
    """The keys of the task that say how an answer is scored, each with the sign that ends it."""
    asked = invocation.task.identity()
    keys = (key for key in invocation.parameters if key.startswith("task.") and key != LIKE)
    return tuple(f"{key}=" for key in keys if key.split(".")[1] not in (*asked, "_target_"))
