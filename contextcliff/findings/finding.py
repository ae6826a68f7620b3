"""What a finding is to a report: computed once, and then shown wherever a report is shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from contextcliff.records.analysis import Bin
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.records.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contextcliff.analysis.study import Study

R = TypeVar("R")
T = TypeVar("T")
Shown = str | Note
"""A sentence, or text as it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A paragraph, or a line of a list. `strong`: the answer itself; `mood`: `good`, `doubtful`, `bad` or nothing."""

    text: Shown
    label: str = ""
    strong: bool = False
    mood: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Heading:
    """A heading within a finding; the finding's own title is not a block."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairs:
    """Names with their values, in order."""

    rows: tuple[tuple[str, Shown], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lines:
    """A list."""

    lines: tuple[Text, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column of a table. `spare` says what gives way on a narrow console: the highest goes first, 0 never goes.
    `words` is for text, which stands to the left; numbers stand to the right."""

    title: str
    cells: tuple[str, ...]
    spare: int = 0
    words: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Columns of equally many cells."""

    columns: tuple[Column, ...]
    on_console: tuple[int, ...] | None = None
    """Rows that a console shows, counted from 0; None: all."""


Columns = tuple[Column, ...]


def columns_of(titles: Sequence[str], rows: Sequence[Sequence[str]], *, words: Collection[str] = ()) -> Columns:
    """Rows as columns; those called `words` are text."""
    return columns(rows, *((title, itemgetter(place)) for place, title in enumerate(titles)), words=words)


def columns(rows: Iterable[R], *titled: tuple[str, Callable[[R], str]], words: Collection[str] = ()) -> Columns:
    """A column for each title, with a cell for each row; `words` are titles of columns of text."""
    rows = tuple(rows)
    return tuple(Column(title=title, cells=tuple(map(cell, rows)), words=title in words) for title, cell in titled)


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """A figure where it stands: `figures/NAME.png`, and a drawing on a page. Consoles pass it over."""

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """A command or a path: it is copied, so that no line break may enter it."""

    text: str


Block = Text | Heading | Pairs | Lines | Table | Image | Code


PAGE_NAME = "report.html"
"""The whole report for a browser."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """One point of a metric. `step` is a context length in tokens, 0 for a figure of the whole run. What stands before
    the last slash of `key` is the group that charts are sorted by, as in `by_length/score`."""

    key: str
    value: float | None
    step: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishedRun:
    """A report with what the files of a run are written from."""

    report: Report
    scored: Sequence[ScoredSample]
    parameters: Mapping[str, str]
    """The composed configuration, flattened: dotted key to value."""


class Finding(Generic[T]):
    """One finding: a subclass fills in what it has. `record` stands in `report.json` under `key` (None: it shows what
    others found), with `inline` its fields by their own names."""

    key: ClassVar[str]
    title: ClassVar[str]
    """Heading over the finding; empty: none."""
    record: type[T] | None = None
    inline: ClassVar[bool] = False
    page_name: ClassVar[str] = ""
    """A page for a browser beside the report's, which is left out with it; empty: none."""
    cap_rules: ClassVar[Mapping[str, str]] = {}
    """The cap rules that `caps` adds, and what each is."""

    def find(self, study: Study) -> T | None:  # noqa: ARG002
        """The finding, from the scored samples; None where there is none. Pure."""
        return None

    def caps(self, finding: T, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        """What the finding adds to the cap rules: tokens by rule."""
        return {}

    def alarms(self, finding: T, study: Study) -> Mapping[str, float]:  # noqa: ARG002
        """The p-value of each alarm that the finding may raise, by its name; 1 of one that was tested in vain."""
        return {}

    def raised(self, finding: T, study: Study) -> T:  # noqa: ARG002
        """The finding with those alarms alone that the report raises (`Study.raises`)."""
        return finding

    def of(self, report: Report) -> T:
        """The finding in a report. Raises `ValueError` where it has none: `findings_of` leaves it out there."""
        found = None if self.record is None else report.analysis.finding(self.record)
        if found is None:
            raise ValueError(f"the report has no finding {self.key}")
        return found

    def tested(self, report: Report) -> tuple[Bin, ...]:  # noqa: ARG002
        """The lengths by what the cap is tested on, of a finding that has it in the place of scores."""
        return ()

    def short(self, report: Report) -> tuple[Block, ...]:  # noqa: ARG002
        """What the console shows and a report begins with: the answer, its figure, and one table by length."""
        return ()

    def look(self, report: Report) -> tuple[Text, ...]:  # noqa: ARG002
        """What a reader should know beside the answer; nothing where the finding changes nothing for them."""
        return ()

    def show(self, report: Report) -> tuple[Block, ...]:  # noqa: ARG002
        """What stands under the title among the details; nothing where there is nothing more to show."""
        return ()

    def metrics(self, report: Report) -> Iterator[Measurement]:  # noqa: ARG002
        """What is computed of the finding's numbers for charts. The numbers themselves are metrics as they are."""
        return iter(())

    def tags(self, report: Report) -> Mapping[str, str]:  # noqa: ARG002
        """What runs can be filtered by."""
        return {}

    def parameters(self, report: Report) -> Mapping[str, str]:  # noqa: ARG002
        """What the finding adds to the run's parameters on pages of several runs. `text` also tells runs apart."""
        return {}

    def files(self, run: FinishedRun) -> Mapping[str, str]:  # noqa: ARG002
        """Further files that the run leaves: a path below its folder, and the text."""
        return {}

    def page(self, run: FinishedRun) -> str | None:  # noqa: ARG002
        """The text of the finding's own page, `page_name`; None: it has none of this run."""
        return None


FINDINGS: Mapping[str, str] = {
    "contextcliff.findings.answer.AnswerFinding": "",
    "contextcliff.findings.answer.ZonesFinding": "",
    "contextcliff.findings.warnings.WarningsFinding": "",
    "contextcliff.findings.guide.GuideFinding": "",
    "contextcliff.findings.answer_measures.AnswerMeasuresFinding": "answer_measures",
    "contextcliff.findings.score.ScoreFinding": "",
    "contextcliff.findings.search.SearchFinding": "",
    "contextcliff.findings.extrapolation.ExtrapolationFinding": "",
    "contextcliff.writing.writing_finding.WritingFinding": "writing",
    "contextcliff.findings.natural_lengths.NaturalLengthsFinding": "",
    "contextcliff.findings.fitted_length.FittedLengthFinding": "",
    "contextcliff.findings.half_life.HalfLifeFinding": "",
    "contextcliff.findings.position.PositionFinding": "",
    "contextcliff.findings.every_depth.EveryDepthFinding": "",
    "contextcliff.findings.facets.FacetsFinding": "",
    "contextcliff.findings.controls.ControlsFinding": "",
    "contextcliff.findings.judge.JudgeFinding": "",
    "contextcliff.findings.failures.FailuresFinding": "",
    "contextcliff.findings.failures.LatencyFinding": "",
    "contextcliff.findings.kv_cache.KVCacheFinding": "",
    "contextcliff.findings.entropy.EntropyFinding": "",
    "contextcliff.findings.appendix.TookFinding": "",
    "contextcliff.findings.appendix.NotesFinding": "",
    "contextcliff.findings.appendix.MethodFinding": "",
    "contextcliff.findings.appendix.CapRulesFinding": "",
    "contextcliff.findings.appendix.FurtherFiguresFinding": "",
    "contextcliff.findings.appendix.RunFinding": "",
}
"""The class of each finding, in the order of the report, and the key of one that few runs have: its module is imported
where a task or a report names it, and nowhere else."""


def findings_with(findings: Collection[str] = ()) -> tuple[Finding[Any], ...]:
    """Every finding that all runs have, and those of `findings`, in the order of the list."""
    return tuple(loaded(path) for path, only_for in FINDINGS.items() if not only_for or only_for in findings)


def findings_of(report: Report) -> tuple[Finding[Any], ...]:
    """The findings that a report has: those without a record, and those whose finding it has."""
    listed = findings_with(report.analysis.findings)
    return tuple(each for each in listed if each.record is None or report.analysis.finding(each.record) is not None)


def tested_lengths(report: Report) -> tuple[Bin, ...]:
    """The lengths by what the cap is tested on: their scores, or what a finding has in that place."""
    return next(filter(None, (each.tested(report) for each in findings_of(report))), report.analysis.lengths)


def images_of(report: Report) -> dict[str, Image]:
    """The figures of a report by name, in the order in which it shows them; what has no data is not among them."""
    blocks = (block for finding in findings_of(report) for block in (*finding.short(report), *finding.show(report)))
    return {block.name: block for block in blocks if isinstance(block, Image)}


@cache
def loaded(path: str) -> Any:
    """The only one of a class, `package.module.Class`."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)()
