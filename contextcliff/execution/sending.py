"""Sending a schedule under a progress bar and within a budget: what a run and its judge share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from contextcliff.execution.budget import Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.stopping import until_stopped
from contextcliff.execution.store import Fault, PlannedSample
from contextcliff.records.generation import Outcome
from contextcliff.reporting.progress import progress_bar


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How sending ended: whether a signal cut it short, and by key why samples have no answer."""

    cut_short: bool
    faults: Mapping[str, Fault]


async def send_all(
    runner: Runner,
    missing: Sequence[PlannedSample],
    meter: Meter,
    *,
    title: str,
    shown: bool,
    ended: Callable[[Outcome], None] | None = None,
) -> Ended:
    """Send what is missing, as far as the budget goes, and tell `ended` of each outcome."""
    faults: dict[str, Fault] = {}
    if not missing:
        return Ended(cut_short=False, faults=faults)
    by_id = {item.sample.sample_id: item for item in missing}
    total = sum(item.sample.built_tokens for item in missing)
    with progress_bar(title, total_tokens=total, total_samples=len(missing), shown=shown) as advance:

        async def send() -> None:
            async for outcome in runner.execute(meter.affordable(missing)):
                item = by_id[outcome.sample.sample_id]
                meter.settle(item, outcome.generation)
                if outcome.unscored is not None:
                    faults[item.key] = Fault(kind=outcome.unscored, detail=outcome.detail)
                advance(outcome.sample.built_tokens)
                if ended is not None:
                    ended(outcome)

        cut_short = await until_stopped(send())
    return Ended(cut_short=cut_short, faults=faults)
