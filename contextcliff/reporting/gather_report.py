"""What was gathered, on the console: a row for each store, what the tracker got, and what is left to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from contextcliff.errors import visible

_MOST_SHOWN = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class GatheredStore:
    """What another output folder brought."""

    place: Path
    runs: int
    new_runs: int
    generations: int
    new_generations: int
    other_answers: int
    """Answers that both have and that differ: the one that was here stays."""
    joined: tuple[Path, ...]
    """Folders of runs of both, whose reports are of other answers than the store has now."""
    copied: tuple[Path, ...]
    """Run folders that were missing or older here."""
    left_out: tuple[str, ...]
    """A line for each run folder that was not copied though it is not here."""


def render_gathered(
    stores: Sequence[GatheredStore],
    *,
    output_dir: Path,
    uploaded: Sequence[Path],
    there: int,
    failed: Sequence[tuple[Path, str]],
    untried: int,
    keeps: bool,
) -> None:
    """Print it on stdout. `keeps` is whether the tracker keeps runs at all."""
    from rich.console import Console
    from rich.text import Text

    console = Console()

    def say(line: str) -> None:
        console.print(Text(visible(line)), soft_wrap=True)

    if stores:
        say(f"GATHERED in {output_dir}")
        _table(stores, console)
        for store in stores:
            for line in store.left_out[:_MOST_SHOWN]:
                say(f"  left out: {line}")
            if store.other_answers:
                others = f"{store.other_answers:,} of its answers were given otherwise here"
                say(f"  {store.place}: {others}; those here stay")
        for folder in dict.fromkeys(folder for store in stores for folder in store.joined):
            again = f"python -m contextcliff action=analyze run={quote(str(folder))}"
            say(f"  {folder.name} is of several stores now; report its answers with: {again}")
    if not keeps:
        say("TRACKING nothing: tracking=none keeps no runs")
        return
    rest = f", {untried:,} not tried" if untried else ""
    say(f"TRACKING {len(uploaded):,} uploaded, {there:,} there already, {len(failed):,} failed{rest}")
    for folder in uploaded[:_MOST_SHOWN]:
        say(f"  uploaded: {folder}")
    if len(uploaded) > _MOST_SHOWN:
        say(f"  … and {len(uploaded) - _MOST_SHOWN:,} more")
    for folder, why in failed[:_MOST_SHOWN]:
        say(f"  failed: {folder}: {why}")


def _table(stores: Sequence[GatheredStore], console: object) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    assert isinstance(console, Console)
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("store", overflow="fold")
    for title in ("runs", "new", "answers", "new", "folders copied"):
        table.add_column(title, justify="right", no_wrap=True)
    for store in stores:
        figures = (store.runs, store.new_runs, store.generations, store.new_generations, len(store.copied))
        table.add_row(Text(visible(str(store.place))), *(f"{figure:,}" for figure in figures))
    console.print(table)
