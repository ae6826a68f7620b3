"""A progress bar by tokens: lengths differ by orders of magnitude, so samples would tell little."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]
"""Call with the prompt tokens of each sample that has ended."""


@contextmanager
def progress_bar(title: str, *, total_tokens: int, total_samples: int, shown: bool) -> Iterator[Advance]:
    """Show a bar on stderr and yield the call that moves it; with `shown=False` nothing is drawn."""
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} tokens"),
        TextColumn("{task.fields[samples]}/{task.fields[of]} samples"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task(escape(title), total=total_tokens, samples=0, of=total_samples)
        ended = 0

        def advance(tokens: int) -> None:
            nonlocal ended
            ended += 1
            progress.update(bar, advance=tokens, samples=ended)

        yield advance


@contextmanager
def counting_bar(title: str, *, shown: bool) -> Iterator[Advance]:
    """Show on stderr how many pieces are done, of a number that is not known; yield the call that adds some."""
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,.0f}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task(escape(title), total=None)
        yield lambda more: progress.update(bar, advance=more)
