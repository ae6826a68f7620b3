"""Tab completion: Hydra's, of the command `contextcliff` and of what our command line takes beyond Hydra's."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr

_COMMAND = "contextcliff"
_QUOTES = "'\""
_LINE = "COMP_LINE"
"""What is typed so far, as the shell hands it to Hydra."""


@contextmanager
def completing() -> Iterator[None]:
    """Let Hydra install the completion, or complete a line of ours.

    Under `python -m` Hydra would take over the completion of `python`; it completes `contextcliff` in its place. While
    a line is completed nothing is said on stderr: it would stand in the middle of what somebody types.
    """
    if sys.argv[0].endswith(".py"):
        sys.argv[0] = _COMMAND
    typed = os.environ.get(_LINE)
    if typed is not None:
        os.environ[_LINE] = as_hydra_reads(typed)
    with nullcontext() if typed is None else redirect_stderr(io.StringIO()):
        yield


def as_hydra_reads(line: str) -> str:
    """The line with `-m`, since a comma sweeps here without it, and without `ui` and the shell's quotes."""
    command, _, rest = line.lstrip().partition(" ")
    if rest.startswith("ui "):
        rest = rest.removeprefix("ui ")
    return f"{command} -m {rest.translate(dict.fromkeys(map(ord, _QUOTES)))}"
