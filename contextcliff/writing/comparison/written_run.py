"""A compared run with its prose, and by whose rules that was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contextcliff.reporting.comparison.comparison import ComparedRun, ReadingRequest
from contextcliff.reporting.run_names import RunFacts, file_name
from contextcliff.writing.analysis.measuring_rules import WritingSide
from contextcliff.writing.context_tester.imported_writing import ImportedRun, imported_writing, remeasured
from contextcliff.writing.context_tester.results import kept_texts, read_context_tester
from contextcliff.writing.measures.readability import WordList, dale_chall
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.task.continuation import Continuation

WORD_LIST, LEAST_LENGTH = "task.word_list", "task.min_tokens_fraction"
"""Keys of the configuration by which measures differ."""
UNSET = "None"
"""What is null in a configuration."""
_OURS = "ContextCliff's rules"


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenRun:
    """A run of a comparison that has prose."""

    run: ComparedRun
    writing: Writing

    @property
    def name(self) -> str:
        """What the run is called in the comparison."""
        return self.run.name

    @property
    def parameters(self) -> Mapping[str, str]:
        """Its configuration, flattened."""
        return self.run.parameters

    @property
    def by_other_rules(self) -> bool:
        """Whether another tool measured it."""
        return bool(self.run.tool) and not self.run.remeasured


def written_runs(runs: Sequence[ComparedRun], *, key: str) -> tuple[WrittenRun, ...]:
    """Those of the runs that have prose at some length, in their order."""
    writings = ((run, run.findings.get(key)) for run in runs)
    return tuple(
        WrittenRun(run=run, writing=writing)
        for run, writing in writings
        if isinstance(writing, Writing) and writing.tiers
    )


def sides(runs: Sequence[WrittenRun]) -> tuple[WritingSide, ...]:
    """The runs as a contest takes them: each with the rules that its measures depend on."""
    word_lists = _word_lists(runs)
    return tuple(
        WritingSide(
            name=run.name,
            writing=run.writing,
            rules=f"{run.run.tool}'s rules" if run.by_other_rules else _OURS,
            word_list=word_lists.get(run.parameters.get(WORD_LIST, ""), ""),
            least_length=run.parameters.get(LEAST_LENGTH, ""),
        )
        for run in runs
    )


def word_list_name(setting: str) -> str:
    """What a configured word list is called: by its file's name."""
    return "the Dale-Chall list" if setting == UNSET else file_name(setting)


def _word_lists(runs: Sequence[WrittenRun]) -> Mapping[str, str]:
    """What each configured list is called; different files of one name have a number too."""
    names: dict[str, str] = {}
    for setting in dict.fromkeys(run.parameters[WORD_LIST] for run in runs if WORD_LIST in run.parameters):
        name, number = word_list_name(setting), 1
        while (unique := name if number == 1 else f"{name} ({number})") in names.values():
            number += 1
        names[setting] = unique
    return names


@dataclass(frozen=True, kw_only=True, slots=True)
class _FamiliarWords:
    """By which words texts are measured anew."""

    words: WordList
    setting: str
    """The list as it was configured (`task.word_list`)."""


def imported_run(path: Path, request: ReadingRequest, *, key: str) -> ComparedRun:
    """The run that a file or folder holds, its prose under `key`.

    Where the request says so and every text was kept, the texts are measured by our rules, with the familiar words of
    the request's task where that has a list. Raises `ConfigError` for what can't be read.
    """
    stored = read_context_tester(path, key=request.key)
    kept = kept_texts(stored)
    again = _familiar_words(request) if kept and request.remeasure else None
    parameters = _parameters(stored)
    if again is not None:
        stored = remeasured(stored, word_list=again.words)
        parameters[WORD_LIST] = again.setting
    writing = imported_writing(stored, confidence=request.confidence)
    return ComparedRun(
        name=stored.run_id,
        facts=RunFacts(
            run_id=stored.run_id, model=stored.model, dataset=stored.text or None, label=stored.label or None
        ),
        source=str(path),
        parameters=parameters,
        lengths=tuple(tier.context_tokens for tier in writing.tiers),
        report=None,
        findings={key: writing},
        tool=stored.tool,
        keeps_texts=kept,
        remeasured=again is not None,
    )


def _familiar_words(request: ReadingRequest) -> _FamiliarWords:
    if isinstance(request.task, Continuation):
        return _FamiliarWords(words=request.task.familiar(), setting=request.parameters.get(WORD_LIST, UNSET))
    return _FamiliarWords(words=dale_chall(), setting=UNSET)


def _parameters(stored: ImportedRun) -> dict[str, str]:
    rounds = [len(tier.rounds) for tier in stored.tiers]
    named: Mapping[str, str] = {
        "model": stored.model,
        "engine": stored.tool,
        "text": stored.text,
        "label": stored.label,
        "rounds": " to ".join(dict.fromkeys((str(min(rounds)), str(max(rounds))))),
        "run": stored.run_id,
    }
    return {**{key: value for key, value in named.items() if value}, **stored.parameters}
