"""What a run does after its last answer: each part of it is named on stderr while it goes on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def phase(name: str, *, shown: bool) -> Iterator[None]:
    """Name what the block does: beside a spinner on a terminal, in a plain line elsewhere.

    The block prints nothing itself. With `shown=False` nothing is said.
    """
    if not shown:
        yield
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        sys.stderr.write(f"{name}\n")
        yield
        return
    with console.status(Text(name)):
        yield
