"""A run that is watched: `reporting.live=true` shows what the model writes, and the figures of each answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.preparation import Prepared
from contextcliff.execution.scoring import score_outcomes
from contextcliff.records.corpus import Document
from contextcliff.records.generation import Outcome
from contextcliff.tasks.task import Task

if TYPE_CHECKING:
    from contextcliff.reporting.live_text import LiveText


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """The writing as it is shown, and what scoring an answer takes."""

    writing: LiveText
    task: Task
    documents: Mapping[str, Document]

    def ended(self, outcome: Outcome) -> None:
        """Show the figures of an answer, or why there is none."""
        scored = score_outcomes(self.task, [outcome], self.documents)[0]
        figures = getattr(self.task, "answer_figures", tuple[str, ...])
        self.writing.ended(outcome.sample, figures=figures(scored.details), failure=scored.failure)


def watched(invocation: Invocation, prepared: Prepared) -> Watched | None:
    """What shows a run; None where it is not watched."""
    if not invocation.reporting.live:
        return None
    from rich.console import Console

    from contextcliff.reporting.live_text import LiveText

    writing = LiveText(Console(), samples=[item.sample for item in prepared.planned])
    return Watched(writing=writing, task=invocation.task, documents=prepared.documents)
