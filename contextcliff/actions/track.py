"""A run is kept by its tracker from its first prompt on, with the score of each length that is answered."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.override_keys import key_of
from contextcliff.actions.sweeps import row_without_report
from contextcliff.records.search_record import LengthStanding
from contextcliff.reporting.run_names import read_provenance
from contextcliff.reporting.stored_sweeps import sweep_folder, write_row
from contextcliff.tracking.tracker import model_title, run_title

if TYPE_CHECKING:
    from contextcliff.tracking.live import LiveRun


@dataclass(kw_only=True, slots=True)
class LiveTracking:
    """What a tracker hears of one run. Nothing is kept of a run that has nothing to send, until it has its report."""

    invocation: Invocation
    _run: LiveRun | None = None
    _finished: bool = False
    _told: set[int] = field(default_factory=set)

    def begin(self) -> None:
        """Something will be sent, or was to be."""
        invocation, place, row = self.invocation, self.invocation.place, None
        run_id = invocation.identify().run_id
        if place is not None:
            row = row_without_report(invocation, place, state="running", run_id=run_id)
            write_row(sweep_folder(invocation.experiment, place.sweep_id), row)
        if (tracker := invocation.tracking.mlflow) is None:
            return
        from contextcliff.tracking.live import LiveRun

        named = any(key_of(each) == "model.name" for each in invocation.overrides)
        option = "" if named else invocation.options.get("model", "")
        self._run = LiveRun(
            tracker,
            run_id=run_id,
            title=run_title(
                model=model_title(invocation.model_name, option=option, engine=invocation.engine.name),
                task=invocation.task_name,
                kv_policy=invocation.shown_policy,
                rope=invocation.model.rope.words,
                label=invocation.label,
            ),
            parameters=invocation.parameters,
            tags={
                "model": invocation.shown_model,
                "task": invocation.task_name,
                "kv_policy": invocation.shown_policy,
                "engine": invocation.engine.name,
                "dataset": invocation.dataset_name,
                **provenance(invocation),
            },
            place=place,
            row=row,
            computes_here=invocation.engine.computes_here,
        )

    def lengths(self, standing: Sequence[LengthStanding]) -> None:
        """How the lengths of a search stand now."""
        for each in standing:
            if each.decision != "open" and each.answered:
                self.length(each.context_tokens, each.score_sum / each.answered, each.answered)

    def length(self, context_tokens: int, score: float, n_samples: int) -> None:
        """A length is complete."""
        if self._run is not None and context_tokens not in self._told:
            self._told.add(context_tokens)
            self._run.send(context_tokens, score=score, n_samples=n_samples)

    def hand_over(self) -> LiveRun | None:
        """The run as it is tracked, which has its report now."""
        run, self._run, self._finished = self._run, None, True
        return run

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


_SHOWN = 12
_PATIENCE_S = 5.0


def provenance(invocation: Invocation) -> Mapping[str, str]:
    """`git_commit`, left out where the program is not run from a checkout, and `dataset_digest`.

    Of a run that is read from its folder, what its manifest says.
    """
    if invocation.run_folder is not None:
        return read_provenance(invocation.run_folder / "manifest.json")
    commit, digest = code_commit(), invocation.identify().text_identity[:_SHOWN]
    return {**({"git_commit": commit, "mlflow.source.git.commit": commit} if commit else {}), "dataset_digest": digest}


@cache
def code_commit() -> str:
    """The commit of the checkout that the program runs from, with `-dirty` where it was changed; empty: no checkout."""
    checkout = Path(__file__).resolve().parents[2]
    git = shutil.which("git")
    if git is None or not (checkout / ".git").exists():
        return ""
    try:
        said = subprocess.run(  # noqa: S603 - git alone, in our own checkout
            [git, "-C", str(checkout), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""
