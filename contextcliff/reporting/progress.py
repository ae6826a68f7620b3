"""What is said on stderr while a run goes on: progress by tokens, since samples differ by orders of magnitude."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from contextcliff.errors import tell, visible
from contextcliff.records.search_record import Decision, LengthStanding

if TYPE_CHECKING:
    from rich.console import Console

_EVERY_S = 30.0
_WIDE_SEARCH = 64
"""Columns from which tokens stand beside samples and the time that is left."""
_MOST_SHOWN = 500
"""Characters of an answer that are looked at: more than a line has."""
_SIGNS: Mapping[Decision, str] = {
    "baseline": "baseline",
    "passed": "ok",
    "below": "below",
    "unsettled": "unsettled",
    "unscorable": "unscorable",
    "open": "…",
}


def standing_line(standing: Sequence[LengthStanding]) -> str:
    """The lengths of a search with their decisions, scores and samples: `512 ok 20/20 · 2,048 … 9/10 · 4,096 …`."""
    scores = (f" {each.score_sum:.4g}/{each.answered:,}" if each.answered else "" for each in standing)
    return " · ".join(
        f"{each.context_tokens:,} {_SIGNS[each.decision]}{score}" for each, score in zip(standing, scores, strict=True)
    )


class Progress:
    """Counts how much of what is sent has ended; this one shows nothing."""

    def __init__(self, *, total_tokens: int | None = None) -> None:
        self._expected_tokens = total_tokens
        self._tokens = self._samples = 0

    def advance(self, tokens: int, *, answer: str = "") -> None:  # noqa: ARG002 - shown on a terminal
        """A sample of so many prompt tokens has ended, with this answer."""
        self._tokens += tokens
        self._samples += 1

    def remark(self, line: str) -> None:
        """Say something beside it, which stays."""

    def lengths(self, standing: Sequence[LengthStanding]) -> None:
        """How the lengths of a search stand now, in the order of testing."""

    def expect(self, tokens_left: int) -> None:
        """So many prompt tokens of a search are expected to be left."""
        self._expected_tokens = self._tokens + tokens_left

    def left(self, *, took_s: float) -> str:
        """The time that is left, by tokens: longer prompts take longer. Empty where that can't be said."""
        if self._expected_tokens is None or not 0 < self._tokens < self._expected_tokens:
            return ""
        return f"{_time(took_s * (self._expected_tokens / self._tokens - 1))} left"


@contextmanager
def progress_of(
    title: str, *, shown: bool, total_tokens: int | None = None, total_samples: int | None = None
) -> Iterator[Progress]:
    """Show on stderr how much has ended: on a terminal a bar, elsewhere a line now and then. A search has no totals:
    its end is open."""
    if not shown:
        yield Progress()
        return
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with drawn(title, console, total_tokens=total_tokens, total_samples=total_samples) as progress:
            yield progress
        return
    tell(title)
    plain = PlainProgress(tell, total_tokens=total_tokens, total_samples=total_samples)
    yield plain
    if total_tokens is not None:
        plain.say()


class PlainProgress(Progress):
    """Writes how much has ended, at most every 30 seconds, and a line for each length as it is decided."""

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        total_tokens: int | None = None,
        total_samples: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(total_tokens=total_tokens)
        self._write, self._clock = write, clock
        self._total_tokens, self._total_samples = total_tokens, total_samples
        self._began_s = self._written_s = clock()
        self._decided: set[int] = set()

    def advance(self, tokens: int, *, answer: str = "") -> None:
        super().advance(tokens, answer=answer)
        now_s = self._clock()
        if now_s - self._written_s >= _EVERY_S:
            self._written_s = now_s
            self.say()

    def remark(self, line: str) -> None:
        self._write(f"{line}\n")

    def lengths(self, standing: Sequence[LengthStanding]) -> None:
        for each in standing:
            if each.decision != "open" and each.context_tokens not in self._decided:
                self._decided.add(each.context_tokens)
                self.remark(standing_line([each]))

    def say(self) -> None:
        """Write the line."""
        took_s = self._clock() - self._began_s
        noun = "sample" if (self._total_samples or self._samples) == 1 else "samples"
        about = "about " if self._total_tokens is None else ""
        left = self.left(took_s=took_s)
        self.remark(
            f"{self._tokens:,}{_of(self._total_tokens)} tokens, {self._samples:,}{_of(self._total_samples)} {noun}, "
            f"{_time(took_s)}{left and f', {about}{left}'}"
        )


def _of(total: int | None) -> str:
    return "" if total is None else f"/{total:,}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


@contextmanager
def drawn(
    title: str, console: Console, *, total_tokens: int | None = None, total_samples: int | None = None
) -> Iterator[Progress]:
    """Draw on a terminal: a bar, or how a search stands. Where there is little room the time left stays longest."""
    from rich import progress as bars
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    from contextcliff.reporting.text import shown

    samples = bars.TextColumn(f"{{task.fields[samples]:,}}{_of(total_samples)} samples")
    tokens = bars.TextColumn(f"{{task.completed:,.0f}}{_of(total_tokens)} tokens")
    if is_search := total_tokens is None:
        beside = (tokens, samples) if console.width >= _WIDE_SEARCH else (samples,)
        left = bars.TextColumn("{task.fields[left]}")
        columns = (bars.SpinnerColumn(), *beside, bars.TimeElapsedColumn(), left)
    else:
        room = console.width - 2 * len(f"{total_samples:,}")
        wide = (tokens, samples, bars.TimeElapsedColumn()) if room >= 48 + 2 * len(f"{total_tokens:,}") else ()
        narrow = (samples,) if room >= 31 and not wide else ()
        columns = (bars.BarColumn(bar_width=None), *wide, *narrow, bars.TextColumn("left"), bars.TimeRemainingColumn())
    bar = bars.Progress(*columns, console=console)
    task = bar.add_task("", total=total_tokens, samples=0, left="")
    line = Text("", overflow="fold")
    last = Text("", style="dim", overflow="ellipsis", no_wrap=True)

    class Drawn(Progress):
        def advance(self, tokens: int, *, answer: str = "") -> None:
            super().advance(tokens, answer=answer)
            bar.update(task, completed=self._tokens, samples=self._samples, left=self._about())
            words = " ".join(answer[:_MOST_SHOWN].split())
            last.plain = shown(f"last answer: {words}", console=console).plain if words else ""

        def remark(self, line: str) -> None:
            console.print(Text(visible(line), overflow="fold"))

        def lengths(self, standing: Sequence[LengthStanding]) -> None:
            line.plain = standing_line(standing)

        def expect(self, tokens_left: int) -> None:
            super().expect(tokens_left)
            bar.update(task, left=self._about())

        def _about(self) -> str:
            left = self.left(took_s=bar.tasks[0].elapsed or 0.0)
            return left and f"about {left}"

    name = Text(visible(title), overflow="fold" if is_search else "ellipsis", no_wrap=not is_search)
    # What does not fit above the bottom of the window is cut only while it is drawn, and whole at the end.
    with Live(Group(name, bar, *([line] if is_search else []), last), console=console, refresh_per_second=8):
        yield Drawn()


@contextmanager
def phase(name: str, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Name what the block does, beside a spinner on a terminal; yields a call that counts pieces that are done."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not shown or not console.is_terminal:
        if shown:
            tell(name)
        yield lambda _: None
        return
    done = 0
    with console.status(Text(visible(name))) as status:

        def count(more: int) -> None:
            nonlocal done
            done += more
            status.update(Text(visible(f"{name} · {done:,}")))

        yield count
