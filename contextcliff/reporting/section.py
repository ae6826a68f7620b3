"""What a finding is to a report: computed once, and then shown wherever a report is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.blocks import Block, Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contextcliff.analysis.study import Study
    from contextcliff.reporting.page.chart import Chart

PAGE_NAME = "report.html"
"""The whole report for a browser."""
T = TypeVar("T")

Draw = Callable[[Report, Sequence[ScoredSample]], "Figure"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FigureOf:
    """A figure of a section: `figures/NAME.png`, drawn only where the report has data for it.

    `draw` gets the report and the run's scored samples.
    """

    name: str
    caption: str
    has_data: Callable[[Report], bool]
    draw: Draw
    chart: Callable[[Report], Chart] | None = None
    """The same for a reader who can point at it; None: a page has the figure as it is drawn."""


def from_finding(record: type[T], draw: Callable[[Report, T], Figure]) -> Draw:
    """A drawing of a report and one of its findings. Raises `ValueError` where the report has no such finding."""

    def drawn(report: Report, _: Sequence[ScoredSample]) -> Figure:
        finding = report.analysis.finding(record)
        if finding is None:
            raise ValueError(f"the report has no {record.__name__} to draw")
        return draw(report, finding)

    return drawn


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """One point of a metric. `step` is a context length in tokens, 0 for a figure of the whole run.

    What stands before the last slash of `key` is the group that charts are sorted by, as in `by_length/score`.
    """

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


class Section(Generic[T]):
    """One finding. A subclass fills in what the finding has; everything but `key` and `title` may be left out.

    `record` is what stands in `report.json` under `key` (None: the section shows what other sections computed and
    adds nothing to the file). With `inline` the fields of the record stand there by their own names instead.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    """Heading over the section; empty: none."""
    title_note: ClassVar[str] = ""
    """What the console says in brackets behind the title, as a unit."""
    record: type[T] | None = None
    inline: ClassVar[bool] = False
    folded: ClassVar[bool] = False
    """Whether a page of HTML opens it only on a click."""
    figures: ClassVar[tuple[FigureOf, ...]] = ()
    page_name: ClassVar[str] = ""
    """A page for a browser beside the report's, which is left out with it; empty: none."""
    cap_rules: ClassVar[Mapping[str, str]] = {}
    """The cap rules that `caps` adds, and what each is."""

    def compute(self, study: Study) -> T | None:  # noqa: ARG002
        """The finding, from the scored samples; None where there is none. Pure."""
        return None

    def caps(self, finding: T, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        """What the finding adds to the cap rules: tokens by rule."""
        return {}

    def of(self, report: Report) -> T | None:
        """The finding in a report; None where it has none."""
        return None if self.record is None else report.analysis.finding(self.record)

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:  # noqa: ARG002
        """Lines for the console's list of what was found beside the cap: a name and a value each."""
        return ()

    def short(self, report: Report) -> tuple[Block, ...]:  # noqa: ARG002
        """What the console shows under the title; nothing: the console leaves the section out."""
        return ()

    def full(self, report: Report) -> tuple[Block, ...]:
        """What a page shows under the title; nothing: the page leaves the section out."""
        return self.short(report)

    def metrics(self, report: Report) -> Iterator[Measurement]:  # noqa: ARG002
        """The finding's figures that are numbers, for charts over runs and lengths."""
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
        """The text of the section's own page, `page_name`; None: it has none of this run."""
        return None

    def names_of_files(self, report: Report) -> str:  # noqa: ARG002
        """What the console says of those files; empty: nothing."""
        return ""
