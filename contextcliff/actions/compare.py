"""Action `compare`: several runs side by side, of ours and of other tools; calls no model and opens no store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.analyze import Analyze
from contextcliff.actions.compared_runs import (
    ChosenRuns,
    cap_rule,
    is_search,
    latest_runs,
    latest_sweep_runs,
    named_runs,
    refuse_mixed_rules,
    run_at,
    task_rules,
)
from contextcliff.actions.matched_samples import match, samples_of, why_no_pairs
from contextcliff.analysis.judged_by import differing, worded
from contextcliff.analysis.paired import decide
from contextcliff.errors import ConfigError, ExitCode, GateFailed, RunError, tell
from contextcliff.reporting.comparison.comparison import (
    ComparedRun,
    Comparison,
    DecidedRun,
    ReadingRequest,
    parts_with,
)
from contextcliff.reporting.comparison.verdicts import gate_line, matching_notes, method_notes
from contextcliff.reporting.published import published_curves
from contextcliff.reporting.run_names import unique_names, without_common_model
from contextcliff.seeding import digest_of
from contextcliff.settings import FOLDER_NAME, GivenPath, Name, settings
from contextcliff.tracking.tracker import TrackingError

_MOST_RUNS, _FEWEST = 12, 2
_BASELINE, _CANDIDATES = "action.baseline", "action.candidates"
_NO_PAIRS = "since runs of {tool} have no pairs with others: they are described, not decided"


@settings
class Compare:
    """Runs are named by run id of this experiment, run folder or `report.json`; results of Context-Tester by path."""

    baseline: GivenPath | None = None
    """None: the first job of the latest sweep, or without one the oldest of the latest runs of the task."""
    candidates: tuple[GivenPath, ...] = ()
    """None: the other jobs of that sweep, or the other runs of the task."""
    margin: float = 0.05
    """The fall in mean score, 0 to 1, that would not matter."""
    gate: bool = False
    """Whether a candidate that is worse ends the command with 3."""
    gate_on_unknown: bool = False
    """Whether one of which nothing can be told does so too."""
    name: str | None = None
    """Folder of the comparison, inside `comparisons` of the experiment, for these runs alone. None: `comparison`, and
    with a number where that holds one of other runs."""
    remeasure: bool = False
    """Whether texts that Context-Tester kept are measured by our rules, in the place of its own figures.

    Familiar words are those of the invocation's task, where it has a list."""
    published: tuple[Name, ...] = ()
    """Tables of published scores, which stand beside the runs and are never tested against; none: those of
    `reporting.published`."""

    def __post_init__(self) -> None:
        if self.name is not None and not FOLDER_NAME.fullmatch(self.name):
            raise ValueError(
                f"action.name={self.name}: names a folder; use up to 100 letters, digits, spaces, dots, hyphens and "
                "underscores"
            )
        if not 0.0 < self.margin < 1.0:
            raise ValueError(f"action.margin={self.margin}: is a fall of the mean score; give a number between 0 and 1")
        if self.gate_on_unknown and not self.gate:
            raise ValueError("action.gate_on_unknown=true: widens a gate that is off; add action.gate=true")

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Decide each candidate against the baseline, write and print the comparison.

        Raises `ConfigError` for fewer than two runs, for a baseline among its candidates, for runs that are judged by
        different rules, and for a name that is another comparison's. Raises `GateFailed` where the gate is closed.
        """
        from contextcliff.reporting.comparison.comparison_output import write_comparison

        published = published_curves(self.published, key="action.published") or invocation.published
        experiment = invocation.output_dir / invocation.tracking.experiment
        chosen = self._chosen(invocation, experiment)
        folder = self._folder(chosen.runs, comparisons=experiment / "comparisons")
        confidence = invocation.analysis.confidence
        comparison = _comparison(chosen, name=folder.name, confidence=confidence, margin=self.margin)
        comparison = replace(comparison, published=published)
        write_comparison(comparison, folder=folder, dpi=invocation.reporting.figure_dpi, html=invocation.reporting.html)
        place = _track(invocation, comparison, folder)
        if invocation.reporting.prints:
            from rich.console import Console

            from contextcliff.reporting.comparison.comparison_output import render_comparison

            render_comparison(comparison, console=Console(), folder=folder, place=place)
        self._pass_gate(comparison)
        return ExitCode.DONE

    def _chosen(self, invocation: Invocation, experiment: Path) -> ChosenRuns:
        """The baseline and then the candidates, by one rule."""
        request = self._request(invocation, experiment)
        if self.baseline is None and self.candidates:
            shown = ",".join(self.candidates)
            raise ConfigError(f"{_CANDIDATES}=[{shown}]: candidates of what? give {_BASELINE}=RUN too")
        if self.baseline is not None and self.candidates:
            base = self._named_baseline(self.baseline, experiment, request)
            others = named_runs(self.candidates, key=_CANDIDATES, experiment=experiment, request=request)
            if any(map(is_search, self.candidates)):  # which finds the baseline too
                others = tuple(run for run in others if run.source != base.source)
            chosen = ChosenRuns(runs=(base, *others), left_out=())
        else:
            chosen = self._latest(invocation, experiment, request)
        if len(chosen.runs) < _FEWEST:
            raise ConfigError(f"{_CANDIDATES}=[{','.join(self.candidates)}]: finds the baseline alone; name other runs")
        _refuse_itself(chosen.runs)
        runs, again = _judged_alike(chosen.runs, invocation)
        refuse_mixed_rules(runs)
        return ChosenRuns(runs=runs, left_out=(*chosen.left_out, *again))

    def _latest(self, invocation: Invocation, experiment: Path, request: ReadingRequest) -> ChosenRuns:
        """The jobs of the latest sweep, or the latest runs of the task; the baseline first where one is named."""
        task = invocation.task_name
        latest = latest_sweep_runs(experiment, task=task) if self.baseline is None else None
        if latest is None or len(latest.runs) < _FEWEST:
            latest = latest_runs(experiment, task=task, most=_MOST_RUNS)
        runs = latest.runs
        if self.baseline is not None:
            base = self._named_baseline(self.baseline, experiment, request)
            runs = (base, *(run for run in runs if run.run_id != base.run_id))
        if len(runs) < _FEWEST:
            asked = "; ".join((f"{_CANDIDATES}: {experiment} holds {_count(runs)} of task={task}", *latest.left_out))
            raise ConfigError(
                f"{asked}; a comparison takes two, give {_BASELINE}=RUN and {_CANDIDATES}=[RUN_ID,FOLDER,FILE]"
            )
        return ChosenRuns(runs=runs, left_out=latest.left_out)

    def _named_baseline(self, name: str, experiment: Path, request: ReadingRequest) -> ComparedRun:
        (base,) = named_runs((name,), key=_BASELINE, experiment=experiment, request=request, latest=True)
        return base

    def _pass_gate(self, comparison: Comparison) -> None:
        """Raise `GateFailed` where a candidate closes the gate."""
        if not self.gate:
            return
        line = gate_line(comparison.decided, baseline=comparison.baseline.name, on_unknown=self.gate_on_unknown)
        if line is not None:
            raise GateFailed(line)

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

    def _request(self, invocation: Invocation, experiment: Path) -> ReadingRequest:
        return ReadingRequest(
            key=_CANDIDATES,
            task=invocation.task,
            parameters=invocation.parameters,
            remeasure=self.remeasure,
            confidence=invocation.analysis.confidence,
            fetch=partial(invocation.tracking.fetch, experiment=experiment),
        )


def _comparison(chosen: ChosenRuns, *, name: str, confidence: float, margin: float) -> Comparison:
    """The runs under names that tell them apart, what is decided of them, and what every part makes of them."""
    runs = chosen.runs
    names = unique_names([run.facts for run in runs])
    names = without_common_model(names, model=runs[0].facts.model)
    named = tuple(replace(run, name=name) for run, name in zip(runs, names, strict=True))
    decided = _decided(named, confidence=confidence, margin=margin)
    parts = parts_with(key for run in named for key in run.findings)
    results = tuple(part.compare(named, decided=decided, confidence=confidence) for part in parts)
    notes = (
        *chosen.left_out,
        *_notes(named),
        *method_notes(decided),
        *(note for each in decided for note in matching_notes(each)),
        *(note for result in results for note in result.notes),
    )
    return Comparison(name=name, runs=named, parts=results, notes=notes, decided=decided)


def _track(invocation: Invocation, comparison: Comparison, folder: Path) -> str | None:
    """Keep the comparison where runs are kept, and say where; a failure is a warning, and the files are complete.

    A candidate goes by its place, from 1: names can be alike.
    """
    if (tracker := invocation.tracking.mlflow) is None:
        return None
    tags = {"baseline.name": comparison.baseline.name}
    metrics: dict[str, float] = {}
    for place, each in enumerate(comparison.decided, 1):
        prefix, decision = f"candidate_{place}", each.decision
        tags |= {f"{prefix}.name": each.run.name, f"{prefix}.verdict": decision.verdict if decision else "none"}
        if decision is not None:
            overall = decision.overall
            metrics |= {
                f"{prefix}/difference": overall.mean,
                f"{prefix}/difference_low": overall.low,
                f"{prefix}/difference_high": overall.high,
                f"{prefix}/p_worse": decision.worse.p_of_all,
                f"{prefix}/p_better": decision.better.p_of_all,
                f"{prefix}/pairs": float(overall.n_pairs),
            }
    run_ids = tuple(run.run_id for run in comparison.runs)
    verdicts = sorted((name, tag) for name, tag in tags.items() if name.endswith(".verdict"))
    digest = digest_of(repr((run_ids, sorted(metrics.items()), verdicts)))
    try:
        return tracker.log_comparison(
            comparison.name, folder=folder, digest=digest, run_ids=run_ids, tags=tags, metrics=metrics
        )
    except TrackingError as error:
        tell(f"warning: {error}; the comparison in {folder} is complete; the same command uploads it")
        return None


def _decided(runs: Sequence[ComparedRun], *, confidence: float, margin: float) -> tuple[DecidedRun, ...]:
    """Each candidate behind the baseline, with what is decided of it."""
    base, *candidates = runs
    if base.report is None:
        why = _NO_PAIRS.format(tool=base.tool)
        return tuple(DecidedRun(run=run, decision=None, why_none=why) for run in candidates)
    there = samples_of(base, asked=_BASELINE)
    ours = [(run, run.report) for run in candidates if run.report is not None]
    matchings = {
        run.name: match(base.report, report, there=there, here=samples_of(run, asked=_CANDIDATES))
        for run, report in ours
    }
    decisions = dict(
        zip(matchings, decide(list(matchings.values()), confidence=confidence, margin=margin), strict=True)
    )
    return tuple(
        DecidedRun(
            run=run,
            decision=decisions.get(run.name),
            why_none=_NO_PAIRS.format(tool=run.tool)
            if run.report is None
            else why_no_pairs(base.report, run.report, matchings[run.name]),
            pairs=matchings[run.name].pairs if run.name in matchings else (),
        )
        for run in candidates
    )


def _refuse_itself(runs: Sequence[ComparedRun]) -> None:
    """Raise `ConfigError` for a baseline that is its own candidate."""
    base = runs[0]
    if any(run.source == base.source for run in runs[1:]):
        raise ConfigError(f"{_CANDIDATES}: {base.folder} is the baseline itself; name other runs")


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


def _judged_alike(
    runs: Sequence[ComparedRun], invocation: Invocation
) -> tuple[tuple[ComparedRun, ...], tuple[str, ...]]:
    """The runs, each by the rule of the first where they are of its kind of task, and a sentence for each judged again.

    A run whose answers are not in the store of `invocation` stays as it is.
    """
    base = runs[0].report
    if base is None or invocation.analysis_of is None:
        return tuple(runs), ()
    rule = cap_rule(base)
    judged, notes = [runs[0]], []
    for run in runs[1:]:
        keys = () if run.report is None or _kind(run) != _kind(runs[0]) else differing(rule, cap_rule(run.report))
        again = _again(run, {key: rule[key] for key in keys}, invocation) if keys else None
        judged.append(again or run)
        if again is not None:
            notes.append(f"{run.folder} was judged again by {worded(rule, keys)}, as {again.folder}: one rule for all")
    return tuple(judged), tuple(notes)


def _kind(run: ComparedRun) -> str:
    return "" if run.report is None else run.report.run.task_kind or run.report.run.task


def _again(run: ComparedRun, rule: dict[str, str], invocation: Invocation) -> ComparedRun | None:
    """The run by another rule, under a folder name of its own; None where its answers are not at hand."""
    assert invocation.analysis_of is not None
    reported: list[Path] = []
    try:
        again = invocation.analysis_of(Path(run.source), {**rule, "analysis.require_cap": "None"})
        quiet = replace(again.reporting, console="none", progress=False, figures=invocation.reporting.figures)
        Analyze()(
            replace(
                again,
                output_dir=invocation.output_dir,
                tracking=invocation.tracking,
                reporting=quiet,
                on_reported=reported.append,
            )
        )
    except (ConfigError, RunError):
        return None
    return run_at(reported[-1], key="action.candidates") if reported else None
