"""Action `compare`: several runs side by side, of ours and of other tools; calls no model and opens no store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from contextcliff.actions.action import Invocation
from contextcliff.actions.compared_runs import FEWEST, KEY, Chosen, is_search, judged_alike, latest_runs, named_runs
from contextcliff.actions.like import length_of_pairs
from contextcliff.actions.track import track_result
from contextcliff.analysis.paired import MARGIN, decide
from contextcliff.analysis.walk import LOW_BASELINE
from contextcliff.errors import ConfigError, ExitCode, GateFailed
from contextcliff.findings.kv_cache import KVCache
from contextcliff.records.amounts import Quantity
from contextcliff.records.comparison import Matching, ScoredPair
from contextcliff.records.generation import NOT_SENT, OVERFLOW
from contextcliff.records.report import Report
from contextcliff.records.search_record import Search
from contextcliff.reporting.comparison.comparison import (
    ComparedRun,
    Comparison,
    DecidedRun,
    ReadingRequest,
    parts_with,
)
from contextcliff.reporting.comparison.verdicts import gate_line, matching_notes, method_notes
from contextcliff.reporting.data_files import AGAIN, SAMPLES_NAME, StoredSample, stored_samples
from contextcliff.reporting.published import published_curves
from contextcliff.reporting.run_names import unique_names, without_common_model
from contextcliff.settings import Float, FolderName, GivenPath, Name, settings

_BASELINE = "action.baseline"
_NO_PAIRS = "since runs of {tool} have no pairs with others: they are described, not decided"
Samples = Mapping[str, StoredSample]


@settings
class Compare:
    """Runs are named by run id of this experiment, run folder or `report.json`; results of Context-Tester by path."""

    baseline: GivenPath | None = None
    candidates: tuple[GivenPath, ...] = ()
    margin: Annotated[Float, Field(gt=0.0, lt=1.0)] = MARGIN
    gate: bool = False
    gate_on_unknown: bool = False
    name: FolderName | None = None
    """Folder inside `comparisons` of the experiment, in the place of one there. None: `comparison`, and with a number
    where that holds one of other runs."""
    remeasure: bool = False
    published: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        if self.gate_on_unknown and not self.gate:
            raise ValueError("action.gate_on_unknown=true: widens a gate that is off; add action.gate=true")

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Decide each candidate against the baseline, write and print it. Raises `GateFailed` after all is written."""
        from contextcliff.reporting.comparison.comparison_output import place_of, render_comparison, write_comparison

        published = published_curves(self.published, key="action.published") or invocation.published
        runs, left_out = self._chosen(invocation)
        comparisons = invocation.experiment / "comparisons"
        folder = comparisons / self.name if self.name else place_of(runs, comparisons=comparisons)
        confidence = invocation.analysis.confidence
        names = unique_names([run.facts for run in runs], [run.parameters for run in runs])
        names = without_common_model(names, model=runs[0].facts.model)
        runs = tuple(replace(run, name=name) for run, name in zip(runs, names, strict=True))
        decided = _decided(runs, confidence=confidence, margin=self.margin)
        parts = parts_with(key for run in runs for key in run.findings)
        results = tuple(part.compare(runs, decided=decided, confidence=confidence) for part in parts)
        notes = (
            *left_out,
            *_notes(runs),
            *method_notes(decided),
            *(note for each in decided for note in matching_notes(each)),
            *(note for result in results for note in result.notes),
        )
        comparison = Comparison(
            name=folder.name, runs=runs, parts=results, notes=notes, decided=decided, published=published
        )
        write_comparison(comparison, folder=folder, dpi=invocation.reporting.figure_dpi, html=invocation.reporting.html)
        place = _track(invocation, comparison, folder)
        if invocation.reporting.prints:
            from rich.console import Console

            render_comparison(comparison, console=Console(), folder=folder, place=place)
        baseline = comparison.baseline.name
        line = gate_line(comparison.decided, baseline=baseline, on_unknown=self.gate_on_unknown) if self.gate else None
        if line is not None:
            raise GateFailed(line)
        return ExitCode.DONE

    def _chosen(self, invocation: Invocation) -> Chosen:
        shown = ",".join(self.candidates)
        if self.baseline is None and self.candidates:
            raise ConfigError(f"{KEY}=[{shown}]: candidates of what? give {_BASELINE}=RUN too")
        request = ReadingRequest(
            key=KEY,
            task=invocation.task,
            parameters=invocation.parameters,
            remeasure=self.remeasure,
            confidence=invocation.analysis.confidence,
        )
        base: tuple[ComparedRun, ...] = ()
        if self.baseline is not None:
            base = named_runs([self.baseline], key=_BASELINE, invocation=invocation, request=request, latest=True)
        left_out: tuple[str, ...] = ()
        if base and self.candidates:
            others = named_runs(self.candidates, key=KEY, invocation=invocation, request=request)
            if any(map(is_search, self.candidates)):  # which finds the baseline too
                others = tuple(run for run in others if run.source != base[0].source)
            runs = (*base, *others)
            if len(runs) < FEWEST:
                raise ConfigError(f"{KEY}=[{shown}]: finds the baseline alone; name other runs")
        else:  # without a baseline the jobs of the latest sweep, else the latest runs of the task
            experiment, task = invocation.experiment, invocation.task_name
            runs, left_out = latest_runs(experiment, task=task, of_sweep=not base)
            runs = (*base, *(run for run in runs if run.run_id not in {each.run_id for each in base}))
            if len(runs) < FEWEST:
                held = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
                asked = "; ".join((f"{KEY}: {experiment} holds {held} of task={task}", *left_out))
                raise ConfigError(
                    f"{asked}; a comparison takes two, give {_BASELINE}=RUN and {KEY}=[RUN_ID,FOLDER,FILE]"
                )
        if any(run.source == runs[0].source for run in runs[1:]):
            raise ConfigError(f"{KEY}: {runs[0].folder} is the baseline itself; name other runs")
        runs, again = judged_alike(runs, invocation)
        return runs, (*left_out, *again)


def _track(invocation: Invocation, comparison: Comparison, folder: Path) -> str | None:
    """Keep the comparison where runs are kept, and say where. Candidates go by place: names can be alike."""
    tags = {"baseline.name": comparison.baseline.name}
    numbers: dict[str, object] = {}
    for place, each in enumerate(comparison.decided, 1):
        prefix, decision = f"candidate_{place}", each.decision
        tags |= {f"{prefix}.name": each.run.name, f"{prefix}.verdict": decision.verdict if decision else "none"}
        if decision is not None:
            judged = decision.judged
            numbers[prefix] = {
                "difference": judged.mean,
                "difference_low": judged.low,
                "difference_high": judged.high,
                "p_worse": decision.worse.p_of_all,
                "p_better": decision.better.p_of_all,
                "pairs": judged.n_pairs,
                "lengths": [asdict(length) for length in decision.lengths],
            }
    tasks = dict.fromkeys(run.report.run.task for run in comparison.runs if run.report is not None)
    title = " · ".join((comparison.name, *tasks, ", ".join(run.name for run in comparison.runs)))
    run_ids = [run.run_id for run in comparison.runs]
    return track_result(
        invocation, "comparison", comparison.name, folder=folder, title=title, numbers=numbers, tags=tags,
        run_ids=run_ids,
    )  # fmt: skip


def _decided(runs: Sequence[ComparedRun], *, confidence: float, margin: float) -> tuple[DecidedRun, ...]:
    base, *candidates = runs
    if base.report is None:
        why = _NO_PAIRS.format(tool=base.tool)
        return tuple(DecidedRun(run=run, decision=None, why_none=why) for run in candidates)
    there = samples_of(base, asked=_BASELINE)
    matchings = {
        run.name: match(base.report, run.report, there=there, here=samples_of(run, asked=KEY))
        for run in candidates
        if run.report is not None
    }
    found = decide(list(matchings.values()), confidence=confidence, margin=margin)
    decisions = dict(zip(matchings, found, strict=True))
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


def samples_of(run: ComparedRun, *, asked: str) -> Samples:
    """The samples of a run of ours, with those that were asked to stay paired. `asked` names the run in errors."""
    folder = Path(run.source)
    samples = {each.sample_id: each for each in stored_samples(folder, asked=asked)}
    quantity: Quantity = "score" if run.report is None else run.report.analysis.safe_cap.quantity
    for each in samples.values():  # a file of an earlier version may lack it
        if quantity != "score" and each.score is not None and quantity not in each.figures:
            raise ConfigError(
                f"{asked}: {folder / SAMPLES_NAME} doesn't say whether {each.sample_id} is {quantity}; {AGAIN}"
            )
    return samples


def match(baseline: Report, candidate: Report, *, there: Samples, here: Samples) -> Matching:
    """The pairs of two runs, by id and prompt, and how many samples are none."""
    common = [(each, here[each.sample_id]) for each in there.values() if each.sample_id in here]
    of_one_prompt = [(base, own) for base, own in common if base.prompt_sha256 == own.prompt_sha256]
    sent = [pair for pair in of_one_prompt if all(each.failure != NOT_SENT for each in pair)]
    same = [pair for pair in sent if not all(each.failure == OVERFLOW for each in pair)]
    quantity, other = (report.analysis.safe_cap.quantity for report in (baseline, candidate))
    search = baseline.analysis.finding(Search) or candidate.analysis.finding(Search)

    def outcome(sample: StoredSample) -> float | None:
        return sample.score if quantity == "score" or sample.score is None else sample.figures[quantity]

    pairs = tuple(
        ScoredPair(
            sample_id=base.sample_id,
            context_tokens=base.context_tokens,
            baseline=outcome(base),
            candidate=outcome(own),
            cluster=base.cluster,
            item=base.item or own.item,  # rounds that are one draw in either run are no independent pairs
            step=base.step,
            baseline_figures=base.figures,
            candidate_figures=own.figures,
        )
        for base, own in same
        if quantity == other
    )
    # What a run asked only to stay paired is no sample of its own report.
    alone_there, alone_here = (
        sum(not each.replayed and name not in others for name, each in samples.items())
        for samples, others in ((there, here), (here, there))
    )
    lengths: tuple[int, ...] = ()
    if search is not None:  # those of the walk, refined ones in the order of testing, and the other run's alone
        others = sorted(pair.context_tokens for pair in pairs)
        lengths = (*search.plan.lengths, *(each.context_tokens for each in search.tested), *others)
    return Matching(
        pairs=pairs,
        only_baseline=alone_there,
        only_candidate=alone_here,
        other_prompt=len(common) - len(of_one_prompt),
        not_sent=len(of_one_prompt) - len(sent),
        too_long=len(sent) - len(same),
        searched=search is not None,
        lengths=tuple(dict.fromkeys(lengths)),
        n_walk_lengths=0 if search is None else len(search.plan.lengths),
        step_samples=0 if search is None else search.plan.step_samples,
        longest=_longest(baseline, there) if _same_but_cache(baseline, candidate) else None,
        error_share=min(map(_error_share, (baseline, candidate))),
        quantity=quantity,
    )


def _same_but_cache(*reports: Report) -> bool:
    caches = [cache for each in reports if (cache := each.analysis.finding(KVCache)) is not None]
    return len({each.run.model for each in reports}) == 1 and len({each.facts.shown for each in caches}) > 1


def _longest(baseline: Report, there: Samples) -> tuple[int, int] | None:
    """Tokens, from and to, of the longest length that the baseline can do: where it asked most for comparisons, else
    the last bin whose score is not low."""
    if (tokens := length_of_pairs(there.values())) is not None:
        return tokens, tokens
    lengths = sorted(each.context_tokens for each in there.values())
    end = 0
    longest = None
    for each in baseline.analysis.bins:
        start, end = end, end + each.n_samples + each.n_unscored
        if each.mean is not None and each.mean >= LOW_BASELINE and lengths[start:end]:
            longest = lengths[start], lengths[min(end, len(lengths)) - 1]
    return longest


def _error_share(report: Report) -> float:
    """The part of the error that earlier looks at a fixed design leave for this one."""
    cap = report.analysis.safe_cap
    searched = report.analysis.finding(Search) is not None
    return 1.0 if searched else 1.0 - cap.lost_confidence / (1.0 - cap.confidence)


def why_no_pairs(baseline: Report, candidate: Report, matching: Matching) -> str:
    """The reason, as the end of a sentence: the first fact in which two runs without a scored pair differ."""
    if matching.pairs:
        return "since no pair of samples has both scores"
    there, here = (
        {
            **{name: getattr(report.run, name) for name in ("task", "dataset", "texts", "tokenizer")},
            "caps of": report.analysis.safe_cap.quantity,
        }
        for report in (baseline, candidate)
    )
    for name, own in here.items():
        if there[name] != own:
            return f"since they were not asked the same: {name} {there[name]} there and {own} here"
    if matching.other_prompt:
        return f"since all {matching.other_prompt:,} samples of one id have other prompts"
    return "since no sample was asked in both"


def _notes(runs: Sequence[ComparedRun]) -> Iterator[str]:
    models = {run.report.run.model for run in runs if run.report is not None}
    if len(models) == 1 and all(run.report is not None for run in runs):
        yield f"all runs are of {models.pop()}"
    for run in runs:
        if run.report is not None and run.report.run.partial:
            yield f"{run.name} stopped before its end: lengths may be missing"
        if run.report is not None and (share := _error_share(run.report)) < 1.0:
            alpha = 1.0 - run.report.analysis.safe_cap.confidence
            yield (
                f"some samples of {run.name} were looked at before, with other numbers of them: its verdicts are tested"
                f" at {1.0 - share * alpha:.4g} and hold at {1.0 - (2.0 - share) * alpha:.4g}"
            )
    tasks = list(dict.fromkeys(run.report.run.task for run in runs if run.report is not None))
    if len(tasks) > 1:
        yield f"the runs are of different tasks ({', '.join(tasks)}): their scores are not the same thing"
    tested = {run.lengths for run in runs}
    if len(tested) > 1:
        common = sorted(set.intersection(*map(set, tested)))
        shared = ", ".join(f"{tokens:,}" for tokens in common) or "none"
        yield f"the runs have different lengths; in common: {shared}"
