"""A run is kept by its tracker from its first prompt on, with the score of each length that is answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.override_keys import key_of
from contextcliff.actions.run_manifest import provenance
from contextcliff.actions.sweeps import row_without_report
from contextcliff.records.search_record import LengthStanding
from contextcliff.reporting.stored_sweeps import sweep_folder, write_row
from contextcliff.tracking.tracker import Begun, LengthPoint, LiveRun, RunTitle, Started, model_title


@dataclass(kw_only=True, slots=True)
class LiveTracking:
    """What a tracker hears of one run. Nothing is kept of a run that has nothing to send, until it has its report."""

    invocation: Invocation
    identity: Identity
    _run: LiveRun | None = None
    _finished: bool = False
    _told: set[int] = field(default_factory=set)

    def begin(self) -> None:
        """Something will be sent, or was to be."""
        place = self.invocation.place
        if self._run is None:
            if place is not None:
                experiment = self.invocation.output_dir / self.invocation.tracking.experiment
                row = row_without_report(self.invocation, place, state="running", run_id=self.identity.run_id)
                write_row(sweep_folder(experiment, place.sweep_id), row)
            self._run = self.invocation.tracking.begin(_started(self.invocation, self.identity))

    def lengths(self, standing: Sequence[LengthStanding]) -> None:
        """How the lengths of a search stand now."""
        for each in standing:
            if each.decision != "open" and each.answered:
                score = each.score_sum / each.answered
                self.point(LengthPoint(context_tokens=each.context_tokens, score=score, n_samples=each.answered))

    def point(self, point: LengthPoint) -> None:
        """A length is complete."""
        if self._run is not None and point.context_tokens not in self._told:
            self._told.add(point.context_tokens)
            self._run.point(point)

    def hand_over(self) -> Begun | None:
        """What the tracker has of the run, which has its report now."""
        run, self._run, self._finished = self._run, None, True
        return None if run is None else run.hand_over()

    def fail(self, why: str, *, interrupted: bool = False) -> None:
        """It ended without a report; nothing after the report is a failure of it.

        A job of a sweep is there as a failed run even where it failed before its first prompt.
        """
        if self._finished:
            return
        if self._run is None and self.invocation.place is not None:
            self.begin()
        run, self._run = self._run, None
        if run is not None:
            run.fail(why, interrupted=interrupted)


def _started(invocation: Invocation, identity: Identity) -> Started:
    option = (
        ""
        if any(key_of(each) == "model.name" for each in invocation.overrides)
        else invocation.options.get("model", "")
    )
    return Started(
        run_id=identity.run_id,
        title=RunTitle(
            model=model_title(invocation.model_name, option=option, engine=invocation.engine.name),
            task=invocation.task_name,
            kv_policy=invocation.shown_policy,
            label=invocation.label,
            rope=invocation.model.rope.words,
        ),
        parameters=invocation.parameters,
        tags={
            "model": invocation.shown_model,
            "task": invocation.task_name,
            "kv_policy": invocation.shown_policy,
            "engine": invocation.engine.name,
            "dataset": invocation.dataset_name,
            **provenance(identity),
        },
        place=invocation.place,
        row=None
        if invocation.place is None
        else row_without_report(invocation, invocation.place, state="running", run_id=identity.run_id),
        computes_here=invocation.engine.computes_here,
    )
