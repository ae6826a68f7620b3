"""`task.like`: a run asks what another's decisions rest on as well, so that the two stay paired.

A search stops when its own decisions are made. Two searches over the same prompts therefore share those that both came
to, and whether there is a pair depends on the answers. A run that replays the other's steps has a pair for each
sample that counted there.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from contextcliff.actions.action import Invocation
from contextcliff.actions.prepare import Prepared, planned_step
from contextcliff.analysis.search import Path, StepScores
from contextcliff.errors import ConfigError, RunError
from contextcliff.records.report import RunRecord
from contextcliff.records.search_record import Key, Replay
from contextcliff.reporting.data_files import StoredSample, stored_samples
from contextcliff.text.tokenizers import WordTokenizer

KEY = "task.like"
FIRST = "first"
_SEARCH_ENDS = ("max_trials", "resolution")
"""Keys of a task that say where a search ends: they are part of no prompt, and two runs may differ in them."""
_OF_PROMPTS = (
    *("seed", "dataset", "tokenizer", "model.context_window", "sampling.max_tokens"),
    *("analysis.bins", "analysis.binning"),
)
_MOST_KEYS = 3
_EMPTY = "''"


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """A run to stay paired with, read from its folder."""

    run: RunRecord
    configuration: Mapping[str, str]
    asked: tuple[StoredSample, ...]


def read_baseline(invocation: Invocation) -> Baseline | None:
    """The run that an invocation stays paired with; None if it names none, or is that run itself."""
    # Late, since reading reports loads numpy and more.
    from contextcliff.reporting.run_names import read_parameters
    from contextcliff.reporting.stored_reports import MANIFEST_NAME, REPORT_NAME, read_run, run_folder

    name = invocation.like
    if name is None:
        return None
    if name == FIRST:
        raise ConfigError(
            f"{KEY}={FIRST}: names the first job of a sweep, and this is none; give a run id of this experiment or a "
            "run's folder, or leave it out"
        )
    if not name:
        raise RunError(
            f"{KEY}={FIRST}: the first job of this sweep left no run to stay paired with; see why it failed, or run "
            f"without {KEY}"
        )
    if chooses := invocation.task.traits.chooses_by_answers:
        raise ConfigError(
            f"{KEY}={name}: {chooses} asks what its own pilot points to; two runs ask the same with task.pilot=0"
        )
    folder = run_folder(name, invocation.experiment)
    if folder is None:
        raise ConfigError(
            f"{KEY}={name}: is no run: neither a folder with a {REPORT_NAME} nor a run id in {invocation.experiment}; "
            f"give one of these, or {FIRST} in a sweep"
        )
    baseline = Baseline(
        run=read_run(folder, key=KEY).run,
        configuration=read_parameters(folder / MANIFEST_NAME),
        asked=tuple(stored_samples(folder, asked=f"{KEY}={name}")),
    )
    run, task = baseline.run, invocation.task
    if run.run_id == invocation.identify().run_id:
        return None
    if (run.task_kind or run.task) != task.name:
        raise ConfigError(
            f"{KEY}={name}: is a run of another task: task={run.task} there and {invocation.task_name} here; give the "
            "same task"
        )
    # The option itself, `task`, may be another one with the same keys.
    apart = {"", *task.traits.not_asked, *task.traits.idle, *_SEARCH_ENDS}
    differing = [
        each
        for each in different_keys(baseline.configuration, invocation, "task")
        if apart.isdisjoint(each.partition("=")[0].partition(".")[2].split("."))
    ]
    if differing:
        raise ConfigError(f"{KEY}={name}: asks something else: {listed(differing)}; give the same")
    return baseline


def different_keys(configuration: Mapping[str, str], invocation: Invocation, *prefixes: str) -> tuple[str, ...]:
    """`KEY=VALUE there and VALUE here` for each key below these prefixes that a stored run tells otherwise."""
    here = invocation.parameters
    return tuple(
        f"{key}={there or _EMPTY} there and {here[key] or _EMPTY} here"
        for key, there in configuration.items()
        if here.get(key, there) != there
        and not key.endswith("_target_")
        and any(key == each or key.startswith(f"{each}.") for each in prefixes)
    )


def listed(differences: Sequence[str]) -> str:
    more = len(differences) - _MOST_KEYS
    return ", ".join(differences[:_MOST_KEYS]) + (f" and {more} more" if more > 0 else "")


def with_replay(invocation: Invocation, prepared: Prepared, baseline: Baseline | None) -> Prepared:
    """The run with the blocks that it asks to stay paired with `baseline`; refuses one with other prompts here."""
    if baseline is None:
        return prepared
    search, there, run, record = prepared.search, baseline.run, prepared.run, None
    named, built = f"{KEY}={there.run_id}", prepared.planned
    if search is not None:
        asked = Counter(sample.context_tokens for sample in baseline.asked)
        longest, most = max(asked, default=0), search.plan.lengths[-1]
        if longest > most:
            raise ConfigError(
                f"{named}: asked {longest:,} tokens, and the longest length here is {most:,}; give the same lengths in "
                "tokens with task.lengths"
            )
        steps = {length: math.ceil(asked[length] / search.plan.step_samples) for length in sorted(asked)}
        record = Replay(run_id=there.run_id, steps=steps, partial=there.partial)
        search = replace(search, replayed=replayed_steps(record))
        built = tuple(item for key in search.replayed for item in planned_step(prepared, key))
    here = {item.sample.sample_id: item.prompt_sha256 for item in built}
    others = sum(here.get(each.sample_id) != each.prompt_sha256 for each in baseline.asked)
    same_tokenizer = run.facts.tokenizer == there.tokenizer
    # A plan whose tokenizer is not at hand can't tell.
    if others and (same_tokenizer or not isinstance(prepared.materials.tokenizer, WordTokenizer)):
        why = different_keys(baseline.configuration, invocation, *_OF_PROMPTS)
        if not same_tokenizer:
            why += (f"the tokenizer {there.tokenizer} there and {run.facts.tokenizer} here",)
        given = f": {listed(why)}; give the same, or take another run" if why else "; run that one again"
        raise ConfigError(f"{named}: {others:,} of its {len(baseline.asked):,} prompts are other ones here{given}")
    return replace(prepared, search=search, run=replace(run, facts=replace(run.facts, replay=record)))


def replayed_steps(record: Replay | None) -> tuple[Key, ...]:
    steps = {} if record is None else record.steps
    return tuple((length, index) for length, count in steps.items() for index in range(count))


def replay_notes(invocation: Invocation, prepared: Prepared) -> tuple[str, ...]:
    record = prepared.run.facts.replay
    if record is not None and prepared.search is not None:
        count = sum(record.steps.values()) * prepared.search.plan.step_samples
        return (
            f"{KEY}: {record.run_id} asked {count:,} samples; the figures count those of them that "
            "are not stored and that this run would not ask by itself",
        )
    if invocation.like == "":
        return (f"{KEY}={FIRST}: the first job has not run yet, and what it will ask is not counted here",)
    return ()


def length_of_pairs(asked: Iterable[StoredSample]) -> int | None:
    """The length at which a baseline asked most for comparisons alone; None if it asked nothing for them."""
    asked_more = Counter(each.context_tokens for each in asked if each.replayed)
    return max(asked_more, key=lambda tokens: asked_more[tokens], default=None)


Pairs = Callable[[Path, Mapping[Key, StepScores]], Sequence[Key]]
"""The steps to ask now at the longest length, given the search and the answers so far; none at the end."""


def pairs_at_longest(
    invocation: Invocation, prepared: Prepared, baseline: Baseline | None
) -> tuple[tuple[Key, ...], Pairs]:
    """The steps that are replayed whatever they show, and what else is asked when the search has ended."""
    from contextcliff.analysis.paired import is_settled, longest_done  # few runs need them
    from contextcliff.records.comparison import ScoredPair

    numbers = range(invocation.task.longest_steps)

    def of_baseline(path: Path, complete: Mapping[Key, StepScores]) -> Sequence[Key]:
        tokens = path.cap_tokens or longest_done((tokens, step.score) for (tokens, _), step in complete.items())
        keys = [] if tokens is None else [(tokens, number) for number in numbers]
        return [key for key in keys if key not in complete]

    if baseline is None or prepared.search is None:
        return (), of_baseline
    longest = length_of_pairs(baseline.asked)
    there: defaultdict[Key, list[ScoredPair]] = defaultdict(list)
    for each in baseline.asked:
        if (tokens := each.context_tokens) == longest and each.step is not None and each.step in numbers:
            pair = ScoredPair(sample_id="", context_tokens=tokens, baseline=each.score, candidate=None)
            there[tokens, each.step].append(pair)

    def of_candidate(_: Path, complete: Mapping[Key, StepScores]) -> Sequence[Key]:
        steps = [
            [replace(pair, candidate=score) for pair, score in zip(there[key], complete[key].scores, strict=False)]
            for key in sorted(there)
            if key in complete
        ]
        if is_settled(steps, confidence=invocation.analysis.confidence):
            return ()
        return [key for key in sorted(there) if key not in complete][: invocation.engine.concurrency]

    return tuple(key for key in prepared.search.replayed if key[0] != longest), of_candidate
