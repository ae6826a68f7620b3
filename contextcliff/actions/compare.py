"""Action `compare`: several runs side by side, of ours and of Context-Tester; calls no model and opens no store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.compared_rules import LEAST_LENGTH, WORD_LIST, refuse_mixed_rules, task_rules
from contextcliff.actions.compared_runs import FoundRun, Remeasuring, find_runs, latest_runs
from contextcliff.errors import ConfigError, ExitCode
from contextcliff.reporting.comparison.comparison import ComparedRun, Comparison
from contextcliff.reporting.file_names import file_name
from contextcliff.settings import FOLDER_NAME, GivenPath, settings
from contextcliff.tasks.task import ProseTask

_MOST_RUNS = 12
_FEWEST = 2
_OURS = "ContextCliff's rules"
_UNSET = "None"
"""What is null in a configuration."""
_SHARED = {
    WORD_LIST: f"familiar words come from different lists ({WORD_LIST}): nobody wins in cloze scores, unfamiliar words "
    "and composites",
    LEAST_LENGTH: f"text counts as missing from different lengths on ({LEAST_LENGTH}): nobody wins in missing text "
    "and the composite",
    "task.max_tokens": "answers have different lengths (task.max_tokens), on which raw figures of diversity, "
    "repetition and copying depend; z-scores are taken at equal length",
}
"""Settings that make a measure another one, where runs differ in them."""


@settings
class Compare:
    """`runs` are run ids of this experiment, run folders, `report.json` files, and results of Context-Tester."""

    runs: tuple[GivenPath, ...] = ()
    """None: the latest twelve of the invocation's task in `output_dir`/`tracking.experiment`."""
    name: str | None = None
    """Folder of the comparison, inside `comparisons` of the experiment, for these runs alone. None: `comparison`, and
    with a number where that holds one of other runs."""
    remeasure: bool = False
    """Whether texts that Context-Tester kept are measured by our rules, in the place of its own figures.

    Familiar words are those of the invocation's task, where it has a list."""

    def __post_init__(self) -> None:
        if self.name is not None and not FOLDER_NAME.fullmatch(self.name):
            raise ValueError(
                f"action.name={self.name}: names a folder; use up to 100 letters, digits, spaces, dots, hyphens and "
                "underscores"
            )

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Write and print the comparison.

        Raises `ConfigError` for fewer than two runs, for runs that are judged by different rules, and for a name that
        is another comparison's.
        """
        from contextcliff.reporting.comparison.comparison_files import write_comparison

        experiment = invocation.output_dir / invocation.tracking.experiment
        left_out: tuple[str, ...] = ()
        if self.runs:
            found = find_runs(
                self.runs,
                experiment=experiment,
                remeasuring=_remeasuring(invocation) if self.remeasure else None,
                confidence=invocation.analysis.confidence,
            )
            asked = f"action.runs=[{','.join(self.runs)}]: names {_runs(len(found))}"
            refuse_mixed_rules([one.run for one in found])
        else:
            latest = latest_runs(experiment, task=invocation.task_name, most=_MOST_RUNS)
            found, left_out = latest.runs, latest.left_out
            asked = "; ".join(
                (f"action.runs: {experiment} holds {_runs(len(found))} of task={invocation.task_name}", *left_out)
            )
        if len(found) < _FEWEST:
            raise ConfigError(f"{asked}; a comparison takes two, give action.runs=[RUN_ID,FOLDER,FILE]")
        folder = self._folder([one.run for one in found], comparisons=experiment / "comparisons")
        comparison = self._comparison(found, invocation, name=folder.name, left_out=left_out)
        write_comparison(comparison, folder=folder, dpi=invocation.reporting.figure_dpi)
        if invocation.reporting.console:
            from rich.console import Console

            from contextcliff.reporting.comparison.comparison_console import render_comparison

            render_comparison(comparison, console=Console(), folder=folder)
        return ExitCode.DONE

    def _folder(self, runs: Sequence[ComparedRun], *, comparisons: Path) -> Path:
        from contextcliff.reporting.comparison.comparison_files import place_of, runs_of

        if self.name is None:
            return place_of(runs, comparisons=comparisons)
        folder = comparisons / self.name
        held = runs_of(folder)
        if held is not None and held != runs_of(runs):
            raise ConfigError(
                f"action.name={self.name}: {folder} holds a comparison of other runs; choose another name, or remove "
                "that folder"
            )
        return folder

    def _comparison(
        self, found: Sequence[FoundRun], invocation: Invocation, *, name: str, left_out: Sequence[str]
    ) -> Comparison:
        from contextcliff.reporting.run_names import unique_names, without_common_model
        from contextcliff.writing.analysis.contest import compare_writing
        from contextcliff.writing.analysis.measuring_rules import WritingSide

        names = without_common_model(unique_names([run.facts for run in found]), model=found[0].facts.model)
        runs = tuple(replace(one.run, name=name) for one, name in zip(found, names, strict=True))
        comparison = Comparison(name=name, runs=runs, contests=(), notes=())
        word_lists = _word_lists(comparison.writing_runs)
        sides = [
            WritingSide(
                name=run.name,
                writing=run.writing,
                rules=run.rules or _OURS,
                word_list=word_lists.get(run.parameters.get(WORD_LIST, ""), ""),
                least_length=run.parameters.get(LEAST_LENGTH, ""),
            )
            for run in comparison.writing_runs
            if run.writing is not None
        ]
        contests = compare_writing(sides, confidence=invocation.analysis.confidence) if sides else ()
        comparison = replace(comparison, contests=contests)
        return replace(comparison, notes=(*left_out, *_notes(comparison)))


def _remeasuring(invocation: Invocation) -> Remeasuring:
    if isinstance(invocation.task, ProseTask):
        return Remeasuring(word_list=invocation.task.familiar(), setting=invocation.parameters.get(WORD_LIST, _UNSET))
    from contextcliff.writing.measures.familiar import dale_chall

    return Remeasuring(word_list=dale_chall(), setting=_UNSET)


def _word_lists(runs: Sequence[ComparedRun]) -> Mapping[str, str]:
    """What each configured list is called: by its file's name, and equal names of different files by a number too."""
    called: dict[str, str] = {}
    for setting in dict.fromkeys(run.parameters[WORD_LIST] for run in runs if WORD_LIST in run.parameters):
        name, number = _word_list(setting), 1
        while (unique := name if number == 1 else f"{name} ({number})") in called.values():
            number += 1
        called[setting] = unique
    return called


def _word_list(setting: str) -> str:
    return "the Dale-Chall list" if setting == _UNSET else file_name(setting)


def _notes(comparison: Comparison) -> Iterator[str]:
    """What a reader has to know before the figures."""
    runs, writing = comparison.runs, comparison.writing_runs
    models = {run.report.model for run in runs if run.report is not None}
    if len(models) == 1 and all(run.report is not None for run in runs):
        yield f"all runs are of {models.pop()}"
    for run in runs:
        if run.report is not None and run.report.partial:
            yield f"{run.name} stopped before its end: lengths may be missing"
    tasks = list(dict.fromkeys(run.report.task for run in runs if run.report is not None))
    if len(tasks) > 1:
        yield f"the runs are of different tasks ({', '.join(tasks)}): their scores are not the same thing"
    yield from task_rules(runs)
    silent = [run.name for run in runs if run not in writing]
    if writing and silent:
        yield f"left out of the writing part, since nothing of theirs was written: {', '.join(silent)}"
    yield from _texts(writing)
    yield from _lengths(runs)
    for key, words in _SHARED.items():
        if len({run.parameters[key] for run in writing if key in run.parameters}) > 1:
            yield words
    yield from _imported(runs)
    told = sum(contest.ci_low is not None for contest in comparison.contests)
    if told:
        yield (
            f"an interval covers one difference between two runs; it does not cover the choice among {told} "
            f"measures and {len(writing)} runs: among so many some differ by chance"
        )


def _texts(writing: Sequence[ComparedRun]) -> Iterator[str]:
    ours = [run.writing for run in writing if run.writing is not None and not run.tool]
    texts = list(dict.fromkeys(run.writing.document_id for run in writing if run.writing is not None))
    if len(texts) > 1:
        yield f"the runs go on with different texts ({', '.join(texts)}): a difference may be the texts'"
    elif len({one.continuation_point for one in ours}) > 1:
        yield (
            "the runs go on from different points of the text: a difference may be the place's; runs with the same "
            "text, tokenizer, longest context and task.max_tokens share theirs"
        )


def _lengths(runs: Sequence[ComparedRun]) -> Iterator[str]:
    tested = {run.lengths for run in runs}
    if len(tested) > 1:
        common = sorted(set.intersection(*map(set, tested)))
        told = ", ".join(f"{tokens:,}" for tokens in common) or "none"
        yield f"the runs have different lengths; in common: {told}"


def _imported(runs: Sequence[ComparedRun]) -> Iterator[str]:
    mixed = len({run.rules for run in runs if run.writing is not None}) > 1
    for run in runs:
        if not run.tool or run.writing is None:
            continue
        yield from (f"{run.name}: {warning}" for warning in run.writing.warnings)
        if run.rules and mixed:
            kept = "action.remeasure=true measures its texts by ours" if run.keeps_texts else "its texts were not kept"
            yield (
                f"{run.name} was measured by {run.tool}, whose words, sentences and familiar words are other than ours "
                f"({kept}): its figures are drawn, and nobody wins between them and ours"
            )
        elif run.remeasured:
            words = _word_list(run.parameters.get(WORD_LIST, _UNSET))
            yield (
                f"{run.name}: its texts were measured by our rules, familiar words by {words}; coherence is as "
                f"{run.tool} stored it"
            )


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"
