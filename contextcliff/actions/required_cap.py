"""What is said before anything is sent: what it takes, and the cap that it could show. And `analysis.require_cap`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.prepare_run import Prepared
from contextcliff.errors import GateFailed, tell
from contextcliff.execution.budget import Cost
from contextcliff.execution.store import PlannedSample
from contextcliff.findings.phrases import duration
from contextcliff.models.model import dollars
from contextcliff.records.analysis import SafeCap
from contextcliff.records.generation import Outcome

if TYPE_CHECKING:
    from contextcliff.actions.rest_of_search import SearchAhead
    from contextcliff.analysis.forecast import BestCase

_KEY = "analysis.require_cap"


def impossible_cap(invocation: Invocation, prepared: Prepared) -> str | None:
    """A sentence where even a perfect model would get no cap of the whole range; None where one would."""
    best = best_case_of(invocation, prepared)
    return None if best.is_enough else f"{best.shortfall()}; {_way_out(invocation, best)}"


def _way_out(invocation: Invocation, best: BestCase) -> str:
    if best.is_baseline_alone:
        return "ask for more lengths, or take analysis.relative_to_baseline=false"
    needed = best.needed()
    if needed is None:
        return "no number of samples could; lower analysis.threshold"
    if best.has_shared_draws:
        return (
            "samples that are one draw (temperature 0, or sampling.seed is set) count once, and more of them show no "
            "more; with a temperature above 0 and no sampling.seed each is a draw of its own"
        )
    return f"at least {needed} are needed; {invocation.task.traits.more_samples}"


def best_case_of(invocation: Invocation, prepared: Prepared) -> BestCase:
    """What a perfect model would show with the samples that are planned."""
    from contextcliff.analysis.forecast import SearchToJudge, best_case

    traits, search = invocation.task.traits, prepared.search
    return best_case(
        [item.sample for item in prepared.planned if item.sample.is_ordinary],
        invocation.analysis,
        designed_lengths=traits.designed_lengths,
        relative_by_default=traits.relative_by_default,
        quantity=traits.cap_quantity,
        search=None if search is None else SearchToJudge(plan=search.plan, rule=search.rule),
    )


def tested_quantity(invocation: Invocation) -> str | None:
    """What the cap is tested on, where that is not the score: said before the first sentence that names it."""
    if invocation.task.traits.cap_quantity == "score":
        return None
    from contextcliff.findings.answer import healthy_round

    return f"the cap is tested on {healthy_round()}"


def require_cap(invocation: Invocation, cap: SafeCap, folder: Path, *, stopped: bool = False) -> None:
    """Raise `GateFailed` where the safe cap is below the required one, or there is none.

    `folder` holds the report that says why; `stopped` says that the run ended before its end.
    """
    required = invocation.analysis.require_cap
    if required is None or (cap.tokens is not None and cap.tokens >= required):
        return
    outcomes = {"below": "no tested length is safe", "undecided": "no safe cap is shown"}
    has = outcomes.get(cap.outcome, f"the safe cap is {cap.in_short} tokens")
    so_far = " so far, since the run stopped before its end" if stopped else ""
    raise GateFailed(f"{_KEY}={required}: {has}{so_far}; {folder / 'report.md'} says why")


def unreachable_cap(invocation: Invocation, prepared: Prepared) -> str | None:
    """A sentence where no possible answers could give the required cap; None where some could, or none is required."""
    required = invocation.analysis.require_cap
    if required is None:
        return None
    best = best_case_of(invocation, prepared).sequence.cap_tokens
    if best is not None and best >= required:
        return None
    most = "no cap at all" if best is None else f"a cap of {best:,} tokens at most"
    way_out = (
        f"ask for prompts of {required:,} tokens or more (task.lengths)"
        if invocation.task.traits.designed_lengths
        else f"take documents of {required:,} tokens or more"
    )
    return f"{_KEY}={required}: the best possible answers would give {most}; {way_out}, or require less"


def announce(
    invocation: Invocation,
    prepared: Prepared,
    missing: Sequence[PlannedSample],
    ahead: SearchAhead | None,
    *,
    least: Cost,
    most: Cost,
    limit_usd: float | None,
) -> None:
    """Say what will be tested, and what that takes at least and at most; of a job of a sweep in one line."""
    lengths = sorted({item.sample.context_tokens for item in prepared.planned if item.sample.is_ordinary})
    if invocation.task.traits.designed_lengths and invocation.place is None:
        tell(f"lengths: {', '.join(f'{length:,}' for length in lengths)} tokens")
    usd = ""
    if least.usd is not None and most.usd is not None:
        usd = f", {_between(dollars(least.usd, at_most=True), dollars(most.usd, at_most=True))}"
        if limit_usd is not None and not invocation.budget.is_set and most.usd > limit_usd:
            usd = f"{usd}; at most {dollars(limit_usd)} are spent (budget.usd=none: all)"
    span = "" if invocation.place is None else f"{lengths[0]:,} to {lengths[-1]:,} tokens: "
    n_most = len(missing) if ahead is None else round(ahead.most.samples + ahead.most.controls)
    samples, tokens = _between(f"{len(missing):,}", f"{n_most:,}"), _between(f"{least.tokens:,}", f"{most.tokens:,}")
    tell(f"{span}{samples} requests, {tokens} tokens{usd}")


def _between(low: str, high: str) -> str:
    return high if low == high else f"{low.removesuffix(' USD')} to {high}"


_FIRST_ANSWERS = 10
"""By so many the rate is known."""


def minutes(least: Cost, most: Cost, *, limit_usd: float | None) -> Callable[[Outcome], str | None]:
    """Says how long it may take by the rate of the first answers, as soon as these are there."""
    began_s, tokens, answers = time.monotonic(), 0, 0
    bounds = least.within(limit_usd).tokens, most.within(limit_usd).tokens

    def ended(outcome: Outcome) -> str | None:
        nonlocal tokens, answers
        if outcome.generation is None or answers == _FIRST_ANSWERS:
            return None
        answers, tokens = answers + 1, tokens + outcome.generation.prompt_tokens + outcome.generation.completion_tokens
        if answers < _FIRST_ANSWERS:
            return None
        rate = tokens / max(1e-6, time.monotonic() - began_s)
        low, high = (duration(bound / rate) for bound in bounds)
        return f"by the rate of the first answers it takes {_between(low, high)}"

    return ended
