"""What runs are called where several stand together: by their model, and by whatever else tells them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contextcliff.records.report import Report
from contextcliff.reporting.section_list import sections_of

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


_TELLING: tuple[Callable[[RunFacts], str | None], ...] = (
    lambda run: run.task,
    lambda run: run.kv_policy,
    lambda run: run.rope,
    lambda run: run.dataset,
    lambda run: run.label,
)


def facts_of(report: Report) -> RunFacts:
    """The facts of a run of ours."""
    return RunFacts(
        run_id=report.run.run_id,
        model=report.run.model,
        task=report.run.task,
        kv_policy=report.run.kv_policy,
        rope=report.run.rope,
        dataset=report.run.dataset,
        text=parameters_of_findings(report).get("text") or report.run.texts or None,
        label=report.run.label,
    )


def parameters_of_findings(report: Report) -> dict[str, str]:
    """What the findings of a report add to its run's parameters."""
    return {key: value for section in sections_of(report) for key, value in section.parameters(report).items()}


def telling_names(runs: Sequence[RunFacts]) -> tuple[str, ...]:
    """A name for each run: its model, and those other facts in which the runs differ. Runs alike in all share one."""
    differing = [fact for fact in _TELLING if len({fact(run) for run in runs} - {None}) > 1]
    texts = {run.dataset: {other.text for other in runs if other.dataset == run.dataset} for run in runs}
    return tuple(
        _BETWEEN.join(
            part
            for part in (
                run.model,
                *(fact(run) for fact in differing),
                run.text if len(texts[run.dataset] - {None}) > 1 else None,
            )
            if part
        )
        for run in runs
    )


def unique_names(runs: Sequence[RunFacts]) -> tuple[str, ...]:
    """The same, each different from the others: runs alike in all go by their run ids, equal ones of these numbered."""
    names = list(telling_names(runs))
    taken = Counter(names)
    names = [run.run_id if taken[name] > 1 else name for name, run in zip(names, runs, strict=True)]
    used: set[str] = set()
    for place, name in enumerate(names):
        number, unique = 1, name
        while unique in used or (number > 1 and unique in names):
            number += 1
            unique = f"{name} ({number})"
        used.add(unique)
        names[place] = unique
    return tuple(names)


def without_common_model(names: Sequence[str], *, model: str) -> tuple[str, ...]:
    """Names without the model that all of them begin with, where each has something else to go by."""
    prefix = f"{model}{_BETWEEN}"
    return tuple(
        name.removeprefix(prefix) if all(each.startswith(prefix) for each in names) else name for name in names
    )
