"""What a kind of finding adds to a comparison of runs. A part is loaded only where a compared run needs it.

The core compares caps, scores and lengths. A package with findings of its own, as the one of writing, subclasses
`ComparisonPart` and is named in `part_list`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from contextcliff.reporting.blocks import Block
from contextcliff.reporting.comparison.compared_run import ComparedRun
from contextcliff.reporting.data_files import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedFigure:
    """A figure of several runs: `NAME.png` in the folder of the comparison."""

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True, kw_only=True, slots=True)
class PartResult:
    """What a part says of the runs that are compared."""

    title: str
    """Heading over its lines and blocks."""
    notes: tuple[str, ...] = ()
    """What a reader has to know before the figures."""
    lines: tuple[str, ...] = ()
    """What the console says, a sentence each."""
    blocks: tuple[Block, ...] = ()
    """What the page shows; an `Image` names a figure of `figures`."""
    figures: tuple[ComparedFigure, ...] = ()
    files: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    """Further files by name, each as its text when it is written."""
    data: Mapping[str, object] = field(default_factory=dict)
    """Keys of `comparison.json` with their values."""
    data_of_runs: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Further keys of a run there, by the run's name."""
    columns: tuple[str, ...] = ()
    """Columns of `comparison.csv`."""
    cells: Mapping[tuple[str, int], Row] = field(default_factory=dict)
    """Its cells there, by name of the run and context length in tokens; one that is missing is empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingRequest:
    """How runs of other tools are to be read."""

    key: str
    """The configuration key that names the path, for error messages."""
    task: object
    """The invocation's task: a part of the task's own package takes settings from it."""
    parameters: Mapping[str, str]
    """The invocation's flattened configuration."""
    remeasure: bool
    """Whether answers that the other tool kept are measured by our rules."""
    confidence: float


class ComparisonPart:
    """Compares one kind of finding. `key` is the finding's name in a report."""

    key: ClassVar[str]
    rule_keys: ClassVar[tuple[str, ...]] = ()
    """Keys of a judging rule in which compared runs may differ, because the part says what follows from that."""
    tool: ClassVar[str] = ""
    """The other tool whose runs it reads; empty: none."""
    readable: ClassVar[str] = ""
    """What it reads of that tool, for error messages."""

    def reads(self, path: Path) -> bool:  # noqa: ARG002
        """Whether an existing path looks like a run of the other tool."""
        return False

    def read(self, path: Path, request: ReadingRequest) -> ComparedRun:
        """A run of the other tool, named by its id. Raises `ConfigError` for what can't be read."""
        raise NotImplementedError

    def compare(self, runs: Sequence[ComparedRun], *, confidence: float) -> PartResult:
        """The findings of several runs side by side; `runs` are all that are compared, with or without the finding."""
        raise NotImplementedError
