"""What a comparison of several runs holds, and its rows: one a run, and one a run and length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block
from contextcliff.records.comparison import LengthDifference, PairedDecision, ScoredPair
from contextcliff.records.published import PublishedCurve
from contextcliff.records.report import Report
from contextcliff.reporting.data_files import Row
from contextcliff.reporting.run_names import RunFacts, file_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedRun:
    """A run of ours, with its report, or one of another tool, without."""

    name: str
    facts: RunFacts
    """What the name is made of."""
    source: str
    """The folder or file that it was read from."""
    parameters: Mapping[str, str]
    """Dotted key to value, in the order in which they are shown."""
    lengths: tuple[int, ...]
    """The tested lengths in tokens, ascending."""
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
        """Id of the run, by its own tool."""
        return self.facts.run_id

    @property
    def folder(self) -> str:
        """The last part of the source: it tells two reports of one run apart."""
        return file_name(self.source)


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
    fetch: Callable[[str], Path]
    """The folder of a run by a tracker's id."""


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
        """The findings of several runs side by side; `runs` are all that are compared, with or without the finding.

        `decided` are the candidates with their pairs, all runs but the first; none: runs only stand side by side.
        """
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
    baseline: ComparedRun | None = None
    """The run that the others are decided against; None where runs only stand side by side."""
    decided: tuple[DecidedRun, ...] = ()
    """Every other run, in the order of `runs`."""
    published: tuple[PublishedCurve, ...] = ()
    """What others have published, to look at beside the runs: nothing is decided by it."""


def cap(run: ComparedRun) -> str:
    """The safe cap of a run."""
    if run.report is None:
        return phrases.MISSING
    tokens = run.report.analysis.safe_cap.tokens
    return "none" if tokens is None else f"{tokens:,}"


def shape(run: ComparedRun) -> str:
    """How its scores run over length, and whether that is shown; of an older report its verdict."""
    if run.report is None:
        return f"by {run.tool}"
    cap = run.report.analysis.safe_cap
    if cap.shape is None:
        return cap.verdict.replace("_", " ")
    return cap.shape if cap.evidence == "settled" else f"{cap.shape}, {cap.evidence}"


def score(run: ComparedRun) -> str:
    """The mean over all its samples."""
    return (
        phrases.MISSING if run.report is None or run.report.analysis.mean is None else f"{run.report.analysis.mean:.3f}"
    )


def lengths(run: ComparedRun) -> str:
    """How many lengths, and from which to which."""
    return lengths_in_short(run.lengths)


def lengths_in_short(tokens: Sequence[int]) -> str:
    """The same of lengths in ascending order."""
    if len(tokens) < 2:
        return f"{tokens[0]:,}" if tokens else phrases.MISSING
    return f"{len(tokens)}: {tokens[0]:,}-{tokens[-1]:,}"


def length_rows(comparison: Comparison) -> list[Row]:
    """A row a run and length in tokens: its score, and the columns of every part."""
    return [row for run in comparison.runs for row in _of_run(run, comparison.parts, comparison.decided)]


def _of_run(run: ComparedRun, parts: Sequence[PartResult], decided: Sequence[DecidedRun]) -> list[Row]:
    report = run.report
    decision = next((each.decision for each in decided if each.run.name == run.name), None)
    differences = {each.context_tokens: each for each in decision.lengths} if decision else {}
    identity: Row = {
        "run": run.name,
        "run_id": run.run_id,
        "task": report.run.task if report else run.parameters.get("task"),
        "model": run.parameters.get("model"),
        "kv_policy": report.run.kv_policy if report else None,
        "rope": report.run.rope or None if report else None,
        "dataset": report.run.dataset if report else None,
        "label": run.parameters.get("label") or None,
    }
    bins = {a_bin.asked_tokens: a_bin for a_bin in report.analysis.bins} if report else {}
    rows = []
    for tokens in run.lengths:
        a_bin = bins.get(tokens)
        row: Row = {
            **identity,
            "context_length": tokens,
            "score": a_bin.mean if a_bin else None,
            "score_std": a_bin.std if a_bin else None,
            "score_n": a_bin.n_samples if a_bin else None,
        }
        row |= _difference_cells(differences.get(tokens)) if decided else {}
        for part in parts:
            row |= dict.fromkeys(part.columns) | part.cells.get((run.name, tokens), {})
        rows.append(row)
    return rows


def _difference_cells(of_length: LengthDifference | None) -> Row:
    """The columns of the difference from the baseline, empty for the baseline itself."""
    difference = None if of_length is None else of_length.difference
    return {
        "difference": difference.mean if difference else None,
        "difference_low": difference.low if difference else None,
        "difference_high": difference.high if difference else None,
        "difference_pairs": difference.n_pairs if difference else None,
        "p_worse": of_length.p_worse if of_length else None,
    }
