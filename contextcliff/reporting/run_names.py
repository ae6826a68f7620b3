"""What runs are called where several stand together: by their model, and by whatever else tells them apart."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from contextcliff.datasets.local_files import MAX_BYTES, UnreadableFile, json_of, opened, parsed
from contextcliff.errors import tell
from contextcliff.findings.finding import findings_of
from contextcliff.records.report import Report, shown_model

_BETWEEN = " · "


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFacts:
    """What a run's name is made of. None: not known, which tells it from no other; empty: nothing to say."""

    run_id: str
    model: str
    task: str | None = None
    kv_policy: str | None = None
    rope: str | None = None
    dataset: str | None = None
    text: str | None = None
    """The text that all lengths share, or the titles of several; tells runs of one dataset apart."""
    label: str | None = None


_TELLING = ("task", "kv_policy", "rope", "dataset", "label")


def facts_of(report: Report) -> RunFacts:
    """The facts of a run of ours."""
    run, text = report.run, parameters_of_findings(report).get("text") or report.run.texts or None
    alike = {name: getattr(run, name) for name in ("run_id", "model", *_TELLING)}
    return RunFacts(**alike, text=text)


def parameters_of_findings(report: Report) -> dict[str, str]:
    """What the findings of a report add to its run's parameters."""
    return {key: value for section in findings_of(report) for key, value in section.parameters(report).items()}


def telling_names(runs: Sequence[RunFacts]) -> tuple[str, ...]:
    """A name for each run: its model, and those other facts in which the runs differ. Runs alike in all share one."""
    differing = [name for name in _TELLING if len({getattr(run, name) for run in runs} - {None}) > 1]
    names = []
    for run in runs:
        texts = {other.text for other in runs if other.dataset == run.dataset} - {None}
        parts = (run.model, *(getattr(run, name) for name in differing), run.text if len(texts) > 1 else None)
        names.append(_BETWEEN.join(filter(None, parts)))
    return tuple(names)


def unique_names(runs: Sequence[RunFacts], configured: Sequence[Mapping[str, str]] = ()) -> tuple[str, ...]:
    """The same, each different from the others: runs alike in all of these go by what differs in their flattened
    configurations as well, else by their run ids, equal ones of these numbered."""
    names = list(telling_names(runs))
    groups = [[place for place, other in enumerate(names) if other == name] for name in dict.fromkeys(names)]
    for alike in groups if configured else ():
        every = [configured[place] for place in alike]
        for place in alike:
            names[place] = _BETWEEN.join((names[place], *in_words(settings_apart(configured[place], every))))
    taken = Counter(names)
    names = [run.run_id if taken[name] > 1 else name for name, run in zip(names, runs, strict=True)]
    unique: dict[str, None] = {}
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        unique[name if name not in unique else next(n for n in numbered if n not in unique and n not in names)] = None
    return tuple(unique)


_NOT_ASKED = frozenset(
    {"action", "budget", "created", "hydra", "label", "output_dir", "reporting", "run", "text", "tracking"}
)
"""First parts of the keys that change nothing that is asked, or that names have anyway."""
_MOST_SETTINGS = 3


def settings_apart(own: Mapping[str, str], others: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The settings of a flattened configuration that some others have not, at most three; an option stands for its
    keys."""
    apart = {key: value for key, value in own.items() if any(other.get(key, value) != value for other in others)}
    told = [key for key in apart if key.partition(".")[0] not in {*_NOT_ASKED, *(apart if "." in key else ())}]
    return with_file_names({key: apart[key] for key in told[:_MOST_SETTINGS]})


def in_words(settings: Mapping[str, str]) -> list[str]:
    """`trials=4`: each key by its last part."""
    return [f"{key.rpartition('.')[2]}={value}" for key, value in settings.items()]


def without_common_model(names: Sequence[str], *, model: str) -> tuple[str, ...]:
    """Names without the model that all of them begin with, where each has something else to go by."""
    prefix = f"{model}{_BETWEEN}" if all(each.startswith(f"{model}{_BETWEEN}") for each in names) else ""
    return tuple(name.removeprefix(prefix) for name in names)


_PATHS = frozenset({"path", "paths", "word_list", "output_dir", "source", "uri", "artifacts", "published"})
"""Last parts of the keys whose values are paths; that of a `name` may be one, as of a tokenizer."""
_ROOTED = re.compile(r"~|[/\\]|[A-Za-z]:[/\\]")
_ADDRESS = re.compile(r"https?://")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_LIST = re.compile(r"\[.*\]", re.DOTALL)


def with_file_names(parameters: Mapping[str, str]) -> dict[str, str]:
    """A flattened configuration with file names in the place of paths."""
    return {key: _shown(key, value) for key, value in parameters.items()}


def file_name(path: str) -> str:
    """The last part of a path of any system; an address of the web stays."""
    if _ADDRESS.match(path):
        return path
    parts = [part for part in re.split(r"[/\\]+", path) if part]
    return parts[-1] if parts else path


def _shown(key: str, value: str) -> str:
    last = key.rpartition(".")[2]
    if last not in _PATHS and not (last == "name" and _ROOTED.match(value)):
        return value
    if _LIST.fullmatch(value):
        return _QUOTED.sub(lambda quoted: repr(file_name(quoted[1] or quoted[2] or "")), value)
    return file_name(value)


_MOST_KEYS, _LONGEST_VALUE, _LONGEST_HEAD, _LARGEST = 2_000, 6_000, 16 << 20, 512 << 20
"""Limits of what is read: the file of a configuration may be anybody's."""
_SAMPLES = b',\n  "samples": ['
"""What follows the configuration: line ends inside texts are escaped, so that nothing else stands so."""


def run_parameters(report: Report, configured: Mapping[str, str]) -> dict[str, str]:
    """A run's flattened configuration after what its report says: detected names come first."""
    run = report.run
    told = {name: getattr(run, name) for name in ("model", "kv_policy", "rope", "engine", "dataset")}
    told |= {"text": run.texts, "label": run.label, **parameters_of_findings(report)}
    named = {**told, "run": run.run_id, "created": run.created_at}
    others = {key: value for key, value in configured.items() if key not in named}
    if "model.name" in others:
        others["model.name"] = shown_model(others["model.name"], engine=run.engine)
    return named | others


def read_parameters(manifest: Path) -> Mapping[str, str]:
    """The flattened configuration that a run's manifest keeps; empty if there is none, with a warning if unreadable."""
    return _mapping(manifest, "configuration")


def read_provenance(manifest: Path) -> Mapping[str, str]:
    """By what a run was made, as its manifest keeps it; empty where it is not there."""
    return _mapping(manifest, "provenance")


def read_dataset(manifest: Path) -> Mapping[str, object]:
    """The identity of the dataset whose documents a run's manifest holds; empty where it is not there."""
    found: object = None
    with suppress(UnreadableFile):
        found = json_of(manifest, most=_LARGEST)
    for key in ("corpus", "dataset"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _mapping(manifest: Path, key: str) -> Mapping[str, str]:
    """A member of the manifest that stands before its samples, of which there may be many."""
    if not os.path.lexists(manifest):
        return {}
    try:
        with opened(manifest, most=MAX_BYTES) as stream:
            head, samples, _ = stream.read(_LONGEST_HEAD).partition(_SAMPLES)
            found = parsed(head + b"}" if samples else head).get(key, {}).items()
            return {str(key): str(value)[:_LONGEST_VALUE] for key, value in islice(found, _MOST_KEYS)}
    except UnreadableFile as error:
        if key == "configuration":
            tell(f"warning: {manifest} {error}; its run's configuration is not known")
        return {}
