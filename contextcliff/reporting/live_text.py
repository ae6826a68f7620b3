"""The model's words as they come, for a run that is watched: `reporting.live=true`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

from contextcliff.records.sample import Sample
from contextcliff.reporting import phrases
from contextcliff.reporting.outside_text import shown

_COMPLETE = "complete"


@dataclass(kw_only=True, slots=True)
class _Round:
    """A round under way, and what of it was not printed yet."""

    sample: Sample
    words: list[str] = field(default_factory=list)
    end: str | None = None
    """Its last line, once it has ended."""
    averages: str | None = None
    """What its length comes to, where it was the last of it."""


class LiveText:
    """Prints every round whole: one as it is written, those that are written beside it after it.

    `samples` are all of the run: they say how many lengths and rounds there are.
    """

    def __init__(self, console: Console, *, samples: Sequence[Sample]) -> None:
        self._console = console
        self._lengths = sorted({sample.context_tokens for sample in samples})
        self._rounds = {
            length: sorted({sample.trial for sample in samples if sample.context_tokens == length})
            for length in self._lengths
        }
        # In the order in which they began; the first is the one that is printed live.
        self._open: dict[str, _Round] = {}

    def began(self, sample: Sample) -> None:
        """A request is sent. A round that begins a second time is written again: what came before is void."""
        key = sample.sample_id
        again = self._open.get(key)
        if again is None:
            self._open[key] = _Round(sample=sample)
            if self._is_live(key):
                self._print_header(sample)
        elif self._is_live(key):
            self._print("\n(broken off, asked again)\n", style="yellow")
        else:
            again.words.clear()

    def wrote(self, sample: Sample, piece: str) -> None:
        """Some more words of a round; one that was not announced begins with them."""
        key = sample.sample_id
        if key not in self._open:
            self.began(sample)
        if self._is_live(key):
            self._print(piece)
        else:
            self._open[key].words.append(piece)

    def ended(
        self,
        sample: Sample,
        *,
        figures: Sequence[str] = (),
        failure: str | None = None,
        averages: str | None = None,
    ) -> None:
        """A round is over, with what its task shows of its figures, and its failure, where it has one.

        `averages` are those of its length, where no other round of it is left.
        """
        key = sample.sample_id
        if key not in self._open:
            self.began(sample)
        self._open[key].end = " · ".join((failure or _COMPLETE, *figures))
        self._open[key].averages = averages
        while self._open:
            first = next(iter(self._open))
            if self._open[first].end is None:
                return
            self._close(first)
            self._open_next()

    def _close(self, key: str) -> None:
        done = self._open.pop(key)
        self._print(f"\n    {done.end}\n\n", style="bold")
        if done.averages is not None:
            self._print(f"{done.averages}\n\n", style="bold green")

    def _open_next(self) -> None:
        """The next round becomes the live one: print what was kept back of it."""
        following = next(iter(self._open.values()), None)
        if following is not None:
            self._print_header(following.sample)
            self._print("".join(following.words))
            following.words.clear()

    def _is_live(self, key: str) -> bool:
        return next(iter(self._open)) == key

    def _print_header(self, sample: Sample) -> None:
        length, rounds = sample.context_tokens, self._rounds.get(sample.context_tokens, [])
        at = f"[{self._lengths.index(length) + 1}/{len(self._lengths)}] " if length in self._lengths else ""
        number = f"{rounds.index(sample.trial) + 1}/{len(rounds)}" if sample.trial in rounds else f"{sample.trial + 1}"
        self._print(f"{at}{phrases.whole(length)} tokens, round {number}\n", style="bold cyan")

    def _print(self, text: str, *, style: str = "") -> None:
        """Line feeds stay; what could move the cursor or set colours is printed as an escape."""
        plain: Text = shown(text, console=self._console, keep="\n")
        self._console.print(plain, style=style or None, end="", highlight=False, soft_wrap=True)
