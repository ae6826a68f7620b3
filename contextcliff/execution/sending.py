"""Sends a list of samples, or what a source gives, as far as the budget goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from contextcliff.execution.budget import Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.schedule import FixedSource, Source
from contextcliff.execution.stopping import until_stopped
from contextcliff.execution.store import Fault, PlannedSample
from contextcliff.records.generation import Outcome
from contextcliff.reporting.progress import progress_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How sending ended: whether a signal cut it short, and by key why samples have no answer."""

    cut_short: bool
    faults: Mapping[str, Fault]


async def send_listed(
    runner: Runner,
    missing: Sequence[PlannedSample],
    meter: Meter,
    *,
    title: str,
    shown: bool,
    ended: Callable[[Outcome], str | None] = lambda _: None,
) -> Ended:
    """Send what is missing, as far as the budget goes; `ended` hears of each outcome, and may say something of it."""
    if not missing:
        return Ended(cut_short=False, faults={})
    total = sum(item.sample.built_tokens for item in missing)
    with progress_of(title, total_tokens=total, total_samples=len(missing), shown=shown) as progress:

        def show(outcome: Outcome) -> None:
            progress.advance(outcome.sample.built_tokens, answer=outcome.text)
            remark = ended(outcome)
            if remark is not None:
                progress.remark(remark)

        return await send_all(runner, FixedSource(missing), meter, ended=show)


async def send_all(
    runner: Runner,
    source: Source,
    meter: Meter,
    *,
    ended: Callable[[Outcome], None],
) -> Ended:
    """Send what a source gives, as far as the budget goes, and tell `ended` of each outcome."""
    metered = _Metered(source=source, meter=meter)

    async def send() -> None:
        async for outcome in runner.execute(metered, admits=metered.admits):
            ended(outcome)

    cut_short = await until_stopped(send())
    return Ended(cut_short=cut_short, faults=metered.faults)


@dataclass(kw_only=True, slots=True)
class _Metered:
    """A source as far as each sample of it can still be paid at its worst."""

    source: Source
    meter: Meter
    faults: dict[str, Fault] = field(default_factory=dict)
    """By key, why samples have no answer."""
    _under_way: dict[str, PlannedSample] = field(default_factory=dict)

    def next(self) -> PlannedSample | None:
        return None if self.meter.ran_out else self.source.next()

    def admits(self, item: PlannedSample) -> bool:
        """Set aside what a sample takes, right before it is sent: one that only waits for its prefix holds nothing."""
        if self.meter.ran_out or not self.meter.reserve(item):
            return False
        self._under_way[item.sample.sample_id] = item
        return True

    def ended(self, outcome: Outcome) -> None:
        item = self._under_way.pop(outcome.sample.sample_id)
        self.meter.settle(item, outcome.generation)
        if outcome.unscored is not None and outcome.generation is None:
            self.faults[item.key] = Fault(kind=outcome.unscored, detail=outcome.detail)
        self.source.ended(outcome)
