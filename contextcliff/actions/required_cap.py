"""`analysis.require_cap`: the cap that a result has to reach, and whether the planned samples could show one."""

from __future__ import annotations

from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.impossible_cap import best_case_of
from contextcliff.actions.prepare_run import Prepared
from contextcliff.errors import GateFailed
from contextcliff.records.analysis import SafeCap

_KEY = "analysis.require_cap"


def require_cap(invocation: Invocation, cap: SafeCap, folder: Path, *, stopped: bool = False) -> None:
    """Raise `GateFailed` where the safe cap is below the required one, or there is none.

    `folder` holds the report that says why; `stopped` says that the run ended before its end.
    """
    required = invocation.analysis.require_cap
    if required is None or (cap.tokens is not None and cap.tokens >= required):
        return
    has = "there is no safe cap" if cap.tokens is None else f"the safe cap is {cap.tokens:,} tokens"
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
