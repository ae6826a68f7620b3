"""How a run that did not come to its end was stopped: what is said of it, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from contextcliff.errors import ExitCode
from contextcliff.execution.stopping import stop_code

Stop = Literal["interrupted", "terminated", "out of budget", "declined"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """The exit code of a stop, and what becomes of the answers."""

    code: ExitCode
    message: str


_GOES_ON = "what was answered is kept, and the same command goes on"
ENDINGS: Mapping[Stop, Ending] = {
    "interrupted": Ending(code=ExitCode.INTERRUPTED, message=_GOES_ON),
    "terminated": Ending(code=ExitCode.TERMINATED, message=_GOES_ON),
    "out of budget": Ending(
        code=ExitCode.BUDGET_RAN_OUT, message="what was answered is kept; the same command with a new budget goes on"
    ),
    "declined": Ending(code=ExitCode.DONE, message="nothing was sent"),
}


def signalled() -> Stop:
    """The stop by Ctrl-C or SIGTERM, whichever it was."""
    return "terminated" if stop_code() is ExitCode.TERMINATED else "interrupted"
