"""From a composed configuration to the objects of a run, with every error named by its key.

A class is one of its group's kinds before it is called, and takes the group's keys and no others. Hydra's `instantiate`
calls whatever `_target_` names, wherever it stands, and has keys of its own (`_partial_`, `_args_`)."""

from __future__ import annotations

import importlib
import inspect
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException
from pydantic import TypeAdapter, ValidationError

from contextcliff.actions.action import Action, Invocation
from contextcliff.actions.analyze import Analyze
from contextcliff.actions.override_keys import as_typed
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.annotation.embedder import Embedder
from contextcliff.annotation.judge import Judge
from contextcliff.composing import hint, nodes
from contextcliff.datasets.dataset import Dataset
from contextcliff.engines.engine import Engine
from contextcliff.errors import ConfigError, keys_named, one_line, shown_value
from contextcliff.execution.budget import Budget
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.models.weights import Gguf
from contextcliff.reporting.published import published_curves
from contextcliff.reporting.reporting_settings import ReportingSettings
from contextcliff.settings import GivenPath, Label, NonNegativeInt, settings
from contextcliff.tasks.task import Task
from contextcliff.text.tokenizer_choice import TokenizerChoice
from contextcliff.tracking.tracker import NoTracker

_GROUPS: Mapping[str, type] = {
    **{"action": Action, "model": Model, "engine": Engine, "tokenizer": TokenizerChoice, "task": Task},
    **{"dataset": Dataset, "sampling": Sampling, "kv_policy": KVPolicy, "analysis": AnalysisSettings},
    **{"tracking": NoTracker, "judge": Judge, "embedding": Embedder},
}
_LONGEST_VALUE, _LONGEST_REASON = 80, 160
_WORDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "string": "a text", "tuple": "a list"}
"""What a value has to be, by the first word of the kinds of pydantic's errors."""
_T = TypeVar("_T")


@settings
class _Plain:
    """What stands beside the groups, and what every dataset has."""

    label: Label
    seed: NonNegativeInt
    search: Literal["walk", "refine"]
    beyond_window: Literal["refuse", "fit"]
    output_dir: GivenPath
    run: GivenPath | None
    reporting: ReportingSettings
    budget: Budget
    dataset: Mapping[str, Literal["spell", "keep"]]


def build_invocation(
    config: DictConfig | dict[str, Any],
    overrides: Sequence[str],
    *,
    options: Mapping[str, str | None] = MappingProxyType({}),
) -> Invocation:
    """Build and check everything that a configuration names: composed, or plain values, which it changes. `options` are
    those that Hydra chose, by group; without them tasks and datasets go by their kind. Raises `ConfigError`."""
    values = config if isinstance(config, dict) else _resolved(config, list(map(str, config)))
    named = {item.split("=", 1)[0].lstrip("+") for item in overrides}
    for prefix, section in (("", values), ("judge.", values.get("judge"))):
        if isinstance(section, dict) and isinstance(section.get("model"), dict):
            with keys_named(model=f"{prefix}model"):
                told = _settled_model(section, prefix=prefix, named=named)
            overrides = (*overrides, *(f"{key}={value}" for key, value in told.items()))
    shown = _as_shown({key: value for key, value in values.items() if key != "run"})  # a place, not configured
    dataset = values.get("dataset")
    of_dataset = {key: dataset.pop(key) for key in ("control_tokens",) if isinstance(dataset, dict) and key in dataset}
    plain = build(_Plain, {**{k: v for k, v in values.items() if k not in _GROUPS}, "dataset": of_dataset}, group="")
    groups: dict[str, Any] = {group: build_group(group, values.get(group)) for group in _GROUPS}
    task, judge, embedder = groups["task"], groups.pop("judge"), groups.pop("embedding")
    if plain.run is not None and not isinstance(groups["action"], Analyze):
        raise ConfigError(f"run={plain.run}: names a stored run to analyse; add action=analyze, or leave it out")
    if judge is not None and not task.traits.has_references:
        raise ConfigError(f"judge: task={task.name} has no reference answers to judge by; leave it out")
    if task.traits.is_judged and judge is None:
        raise ConfigError("task.metric=judge: nobody judges; choose who does with judge=llm, or take another metric")
    if task.traits.is_judged and task.traits.is_searched:
        why = "a search has to know each score at once, and the judge comes after all answers"
        way_out = "give a fixed number of samples, task.trials=N, or take another metric"
        raise ConfigError(f"task.metric=judge: {why}; {way_out}")
    if embedder is not None and not task.traits.embeds_texts:
        raise ConfigError(f"embedding: task={task.name} embeds nothing; leave it out")
    try:
        groups["tracking"].check()
    except ValueError as error:
        raise ConfigError(str(error)) from error
    asked = [group for group in _GROUPS if group not in ("action", "tracking")]
    chosen = {group: option for group in asked if (option := options.get(group))}
    return Invocation(
        **groups,
        judge=judge,
        embedder=embedder,
        **{key: getattr(plain, key) for key in ("label", "seed", "search", "beyond_window", "reporting")},
        published=published_curves(plain.reporting.published, key="reporting.published"),
        budget=plain.budget.for_lengths(given=task.traits.lengths_given),
        control_tokens=plain.dataset.get("control_tokens", "spell"),
        output_dir=_writable(plain.output_dir),
        parameters={**chosen, **{key: str(value) for key, value in _flattened(shown)}},
        composed=OmegaConf.to_yaml(OmegaConf.create(shown)),
        overrides=tuple(map(shown_value, overrides)),
        options=chosen,
        like=task.like,
        run_folder=None if plain.run is None else Path(plain.run).expanduser(),
    )


def part_of(config: DictConfig) -> tuple[NoTracker, ReportingSettings, Path]:
    """What the jobs of a sweep share: tracking, reporting and output folder. Raises `ConfigError`."""
    values = _resolved(config, ("tracking", "reporting", "output_dir"))
    reporting = build(ReportingSettings, values["reporting"], group="reporting")
    return build_group("tracking", values["tracking"]), reporting, Path(str(values["output_dir"])).expanduser()


def build_group(group: str, node: object) -> Any:
    """The object of a group, and of one that stands in another, such as `judge.engine`. Raises `ConfigError`. None for
    a judge or an embedder that was not chosen."""
    if node is None and group in ("judge", "embedding"):
        return None
    if not isinstance(node, dict) or "_target_" not in node:
        way_out = f"choose one of the options in conf/{_kind(group)}/"
        raise ConfigError(f"{group}={_shown(node)}: names no class in _target_; {way_out}")
    cls = _class_at(str(node["_target_"]), group)
    values = {str(key): _built_inside(f"{group}.{key}", value) for key, value in node.items() if key != "_target_"}
    return build(cls, values, group=group)


def _built_inside(key: str, value: object) -> object:
    if not isinstance(value, dict):
        return value
    if "_target_" in value:
        return _own_metric(key, value) if key == "task.metric" else build_group(key, value)
    return {name: _built_inside(f"{key}.{name}", inner) for name, inner in value.items()}


def _kind(key: str) -> str:
    """The group whose options a key takes: `engine` for `judge.engine`."""
    return "dataset" if key.startswith("dataset.parts.") else key.removeprefix("judge.")


def _class_at(target: str, group: str) -> type:
    kind = _GROUPS.get(_kind(group))
    if kind is None:
        raise ConfigError(f"{group}._target_={_shown(target)}: names a class where none is built; leave it out")
    named = _imported(target, group, "Class")
    lacks = ""
    if not isinstance(named, type) or not is_dataclass(named) or inspect.isabstract(named):
        lacks = "is no class of settings"
    elif is_dataclass(kind):
        lacks = "" if issubclass(named, kind) else f"is no {kind.__name__}"
    else:
        methods = {name for name, part in vars(kind).items() if callable(part)}
        wanted = {name for name in methods if name[0] != "_" or name == "__call__"}
        lacks = next((f"has no {name}" for name in sorted(wanted - set(dir(named)))), "")
    if lacks:
        way_out = f"give another class, or an option of conf/{_kind(group)}/"
        raise ConfigError(f"{group}._target_={_shown(target)}: {lacks}; {way_out}")
    return named  # type: ignore[no-any-return]


def _own_metric(key: str, node: Mapping[str, object]) -> object:
    """A scorer of the user's own, a function or an object of a class, tried once before anything is paid for. Further
    keys of the node are its arguments. Raises `ConfigError`."""
    from contextcliff.tasks.questions.qa_scoring import WANTED, OwnMetric  # few runs need it

    target = str(node["_target_"])
    arguments = {str(name): value for name, value in node.items() if name != "_target_"}
    scorer = _imported(target, key, "function")
    try:
        scorer = scorer(**arguments) if isinstance(scorer, type) else partial(scorer, **arguments)
        if not callable(scorer):
            raise TypeError(f"a {type(scorer).__name__} is not callable")
    except Exception as error:
        raise ConfigError(
            f"{key}._target_={target}: gives no scorer ({one_line(str(error), longest=_LONGEST_REASON)}); {WANTED}"
        ) from error
    shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
    metric = OwnMetric(f"{target}({shown})" if shown else target, scorer)
    metric("an answer", ("an answer",))
    return metric


def _imported(target: str, group: str, kind: str) -> Any:
    module, _, name = target.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:  # a module of the user's own may raise anything
        way_out = f"can't be imported ({one_line(str(error), longest=_LONGEST_REASON)}); give package.module.{kind}"
        raise ConfigError(f"{group}._target_={_shown(target)}: {way_out}") from error


def build(cls: type[_T], values: object, *, group: str) -> _T:
    """Build one settings class from plain values. Raises `ConfigError` that names the first wrong key."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{group}={_shown(values)}: is a section; write {group}.KEY=VALUE")
    try:
        return TypeAdapter(cls).validate_python(dict(values))
    except ValidationError as error:
        raise ConfigError(_first_fault(error, values, group)) from error
    except ConfigError as error:
        raise ConfigError(_renamed(str(error), group)) from error


def _renamed(message: str, group: str) -> str:
    """What a class says of its keys, by the place where it stands: `judge.engine.base_url` for `engine.base_url`."""
    return re.sub(rf"(?<![\w./-]){re.escape(_kind(group))}\.", lambda _: f"{group}.", message)


def _first_fault(error: ValidationError, values: Mapping[str, object], group: str) -> str:
    faults = error.errors(include_url=False)
    first = faults[0]
    key, siblings = _place(first["loc"], values, group)
    value = f"{key}={_shown(first['input'])}"
    # Of a value that may be of several kinds, pydantic reports one error for each.
    depth = len(first["loc"])
    alike = [each for each in faults if (_place(each["loc"], values, group)[0], len(each["loc"])) == (key, depth)]
    match first["type"]:
        case "unexpected_keyword_argument" | "invalid_key":
            unknown = {_place(each["loc"], values, group)[0] for each in faults if each["type"] == first["type"]}
            known = (*siblings, *(() if group else _GROUPS))
            return f"{key}: unknown key; {hint(key, [each for each in known if each not in unknown])}"
        case "missing" | "missing_argument" | "missing_keyword_only_argument":
            lacked = f"{key}.{first['loc'][-1]}".removeprefix(".")
            return f"{lacked}: missing; give {lacked}=VALUE"
        case "value_error":
            return _renamed(str(first["ctx"]["error"]), group)
        case "dataclass_type":
            return f"{value}: is a section; write {key}.KEY=VALUE"
        case "too_short" | "string_too_short":
            return f"{value}: must not be empty"
    wanted = [
        f"must be {_WORDS[kind]}" if kind in _WORDS else each["msg"].replace("Input should be", "must be")
        for each in alike
        for kind in (each["type"].partition("_")[0],)
    ]
    first_wanted, *others = dict.fromkeys(wanted)
    return " or ".join([f"{value}: {first_wanted}", *(other.removeprefix("must be ") for other in others)])


def _place(location: Sequence[int | str], values: object, group: str) -> tuple[str, list[str]]:
    """The key that an error is about, and those beside it; what the value lacks in a location are names of kinds."""
    key, siblings = group, list[str]()
    for part in location:
        if isinstance(values, Mapping) and part in values:
            dotted = f"{key}." if key else ""
            # YAML lists all keys of a section; one that stands in a list has only those that were typed.
            beside = [] if key.endswith("]") else [name for name in values if name != part]
            key, siblings = f"{dotted}{part}", [f"{dotted}{name}" for name in beside]
            values = values[part]
        elif isinstance(values, list | tuple) and isinstance(part, int):
            key, values = f"{key}[{part}]", values[part]
    return key, siblings


def _shown(value: object) -> str:
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return one_line(text, longest=_LONGEST_VALUE)


def _settled_model(section: dict[str, Any], *, prefix: str, named: set[str]) -> Mapping[str, str]:
    """Settle in place what holds of a model; returns the keys that its file fills, with their values as typed.

    Name and window come from the header of a GGUF file: of one that is typed, since the option's are another model's,
    and where an option leaves them open. Of a server that runs already the file may be anything. A preset's prices go
    where nobody is paid, and its names on servers where one is given by hand; prices that are given by hand stay, so
    that a budget can be tried. Raises `ConfigError`."""
    engine: Engine = build_group(f"{prefix}engine", section.get("engine"))
    model, told, path = section["model"], dict[str, str](), f"{prefix}model"
    if isinstance(model.get("gguf"), dict) and not engine.is_remote:
        typed = any(f"{path}.gguf.{key}" in named and model["gguf"].get(key) for key in ("path", "repo", "package"))
        unknown = [key for key in ("name", "context_window") if typed or model.get(key) is None]
        left = [key for key in unknown if f"{path}.{key}" not in named]
        gguf = build(Gguf, model["gguf"], group=f"{path}.gguf")
        if left and gguf.is_named:
            name, window = gguf.told()
            if window is None and "context_window" in left:
                told_by_none = f"nothing here tells the window of {name}; give {path}.context_window=TOKENS"
                raise ConfigError(f"{path}.context_window: {told_by_none}")
            model |= {key: value for key, value in (("name", name), ("context_window", window)) if key in left}
            if typed and not named & {f"{path}.hub", path, f"model@{path}"}:
                model["hub"] = None  # the default model's
            told = {f"{path}.{key}": as_typed(name) if key == "name" else str(window) for key in left}
    if f"{path}.name" in {*named, *told}:
        model["served"] = {}
    if not engine.is_paid and not any(key.startswith(f"{path}.price") for key in named):
        model.pop("price", None)
    return told


def _resolved(config: DictConfig, keys: Iterable[str]) -> dict[str, Any]:
    plain = partial(OmegaConf.to_container, resolve=True, throw_on_missing=True)
    try:
        return {key: plain(node) if OmegaConf.is_config(node := config[key]) else node for key in keys}
    except OmegaConfBaseException as error:
        raise ConfigError(_unresolved(config, error)) from error


def _unresolved(config: DictConfig, error: OmegaConfBaseException) -> str:
    key = str(error.full_key)
    if isinstance(error, MissingMandatoryValue):
        return f"{key}: missing; give {key}=VALUE"
    raw: Any = OmegaConf.to_container(config, resolve=False)
    value = dict(_flattened(raw)).get(re.sub(r"\[\d+\]$", "", key), "")
    message = str(error.msg).splitlines()[0]
    within = re.fullmatch(r"\w+ raised while resolving interpolation: [\"']?(.*?)[\"']?", message)
    return f"{key}={_shown(value)}: {within[1] if within else message}; give a value, or a key that there is"


def _writable(output_dir: str) -> Path:
    """The output folder, tried by a file that is gone at once: no folder is made before there is a result."""
    folder = Path(output_dir).expanduser()
    existing = next((parent for parent in (folder, *folder.parents) if parent.exists()), Path())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return folder
    except OSError as error:
        why = f"can't be written ({error.strerror}); give a folder that can"
        raise ConfigError(f"output_dir={output_dir}: {why}") from error


def _flattened(values: Mapping[str, Any]) -> Iterable[tuple[str, object]]:
    return ((key, value) for key, value in nodes(values) if not isinstance(value, dict) or not value)


def _as_shown(value: Any) -> Any:
    """What is kept of a configuration: without the users, passwords and keys of its addresses."""
    if isinstance(value, dict):
        return {key: _as_shown(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_shown(inner) for inner in value]
    # Text, and no interpolation where it is read again.
    return shown_value(value).replace("${", "\\${") if isinstance(value, str) else value
