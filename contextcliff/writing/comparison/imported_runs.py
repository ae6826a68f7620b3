"""Runs of Context-Tester as runs of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from contextcliff.reporting.comparison.comparison import ComparedRun, ReadingRequest
from contextcliff.reporting.run_names import RunFacts
from contextcliff.writing.comparison.written_run import UNSET, WORD_LIST
from contextcliff.writing.context_tester.imported_run import ImportedRun
from contextcliff.writing.context_tester.imported_writing import imported_writing, remeasured
from contextcliff.writing.context_tester.results import kept_texts, read_context_tester
from contextcliff.writing.measures.familiar import WordList, dale_chall
from contextcliff.writing.task.continuation import Continuation


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
    rounds = [tier.means.n if tier.means is not None else len(tier.rounds) for tier in stored.tiers]
    named: Mapping[str, str] = {
        "model": stored.model,
        "engine": stored.tool,
        "text": stored.text,
        "label": stored.label,
        "rounds": " to ".join(dict.fromkeys((str(min(rounds)), str(max(rounds))))),
        "run": stored.run_id,
    }
    return {**{key: value for key, value in named.items() if value}, **stored.parameters}
