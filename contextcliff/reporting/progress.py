"""A progress bar by tokens: lengths differ by orders of magnitude, so samples would tell little."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from contextcliff.records.search_record import Decision, LengthStanding

if TYPE_CHECKING:
    from rich.console import Console

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


class SearchProgress(Protocol):
    """Shows a search while it goes on."""

    def advance(self, tokens: int) -> None:
        """A sample of so many prompt tokens has ended."""
        ...

    def lengths(self, standing: Sequence[LengthStanding]) -> None:
        """How the lengths stand now, in the order of testing."""
        ...


class _Unseen:
    def advance(self, tokens: int) -> None:
        """Shows nothing."""

    def lengths(self, standing: Sequence[LengthStanding]) -> None:
        """Shows nothing."""


_SIGNS: Mapping[Decision, str] = {
    "baseline": "baseline",
    "passed": "ok",
    "below": "below",
    "unsettled": "unsettled",
    "open": "…",
}


def standing_line(standing: Sequence[LengthStanding]) -> str:
    """The lengths of a search with their decisions: `512 ok 20/20 · 1,024 ok 29/30 · 2,048 … 9/10`."""
    return " · ".join(
        f"{each.context_tokens:,} {_SIGNS[each.decision]} {score_in_all(each)}".rstrip() for each in standing
    )


def score_in_all(standing: LengthStanding) -> str:
    """`29/30`: the sum of the scores and the samples; empty where none is answered."""
    return f"{standing.score_sum:.4g}/{standing.answered:,}" if standing.answered else ""


class _Written:
    """Writes a line for each length as it is decided, where lines can't be drawn anew: in a file or a pipe."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._decided: set[int] = set()

    def advance(self, tokens: int) -> None:
        """Writes nothing."""

    def lengths(self, standing: Sequence[LengthStanding]) -> None:
        for each in standing:
            if each.decision != "open" and each.context_tokens not in self._decided:
                self._decided.add(each.context_tokens)
                self._write(f"{standing_line([each])}\n")


@contextmanager
def search_progress(title: str, *, shown: bool) -> Iterator[SearchProgress]:
    """Show on stderr how a search stands, in as many lines as that takes; with `shown=False` nothing."""
    if not shown:
        yield _Unseen()
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        sys.stderr.write(f"{title}\n")
        yield _Written(sys.stderr.write)
        return
    with drawn_search(title, console) as drawn:
        yield drawn


@contextmanager
def drawn_search(title: str, console: Console) -> Iterator[SearchProgress]:
    """Draw on a terminal how a search stands; lines that are too long go on in the next one."""
    from rich.console import Group
    from rich.live import Live
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,.0f} tokens"),
        TextColumn("{task.fields[samples]:,} samples"),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=console)
    task = bar.add_task("", total=None, samples=0)
    line = Text("", overflow="fold")

    class Drawn:
        samples = 0

        def advance(self, tokens: int) -> None:
            self.samples += 1
            bar.update(task, advance=tokens, samples=self.samples)

        def lengths(self, standing: Sequence[LengthStanding]) -> None:
            line.plain = standing_line(standing)

    # What does not fit above the bottom of the window is cut only while it is drawn, and whole at the end.
    with Live(Group(Text(title, overflow="fold"), bar, line), console=console, refresh_per_second=8):
        yield Drawn()
