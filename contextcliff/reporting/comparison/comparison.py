"""What a comparison of several runs holds, and its parts, each imported only where a compared run has its finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, loaded
from contextcliff.records.comparison import PairedDecision, ScoredPair
from contextcliff.records.published import PublishedCurve
from contextcliff.records.report import Report
from contextcliff.reporting.data_files import Row
from contextcliff.reporting.run_names import RunFacts, file_name


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedRun:
    """A run of ours, with its report, or one of another tool, without."""

    name: str
    facts: RunFacts
    """What the name is made of."""
    source: str
    """The folder or file that it was read from."""
    parameters: Mapping[str, str]
    lengths: tuple[int, ...]
    report: Report | None
    findings: Mapping[str, object]
    """What a comparison part compares, by the part's key."""
    tool: str = ""
    """Whose run it is, where it isn't ours."""
    keeps_texts: bool = False
    """Whether the answers of another tool's run are at hand."""
    remeasured: bool = False
    """Whether those answers were measured by our rules."""

    @property
    def run_id(self) -> str:
        return self.facts.run_id

    @property
    def folder(self) -> str:
        """The last part of the source: it tells two reports of one run apart."""
        return file_name(self.source)

    @property
    def cap(self) -> str:
        return phrases.MISSING if self.report is None else self.report.analysis.safe_cap.in_short


@dataclass(frozen=True, kw_only=True, slots=True)
class PartResult:
    """What a part says of the runs that are compared."""

    title: str
    notes: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    """What the console says, a sentence each."""
    blocks: tuple[Block, ...] = ()
    """What the page shows; a figure of it is `NAME.png` in the folder of the comparison."""
    data: Mapping[str, object] = field(default_factory=dict)
    data_of_runs: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Further keys of a run there, by the run's name."""
    columns: tuple[str, ...] = ()
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

    def compare(
        self, runs: Sequence[ComparedRun], *, decided: Sequence[DecidedRun] = (), confidence: float
    ) -> PartResult:
        """The findings of all compared runs side by side; `decided` are the candidates, all runs but the first."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True, slots=True)
class DecidedRun:
    """A candidate, and what was decided of it against the baseline."""

    run: ComparedRun
    decision: PairedDecision | None
    """None where there is no pair to decide by."""
    why_none: str = ""
    """The reason then, as the end of a sentence."""
    pairs: tuple[ScoredPair, ...] = ()
    """Its samples beside the baseline's; none of a run of another tool."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Several runs, how their findings compare, and what a reader has to know of it."""

    name: str
    runs: tuple[ComparedRun, ...]
    parts: tuple[PartResult, ...]
    notes: tuple[str, ...]
    decided: tuple[DecidedRun, ...]
    """Every run but the baseline, in the order of `runs`."""
    published: tuple[PublishedCurve, ...] = ()
    """What others have published, to look at beside the runs: nothing is decided by it."""

    @property
    def baseline(self) -> ComparedRun:
        return self.runs[0]


PARTS = {
    "writing": "contextcliff.writing.comparison.WritingComparison",
    "kv_cache": "contextcliff.reporting.comparison.kv_comparison.KVComparison",
}
"""Each part's class by the finding that it compares."""


def parts_with(findings: Iterable[str]) -> tuple[ComparisonPart, ...]:
    """The parts that compare some of these findings, loaded, in the order of the list."""
    keys = frozenset(findings)
    return tuple(loaded(path) for key, path in PARTS.items() if key in keys)
