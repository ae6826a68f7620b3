"""Action `analyze`: score, analyse, report and track again from stored generations; no model is called."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter

from contextcliff.actions.action import Invocation, RunState, run_of, stored
from contextcliff.actions.analyse import analyse
from contextcliff.actions.annotate import annotate
from contextcliff.actions.like import KEY as LIKE
from contextcliff.actions.like import different_keys, listed
from contextcliff.actions.override_keys import key_of
from contextcliff.actions.report import report, require_cap
from contextcliff.actions.track import LiveTracking
from contextcliff.errors import ConfigError, ExitCode, one_line
from contextcliff.execution.store import Store, StoredRun
from contextcliff.models.model import Price
from contextcliff.settings import folder_name, path_fields, settings

KEY = "run"
_SHOWN = ("model", "engine", "tokenizer", "dataset", "kv_policy", "seed", "search", "label", "beyond_window")
"""Keys that a run's folder, which may be anybody's, does not configure: their recorded values are only shown."""
_OF_NO_ANSWER = ("model.price", "model.memory_gib", "model.rope.trained_tokens", "engine.", "beyond_window")
_PRICE = "model.price."
_NONE = ("None", "none")
_LONGEST_SHOWN = 200


@settings
class Analyze:
    """Takes the run that `run` names, else that of this configuration, with another analysis if one is asked for."""

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Raise `ConfigError` where no run of this configuration is stored, `GateFailed` after all is written."""
        with Store(invocation.output_dir) as store:
            store.verify()
            if invocation.run_folder is None:
                invocation = stored(invocation, store)
                # The same questions may have been run under another name: a run keeps the one it was stored under.
                run = run_of(invocation, store)
                if run is None:
                    raise ConfigError(
                        f"action=analyze: {store.file} holds no run of this configuration "
                        f"({invocation.identify().run_id}); run it first, with the same overrides and output_dir"
                    )
            else:
                invocation, run = _as_recorded(invocation, invocation.run_folder, store)
            live = LiveTracking(invocation=invocation)
            state = RunState(invocation=invocation, store=store, run_id=run.run_id, live=live)
            annotate(state)
            analyse(state)
            require_cap(state, report(state))
        return ExitCode.DONE


def _as_recorded(invocation: Invocation, folder: Path, store: Store) -> tuple[Invocation, StoredRun]:
    # Imported late, since reading reports loads numpy and more.
    from contextcliff.reporting.run_names import read_parameters
    from contextcliff.reporting.stored_reports import MANIFEST_NAME, read_run

    told, recorded = read_run(folder, key=KEY).run, read_parameters(folder / MANIFEST_NAME)
    typed, here = {key_of(item) for item in invocation.overrides}, invocation.parameters
    asked = (*invocation.task.identity(), "_target_")
    judging = [key for key in here if key.startswith("task.") and key != LIKE and key.split(".")[1] not in asked]

    def shown(text: str) -> str:
        return one_line(text, longest=_LONGEST_SHOWN)

    def is_typed(key: str) -> bool:  # or inside a section that was; an option that is typed is one key
        return any(key == each or ("." in each and key.startswith(f"{each}.")) for each in typed)

    def is_ours(key: str) -> bool:
        return (key != LIKE and key.partition(".")[0] not in _SHOWN) or is_typed(key)

    asking_nothing = (*(f"{key}=" for key in judging), *_OF_NO_ANSWER)
    others = tuple(
        each
        for each in different_keys(recorded, invocation, *_SHOWN, "task", "sampling")
        if is_typed(each.partition("=")[0]) and not each.startswith(asking_nothing)
    )
    if others:
        raise ConfigError(
            f"{KEY}={folder}: would ask something else: {listed(others)}; an analysis asks nothing, so leave that out, "
            "or ask it with action=run"
        )
    # What answers were scored by, and no folder can bring: judge, embedder, files and scorers of their own.
    files = {f"task.{name}" for name in path_fields(type(invocation.task))} - {LIKE}
    own = {key: f"{key}._target_" for key in judging if f"{key}._target_" in recorded}
    for key in ("judge", "embedding", *sorted(files.intersection(judging)), *own):
        there, given = recorded.get(own.get(key, key), "None"), here.get(own.get(key, key))
        if there not in (*_NONE, given) and (key in own or given in (*_NONE, None)) and key not in typed:
            raise ConfigError(
                f"{KEY}={folder}: was scored with {key}={shown(there)}, which is not taken from a run's folder; give "
                f"it again, or go without it: {key}={'null' if '.' in key else 'none'}"
            )
    if folder_name(told.run_id) != told.run_id or not told.run_id:
        raise ConfigError(f"{KEY}={folder}: is of a run called {shown(told.run_id)}, which names no folder")
    run = store.run(told.run_id)
    if run is None:
        raise ConfigError(
            f"{KEY}={folder}: the answers of {told.run_id} are not in {store.file}; bring the store that has them with "
            "action=gather 'action.stores=[OUTPUT_DIR]', or name their place with output_dir=OUTPUT_DIR"
        )
    parameters = {
        **{key: value for key, value in here.items() if is_ours(key)},
        **{key: value for key, value in recorded.items() if not is_ours(key)},
    }
    priced = {key: value for key, value in parameters.items() if key.startswith(_PRICE) and value not in _NONE}
    try:
        known = {key.removeprefix(_PRICE): literal_eval(value) for key, value in priced.items()}
        price = TypeAdapter(Price).validate_python(known)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise ConfigError(f"{KEY}={folder}: its manifest.json has a model.price that is none") from error
    told = replace(told, kv_policy=shown(told.kv_policy), rope=shown(told.rope), dataset_kind=shown(told.dataset_kind))
    return replace(invocation, parameters=parameters, model=replace(invocation.model, price=price), told=told), run
