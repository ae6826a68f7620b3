"""Sending a schedule under a progress bar and within a budget: what a run and its judge share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from contextcliff.execution.budget import Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.store import PlannedSample
from contextcliff.records import Outcome
from contextcliff.reporting.progress import progress_bar


async def send_all(
    runner: Runner,
    missing: Sequence[PlannedSample],
    meter: Meter,
    *,
    title: str,
    shown: bool,
    ended: Callable[[Outcome], None] | None = None,
) -> bool:
    """Send what is missing, as far as the budget goes, and tell `ended` of each; True where Ctrl-C ended it."""
    if not missing:
        return False
    by_id = {item.sample.sample_id: item for item in missing}
    total = sum(item.sample.built_tokens for item in missing)
    with progress_bar(title, total_tokens=total, total_samples=len(missing), shown=shown) as advance:
        try:
            async for outcome in runner.execute(meter.affordable(missing)):
                meter.settle(by_id[outcome.sample.sample_id], outcome.generation)
                advance(outcome.sample.built_tokens)
                if ended is not None:
                    ended(outcome)
        except asyncio.CancelledError:
            # asyncio turns the first Ctrl-C into this; a second one is not caught.
            return True
    return False
