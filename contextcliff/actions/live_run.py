"""A run that is watched: `reporting.live=true` shows what the model writes, and the figures of each answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.prepare_run import Prepared
from contextcliff.execution.scoring import Scorer
from contextcliff.records.generation import Outcome
from contextcliff.tasks.task import Task

if TYPE_CHECKING:
    from contextcliff.reporting.live_text import LiveText


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """The display of a watched run, and the scorer of its answers."""

    writing: LiveText
    scorer: Scorer
    task: Task

    def ended(self, outcome: Outcome) -> None:
        """Show the figures of an answer, or why there is none."""
        scored = self.scorer.score(outcome)
        figures = self.task.answer_figures(scored.details)
        self.writing.ended(outcome.sample, figures=figures, failure=scored.failure)


def watched(invocation: Invocation, prepared: Prepared, scorer: Scorer) -> Watched | None:
    """What shows a run; None where it is not watched."""
    if not invocation.reporting.live:
        return None
    from rich.console import Console

    from contextcliff.reporting.live_text import LiveText

    writing = LiveText(Console(), samples=[item.sample for item in prepared.planned])
    return Watched(writing=writing, scorer=scorer, task=invocation.task)
