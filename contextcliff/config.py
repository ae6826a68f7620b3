"""From a composed configuration to the objects of a run, with every error named by its key."""

from __future__ import annotations

import importlib
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast, get_type_hints

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException
from pydantic import TypeAdapter, ValidationError

from contextcliff.actions.action import Action, Invocation
from contextcliff.actions.analyze import Analyze
from contextcliff.actions.override_keys import as_typed
from contextcliff.addresses import shown_value
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.annotation.embedder import Embedder
from contextcliff.annotation.judge import Judge
from contextcliff.composing import hint, nodes
from contextcliff.config_errors import explain, refuse_nonsense, shown_setting
from contextcliff.datasets.dataset import Dataset
from contextcliff.engines.engine import Engine
from contextcliff.errors import ConfigError, one_line
from contextcliff.execution.budget import Budget
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.models.weights import Gguf
from contextcliff.records.published import PublishedCurve
from contextcliff.reporting.published import published_curves
from contextcliff.reporting.reporting_settings import ReportingSettings
from contextcliff.settings import FOLDER_NAME, GivenPath, NonNegativeInt, settings
from contextcliff.tasks.task import Task
from contextcliff.text.tokenizer_choice import TokenizerChoice
from contextcliff.tracking.none import NoTracker

_GROUPS = ("action", "model", "engine", "tokenizer", "task", "dataset", "sampling", "kv_policy", "analysis", "tracking")
_ANNOTATORS: Mapping[str, str] = {
    "judge": "is no judge; choose one with judge=llm",
    "embedding": "embeds nothing; choose one with embedding=openai or llamacpp",
}
"""Groups that may stay empty, and what is said of a value that is none of their options."""
_KINDS: Mapping[str, type] = {
    **{"action": Action, "model": Model, "engine": Engine, "tokenizer": TokenizerChoice, "task": Task},
    **{"dataset": Dataset, "sampling": Sampling, "kv_policy": KVPolicy, "analysis": AnalysisSettings},
    **{"tracking": NoTracker, "judge": Judge, "embedding": Embedder},
}
"""What the class of each group has to be like."""
_SECTIONS = ("reporting", "budget")
_PLAIN = ("label", "seed", "search", "beyond_window", "output_dir", "run")
_ASKED = tuple(group for group in (*_GROUPS, *_ANNOTATORS) if group not in ("action", "tracking"))
"""Groups whose options say what was asked of whom, and how it was judged."""
_LONGEST_REASON = 160
_LABEL = re.compile(r"[\w.-]{0,64}", re.ASCII)


@settings
class _Plain:
    label: str
    seed: NonNegativeInt
    search: Literal["walk", "refine"]
    beyond_window: Literal["refuse", "fit"]
    output_dir: GivenPath
    run: GivenPath | None


@settings
class _OfEveryDataset:
    control_tokens: Literal["spell", "keep"] = "spell"


def build_invocation(
    config: DictConfig, overrides: Sequence[str], *, options: Mapping[str, str | None] | None = None
) -> Invocation:
    """Build and check everything that a composed configuration names. Raises `ConfigError`.

    `options` are those that Hydra chose, by group; without them tasks and datasets go by their kind.
    """
    values = _resolved(config)
    _refuse_unknown(values, (*_GROUPS, *_ANNOTATORS, *_SECTIONS, *_PLAIN), prefix="")
    plain = cast(_Plain, build(_Plain, {key: values[key] for key in _PLAIN}, group=""))
    if not _LABEL.fullmatch(plain.label):
        raise ConfigError(
            f"label={plain.label}: up to 64 letters, digits, dots, hyphens and underscores; choose such a one"
        )
    del values["run"]  # a place, and nothing that was configured
    named = {item.split("=", 1)[0].lstrip("+") for item in overrides}
    judging = values.get("judge")
    for section, prefix in ((values, ""), (judging, "judge.")):
        told = _told_by_weights(section, prefix=prefix, named=named)
        named |= told.keys()
        overrides = (*overrides, *(f"{key}={value}" for key, value in told.items()))
    if "model.name" in named and isinstance(values.get("model"), dict):
        values["model"]["served"] = {}  # a name that is given by hand wins over a preset's
    if "judge.model.name" in named and isinstance(judging, dict) and isinstance(judging.get("model"), dict):
        judging["model"]["served"] = {}
    for section, prefix in ((values, ""), (judging, "judge.")):
        _forget_unpaid_prices(section, prefix=prefix, named=named)
    shown = cast(dict[str, Any], _as_shown(values))
    of_dataset = cast(_OfEveryDataset, _taken_out(_OfEveryDataset, values.get("dataset"), group="dataset"))
    groups = {group: _build_group(group, values.get(group)) for group in _GROUPS}
    if plain.run is not None and not isinstance(groups["action"], Analyze):
        raise ConfigError(f"run={plain.run}: names a stored run to analyse; add action=analyze, or leave it out")
    task = cast(Task, groups["task"])
    traits = task.traits
    judge = cast(Judge | None, _build_annotator("judge", values.get("judge")))
    embedder = cast(Embedder | None, _build_annotator("embedding", values.get("embedding")))
    if judge is not None and not traits.has_references:
        raise ConfigError(f"judge: task={task.name} has no reference answers to judge by; leave it out")
    if traits.is_judged and judge is None:
        raise ConfigError("task.metric=judge: nobody judges; choose who does with judge=llm, or take another metric")
    if traits.is_judged and traits.is_searched:
        raise ConfigError(
            "task.metric=judge: a search has to know each score at once, and the judge comes after all answers; give a "
            "fixed number of samples, task.trials=N, or take another metric"
        )
    if embedder is not None and not traits.embeds_texts:
        raise ConfigError(f"embedding: task={task.name} embeds nothing; leave it out")
    tracking = cast(NoTracker, groups["tracking"])
    if not FOLDER_NAME.fullmatch(tracking.experiment):
        raise ConfigError(
            f"tracking.experiment={tracking.experiment}: names a folder too; use up to 100 letters, digits, spaces, "
            "dots, hyphens and underscores"
        )
    reporting = cast(ReportingSettings, build(ReportingSettings, values["reporting"], group="reporting"))
    chosen = {group: option for group in _ASKED if (option := (options or {}).get(group))}
    try:
        tracking.check()
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return Invocation(
        action=cast(Action, groups["action"]),
        model=cast(Model, groups["model"]),
        engine=cast(Engine, groups["engine"]),
        tokenizer=cast(TokenizerChoice, groups["tokenizer"]),
        task=task,
        dataset=cast(Dataset, groups["dataset"]),
        sampling=cast(Sampling, groups["sampling"]),
        kv_policy=cast(KVPolicy, groups["kv_policy"]),
        analysis=cast(AnalysisSettings, groups["analysis"]),
        tracking=tracking,
        reporting=reporting,
        published=published_curves(reporting.published, key="reporting.published"),
        judge=judge,
        embedder=embedder,
        budget=cast(Budget, build(Budget, values["budget"], group="budget")).for_lengths(given=traits.lengths_given),
        label=plain.label,
        seed=plain.seed,
        search=plain.search,
        beyond_window=plain.beyond_window,
        control_tokens=of_dataset.control_tokens,
        output_dir=_writable(plain.output_dir),
        parameters={**chosen, **{key: str(value) for key, value in _flattened(shown)}},
        composed=OmegaConf.to_yaml(OmegaConf.create(shown)),
        overrides=tuple(map(shown_value, overrides)),
        options=chosen,
        like=task.like,
        run_folder=None if plain.run is None else Path(plain.run).expanduser(),
    )


def _told_by_weights(section: object, *, prefix: str, named: Set[str]) -> Mapping[str, str]:
    """The keys of name and window that the header of a GGUF file fills, in place; with their values as typed.

    Those of a file that is typed, since the option's are another model's, and those that an option leaves open. Of a
    server that runs already the file may be anything. Raises `ConfigError`.
    """
    model = section.get("model") if isinstance(section, dict) else None
    if not isinstance(section, dict) or not isinstance(model, dict) or not isinstance(model.get("gguf"), dict):
        return {}
    typed = any(f"{prefix}model.gguf.{key}" in named and model["gguf"].get(key) for key in ("path", "repo", "package"))
    left = [key for key in ("name", "context_window") if typed or model.get(key) is None]
    left = [key for key in left if f"{prefix}model.{key}" not in named]
    engine = cast(Engine, _build_group(f"{prefix}engine", section.get("engine"))) if left else None
    if engine is None or engine.is_remote:
        return {}
    gguf = cast(Gguf, build(Gguf, model["gguf"], group=f"{prefix}model.gguf"))
    if not gguf.is_named:
        return {}
    name, window = gguf.told()
    if window is None and "context_window" in left:
        raise ConfigError(
            f"{prefix}model.context_window: nothing here tells the window of {name}; give "
            f"{prefix}model.context_window=TOKENS"
        )
    told = {key: value for key, value in (("name", name), ("context_window", window)) if key in left}
    model |= told
    if typed and not named & {f"{prefix}model.hub", f"{prefix}model", f"model@{prefix}model"}:
        model["hub"] = None  # the default model's
    return {f"{prefix}model.{key}": str(window) if key == "context_window" else as_typed(name) for key in told}


def _taken_out(cls: type, node: object, *, group: str) -> object:
    """Build a settings class from its keys among those of a group, which loses them."""
    names = [name for name in get_type_hints(cls) if isinstance(node, dict) and name in node]
    return build(cls, {name: cast(dict[str, object], node).pop(name) for name in names}, group=group)


def _forget_unpaid_prices(section: object, *, prefix: str, named: Collection[str]) -> None:
    """Drop a preset's prices where nobody is paid; those that are given by hand stay, so that a budget can be tried."""
    if not isinstance(section, dict) or not isinstance(section.get("model"), dict):
        return
    if any(key.startswith(f"{prefix}model.price") for key in named):
        return
    if not cast(Engine, _build_group(f"{prefix}engine", section.get("engine"))).is_paid:
        section["model"].pop("price", None)


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepParts:
    """What the jobs of a sweep share, and where all of it is kept."""

    tracking: NoTracker
    reporting: ReportingSettings
    output_dir: Path
    published: tuple[PublishedCurve, ...]


def part_of(config: DictConfig) -> SweepParts:
    """What a sweep as a whole needs of its configuration. Raises `ConfigError`."""
    values = {key: OmegaConf.to_container(config[key], resolve=True) for key in ("tracking", "reporting")}
    tracking = cast(NoTracker, _build_group("tracking", values["tracking"]))
    if not FOLDER_NAME.fullmatch(tracking.experiment):
        raise ConfigError(f"tracking.experiment={tracking.experiment}: names a folder too")
    reporting = cast(ReportingSettings, build(ReportingSettings, values["reporting"], group="reporting"))
    return SweepParts(
        tracking=tracking,
        reporting=reporting,
        published=published_curves(reporting.published, key="reporting.published"),
        output_dir=Path(str(config.output_dir)).expanduser(),
    )


def build(cls: type, values: object, *, group: str) -> object:
    """Build one settings class from plain values. Raises `ConfigError` that names the first wrong key."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{group}={shown_setting(values)}: is a section; write {group}.KEY=VALUE")
    refuse_nonsense(values, cls, group)
    try:
        return TypeAdapter(cls).validate_python(dict(values))
    except ValidationError as error:
        raise ConfigError(explain(error, cls, group)) from error


def _resolved(config: DictConfig) -> dict[str, Any]:
    try:
        return cast(dict[str, Any], OmegaConf.to_container(config, resolve=True, throw_on_missing=True))
    except OmegaConfBaseException as error:
        raise ConfigError(_unresolved(config, error)) from error


def _unresolved(config: DictConfig, error: OmegaConfBaseException) -> str:
    """An interpolation that leads nowhere, or a value that has to be given, by its key."""
    key = str(error.full_key)
    if isinstance(error, MissingMandatoryValue):
        return f"{key}: missing; give {key}=VALUE"
    raw = cast(dict[str, Any], OmegaConf.to_container(config, resolve=False))
    value = dict(_flattened(raw)).get(re.sub(r"\[\d+\]$", "", key), "")
    message = str(error.msg).splitlines()[0]
    within = re.fullmatch(r"\w+ raised while resolving interpolation: [\"']?(.*?)[\"']?", message)
    return f"{key}={shown_setting(value)}: {within[1] if within else message}; give a value, or a key that there is"


def _build_annotator(group: str, node: object) -> object | None:
    """A judge or an embedder; None where none was chosen."""
    if node is None:
        return None
    if not isinstance(node, dict):
        raise ConfigError(f"{group}={node}: {_ANNOTATORS[group]}")
    return _build_group(group, node)


def _build_group(group: str, node: object) -> object:
    if not isinstance(node, dict) or "_target_" not in node:
        raise ConfigError(
            f"{group}={node}: names no class in _target_; choose one of the options in conf/{group.replace('.', '/')}/"
        )
    values = {str(key): _built_inside(f"{group}.{key}", value) for key, value in node.items() if key != "_target_"}
    if group == "task":
        _refuse_former_keys(values)
    return build(_class_at(str(node["_target_"]), group), values, group=group)


def _refuse_former_keys(task: Mapping[str, object]) -> None:
    """Raise `ConfigError` for a judge or an embedder inside a task, where an earlier version had them."""
    for name in _ANNOTATORS:
        if name in task:
            raise ConfigError(f"task.{name}: is a group of its own now; write {name}=OPTION, and {name}.KEY=VALUE")


def _built_inside(key: str, value: object) -> object:
    """A value of a group; one that names a class is a group inside it, and so is each of a mapping of such."""
    if not isinstance(value, dict):
        return value
    if "_target_" in value:
        return _own_metric(key, value) if key == "task.metric" else _build_group(key, value)
    return {name: _built_inside(f"{key}.{name}", inner) for name, inner in value.items()}


def _own_metric(key: str, node: Mapping[str, object]) -> object:
    """A scorer of the user's own, a function or an object of a class, with its further keys as arguments.

    It is tried once, before anything is paid for. Raises `ConfigError`.
    """
    from contextcliff.tasks.questions.qa_scoring import WANTED, OwnMetric  # few runs need it

    target = str(node["_target_"])
    arguments = {str(name): value for name, value in node.items() if name != "_target_"}
    scorer = _imported(target, key, "function")
    try:
        scorer = scorer(**arguments) if isinstance(scorer, type) else partial(scorer, **arguments)
        if not callable(scorer):
            raise TypeError(f"a {type(scorer).__name__} is not callable")
    except Exception as error:
        why = one_line(str(error), longest=_LONGEST_REASON)
        raise ConfigError(f"{key}._target_={target}: gives no scorer ({why}); {WANTED}") from error
    shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
    metric = OwnMetric(f"{target}({shown})" if shown else target, scorer)
    metric("an answer", ("an answer",))
    return metric


def _imported(target: str, group: str, kind: str) -> Any:
    module, _, name = target.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:  # a module of the user's own may raise anything
        why = one_line(str(error), longest=_LONGEST_REASON)
        raise ConfigError(
            f"{group}._target_={target}: can't be imported ({why}); give package.module.{kind}"
        ) from error


def _class_at(target: str, group: str) -> type:
    named = _imported(target, group, "Class")
    if not isinstance(named, type):
        raise ConfigError(f"{group}._target_={target}: is no class; give package.module.Class")
    lacking = _lacking(named, _KINDS.get(group.removeprefix("judge.")))
    if lacking:
        raise ConfigError(
            f"{group}._target_={target}: has no {lacking}, as every class of this group has; give another one, or an "
            f"option of conf/{group.rpartition('.')[2]}/"
        )
    return named


def _lacking(cls: type, kind: type | None) -> str:
    """The first method that a class of this kind has to have and `cls` lacks; empty where it lacks none."""
    needed = () if kind is None else (name for name, part in vars(kind).items() if callable(part) and name[0] != "_")
    return next((name for name in needed if not callable(getattr(cls, name, None))), "")


def _refuse_unknown(values: Mapping[str, object], known: Sequence[str], *, prefix: str) -> None:
    for key in values:
        if key not in known:
            raise ConfigError(f"{prefix}{key}: unknown key; {hint(key, known)}")


def _writable(output_dir: str) -> Path:
    """The output folder, tried by a file that is gone at once: no folder is made before there is a result."""
    folder = Path(output_dir).expanduser()
    existing = next((parent for parent in (folder, *folder.parents) if parent.exists()), Path())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return folder
    except OSError as error:
        raise ConfigError(
            f"output_dir={output_dir}: can't be written ({error.strerror}); give a folder that can"
        ) from error


def _flattened(values: Mapping[str, Any]) -> Iterable[tuple[str, object]]:
    return ((key, value) for key, value in nodes(values) if not isinstance(value, dict) or not value)


def _as_shown(value: object) -> object:
    """What is kept of a configuration: without the users, passwords and keys of its addresses."""
    match value:
        case dict():
            return {key: _as_shown(inner) for key, inner in value.items()}
        case list():
            return [_as_shown(inner) for inner in value]
        case str():
            return shown_value(value)
        case _:
            return value
