"""The cap that planned samples could show at best, said before anything is sent, and `analysis.require_cap`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.prepare_run import Prepared
from contextcliff.errors import GateFailed
from contextcliff.records.analysis import SafeCap

if TYPE_CHECKING:
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
    return f"at least {needed} are needed; {invocation.task.more_samples}"


def best_case_of(invocation: Invocation, prepared: Prepared) -> BestCase:
    """What a perfect model would show with the samples that are planned."""
    from contextcliff.analysis.forecast import SearchToJudge, best_case

    task, search = invocation.task, prepared.search
    return best_case(
        [item.sample for item in prepared.planned if item.sample.is_ordinary],
        invocation.analysis,
        designed_lengths=task.designed_lengths,
        relative_by_default=task.relative_by_default,
        perfect_score=task.perfect_score,
        quantity=task.cap_quantity,
        search=None if search is None else SearchToJudge(plan=search.plan, rule=search.rule),
    )


def tested_quantity(invocation: Invocation) -> str | None:
    """What the cap is tested on, where that is not the score: said before the first sentence that names it."""
    if invocation.task.cap_quantity == "score":
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
        if invocation.task.designed_lengths
        else f"take documents of {required:,} tokens or more"
    )
    return f"{_KEY}={required}: the best possible answers would give {most}; {way_out}, or require less"
