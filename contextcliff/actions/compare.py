"""Action `compare`: several runs side by side, of ours and of other tools; calls no model and opens no store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.compared_runs import latest_runs, named_runs, refuse_mixed_rules, task_rules
from contextcliff.errors import ConfigError, ExitCode
from contextcliff.reporting.comparison.comparison import ComparedRun, Comparison, ReadingRequest
from contextcliff.reporting.comparison.part_list import parts_with
from contextcliff.reporting.run_names import unique_names, without_common_model
from contextcliff.settings import FOLDER_NAME, GivenPath, settings

_MOST_RUNS = 12
_FEWEST = 2
_KEY = "action.runs"


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
        from contextcliff.reporting.comparison.comparison_output import write_comparison

        experiment = invocation.output_dir / invocation.tracking.experiment
        left_out: tuple[str, ...] = ()
        if self.runs:
            runs = named_runs(self.runs, experiment=experiment, request=self._request(invocation))
            asked = f"{_KEY}=[{','.join(self.runs)}]: names {_count(runs)}"
            refuse_mixed_rules(runs)
        else:
            latest = latest_runs(experiment, task=invocation.task_name, most=_MOST_RUNS)
            runs, left_out = latest.runs, latest.left_out
            asked = "; ".join((f"{_KEY}: {experiment} holds {_count(runs)} of task={invocation.task_name}", *left_out))
        if len(runs) < _FEWEST:
            raise ConfigError(f"{asked}; a comparison takes two, give {_KEY}=[RUN_ID,FOLDER,FILE]")
        folder = self._folder(runs, comparisons=experiment / "comparisons")
        comparison = _comparison(runs, name=folder.name, left_out=left_out, confidence=invocation.analysis.confidence)
        write_comparison(comparison, folder=folder, dpi=invocation.reporting.figure_dpi)
        if invocation.reporting.console:
            from rich.console import Console

            from contextcliff.reporting.comparison.comparison_output import render_comparison

            render_comparison(comparison, console=Console(), folder=folder)
        return ExitCode.DONE

    def _folder(self, runs: Sequence[ComparedRun], *, comparisons: Path) -> Path:
        from contextcliff.reporting.comparison.comparison_output import place_of, runs_of

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

    def _request(self, invocation: Invocation) -> ReadingRequest:
        return ReadingRequest(
            key=_KEY,
            task=invocation.task,
            parameters=invocation.parameters,
            remeasure=self.remeasure,
            confidence=invocation.analysis.confidence,
        )


def _comparison(runs: Sequence[ComparedRun], *, name: str, left_out: Sequence[str], confidence: float) -> Comparison:
    """The runs under names that tell them apart, and what every part makes of them."""
    names = unique_names([run.facts for run in runs])
    names = without_common_model(names, model=runs[0].facts.model)
    named = tuple(replace(run, name=name) for run, name in zip(runs, names, strict=True))
    parts = parts_with(key for run in named for key in run.findings)
    results = tuple(part.compare(named, confidence=confidence) for part in parts)
    notes = (*left_out, *_notes(named), *(note for result in results for note in result.notes))
    return Comparison(name=name, runs=named, parts=results, notes=notes)


def _notes(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """What a reader has to know before the figures, of whatever kind the runs are."""
    models = {run.report.run.model for run in runs if run.report is not None}
    if len(models) == 1 and all(run.report is not None for run in runs):
        yield f"all runs are of {models.pop()}"
    for run in runs:
        if run.report is not None and run.report.run.partial:
            yield f"{run.name} stopped before its end: lengths may be missing"
    tasks = list(dict.fromkeys(run.report.run.task for run in runs if run.report is not None))
    if len(tasks) > 1:
        yield f"the runs are of different tasks ({', '.join(tasks)}): their scores are not the same thing"
    yield from task_rules(runs)
    yield from _lengths(runs)


def _lengths(runs: Sequence[ComparedRun]) -> Iterator[str]:
    tested = {run.lengths for run in runs}
    if len(tested) > 1:
        common = sorted(set.intersection(*map(set, tested)))
        shared = ", ".join(f"{tokens:,}" for tokens in common) or "none"
        yield f"the runs have different lengths; in common: {shared}"


def _count(runs: Sequence[ComparedRun]) -> str:
    return f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
