"""A progress bar by tokens: lengths differ by orders of magnitude, so samples would tell little."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from contextcliff.errors import tell, visible
from contextcliff.findings.search import standing_line
from contextcliff.records.search_record import LengthStanding
from contextcliff.reporting.plain_progress import PlainProgress, time_left

if TYPE_CHECKING:
    from rich.console import Console

Advance = Callable[[int], None]
"""Call with the prompt tokens of each sample that has ended."""


class Progress(Protocol):
    """Shows how much of what is sent has ended."""

    def advance(self, tokens: int, *, answer: str = "") -> None:
        """A sample of so many prompt tokens has ended, with this answer."""
        ...

    def remark(self, line: str) -> None:
        """Say something beside it, which stays."""
        ...


@contextmanager
def progress_bar(title: str, *, total_tokens: int, total_samples: int, shown: bool) -> Iterator[Progress]:
    """Show on stderr how much has ended; with `shown=False` nothing is drawn.

    Where stderr is no terminal, there is a plain line now and then in its place, and one at the end.
    """
    if not shown:
        yield _Unseen()
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        tell(f"{title}")
        plain = PlainProgress(tell, total_tokens=total_tokens, total_samples=total_samples)
        yield plain
        plain.say()
        return
    with drawn_bar(title, console, total_tokens=total_tokens, total_samples=total_samples) as drawn:
        yield drawn


_WIDE_SEARCH = 64
"""Columns from which tokens stand beside samples and the time that is left."""
_MOST_SHOWN = 500
"""Characters of an answer that are looked at: more than a line has."""
_LEAST_BAR = 8
"""Columns under which a bar says nothing."""


@contextmanager
def drawn_bar(title: str, console: Console, *, total_tokens: int, total_samples: int) -> Iterator[Progress]:
    """Draw a bar on a terminal; in a narrow one the title is cut, and the time left stays longest."""
    from rich import progress as bars
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    left = (bars.TextColumn("left"), bars.TimeRemainingColumn())
    samples = bars.TextColumn("{task.fields[samples]:,}/{task.fields[of]:,} samples")
    tokens = bars.TextColumn("{task.completed:,.0f}/{task.total:,.0f} tokens")
    elapsed = bars.TimeElapsedColumn()
    rows: tuple[tuple[int, tuple[bars.ProgressColumn, ...]], ...] = (
        (len(f"{total_tokens:,}") * 2 + len(f"{total_samples:,}") * 2 + 40, (tokens, samples, elapsed, *left)),
        (len(f"{total_samples:,}") * 2 + 23, (samples, *left)),
        (0, left),
    )
    fitting = next(columns for width, columns in rows if width + _LEAST_BAR <= console.width or width == 0)
    bar = bars.Progress(bars.BarColumn(bar_width=None), *fitting, console=console)
    task = bar.add_task("", total=total_tokens, samples=0, of=total_samples)

    class Drawn:
        samples = 0

        def advance(self, tokens: int, *, answer: str = "") -> None:
            self.samples += 1
            bar.update(task, advance=tokens, samples=self.samples)
            last.plain = last_answer(answer, console)

        def remark(self, line: str) -> None:
            console.print(Text(visible(line), overflow="fold"))

    line = Text(visible(title), overflow="ellipsis", no_wrap=True)
    last = Text("", style="dim", overflow="ellipsis", no_wrap=True)
    with Live(Group(line, bar, last), console=console, refresh_per_second=8):
        yield Drawn()


@contextmanager
def counting_bar(title: str, *, shown: bool) -> Iterator[Advance]:
    """Show on stderr how many pieces are done, of a number that is not known; yield the call that adds some."""
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bars
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,.0f}"),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task(escape(visible(title)), total=None)
        yield lambda more: progress.update(bar, advance=more)


def last_answer(answer: str, console: Console) -> str:
    """The beginning of an answer, for one line of a terminal."""
    from contextcliff.reporting.outside_text import shown

    words = " ".join(answer[:_MOST_SHOWN].split())
    return shown(f"last answer: {words}", console=console).plain if words else ""


class SearchProgress(Protocol):
    """Shows a search while it goes on."""

    def advance(self, tokens: int, *, answer: str = "") -> None:
        """A sample of so many prompt tokens has ended, with this answer."""
        ...

    def lengths(self, standing: Sequence[LengthStanding]) -> None:
        """How the lengths stand now, in the order of testing."""
        ...

    def expect(self, tokens_left: int) -> None:
        """So many prompt tokens are expected to be left."""
        ...


class _Unseen:
    def advance(self, tokens: int, *, answer: str = "") -> None:
        """Shows nothing."""

    def remark(self, line: str) -> None:
        """Shows nothing."""

    def lengths(self, standing: Sequence[LengthStanding]) -> None:
        """Shows nothing."""

    def expect(self, tokens_left: int) -> None:
        """Shows nothing."""


class _Written:
    """Writes a line for each length as it is decided, and now and then how much has ended: in a file or a pipe."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._plain = PlainProgress(write)
        self._decided: set[int] = set()

    def advance(self, tokens: int, *, answer: str = "") -> None:
        self._plain.advance(tokens, answer=answer)

    def expect(self, tokens_left: int) -> None:
        self._plain.expect(tokens_left)

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
        tell(f"{title}")
        yield _Written(tell)
        return
    with drawn_search(title, console) as drawn:
        yield drawn


@contextmanager
def drawn_search(title: str, console: Console) -> Iterator[SearchProgress]:
    """Draw on a terminal how a search stands; lines that are too long go on in the next one."""
    from rich.console import Group
    from rich.live import Live
    from rich.progress import Progress as Bars
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    tokens, samples = TextColumn("{task.completed:,.0f} tokens"), TextColumn("{task.fields[samples]:,} samples")
    wide = console.width >= _WIDE_SEARCH
    columns = (
        SpinnerColumn(),
        *((tokens,) if wide else ()),
        samples,
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    bar = Bars(*columns, console=console)
    task = bar.add_task("", total=None, samples=0, left="")
    line = Text("", overflow="fold")
    last = Text("", style="dim", overflow="ellipsis", no_wrap=True)

    class Drawn:
        samples = tokens = 0
        expected_tokens: int | None = None

        def advance(self, tokens: int, *, answer: str = "") -> None:
            self.samples += 1
            self.tokens += tokens
            bar.update(task, advance=tokens, samples=self.samples, left=self._left())
            last.plain = last_answer(answer, console)

        def lengths(self, standing: Sequence[LengthStanding]) -> None:
            line.plain = str(standing_line(standing))

        def expect(self, tokens_left: int) -> None:
            self.expected_tokens = self.tokens + tokens_left
            bar.update(task, left=self._left())

        def _left(self) -> str:
            left = time_left(self.tokens, self.expected_tokens, took_s=bar.tasks[0].elapsed or 0.0)
            return "" if left is None else f"about {left} left"

    # What does not fit above the bottom of the window is cut only while it is drawn, and whole at the end.
    with Live(Group(Text(visible(title), overflow="fold"), bar, line, last), console=console, refresh_per_second=8):
        yield Drawn()
