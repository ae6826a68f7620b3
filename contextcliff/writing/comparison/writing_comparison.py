"""The prose of several runs compared: a contest in every measure, figures, columns and a page for a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from contextcliff.reporting.blocks import Block, Column, Image, Line, Lines, Table
from contextcliff.reporting.comparison.comparison import (
    ComparedFigure,
    ComparedRun,
    ComparisonPart,
    PartResult,
    ReadingRequest,
)
from contextcliff.reporting.data_files import Row
from contextcliff.writing.analysis.contest import WritingContest, compare_writing
from contextcliff.writing.analysis.levels import level_of
from contextcliff.writing.comparison.comparison_figures import core_figure, measures_figure
from contextcliff.writing.comparison.comparison_notes import imported_notes, writing_notes
from contextcliff.writing.comparison.imported_runs import imported_run
from contextcliff.writing.comparison.written_run import LEAST_LENGTH, WORD_LIST, WrittenRun, sides, written_runs
from contextcliff.writing.context_tester.results import is_context_tester
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE, CORE
from contextcliff.writing.prose_findings import CompositeLevel, MeasureLevel
from contextcliff.writing.sections.writing_page import WritingRun, page_of
from contextcliff.writing.words.contest_words import COMPOSITE_TITLES, contest_sentence
from contextcliff.writing.words.english_writing import say

_ALWAYS = frozenset({COMPOSITE, CLASSIC_COMPOSITE, *CORE})
"""What the console says whether or not anybody wins; of the other measures those that somebody wins."""
_NAMES = (*COMPOSITE_TITLES, *BY_NAME)
_CORE, _MEASURES, PAGE = "writing_core", "writing_measures", "writing.html"


class WritingComparison(ComparisonPart):
    """Who writes better in what. Nothing is compared below two runs with prose."""

    key = "writing"
    rule_keys = (WORD_LIST, LEAST_LENGTH, "task.embedding")
    tool = "Context-Tester"
    readable = "a CSV file or result folder of Context-Tester"

    def reads(self, path: Path) -> bool:
        """Whether a path looks like results of Context-Tester."""
        return is_context_tester(path)

    def read(self, path: Path, request: ReadingRequest) -> ComparedRun:
        """A run of Context-Tester."""
        return imported_run(path, request, key=self.key)

    def compare(self, runs: Sequence[ComparedRun], *, confidence: float) -> PartResult:
        """The contests of all measures that some run has, with what is drawn and written of them."""
        having = written_runs(runs, key=self.key)
        verdicts = {run.name: {"writing_verdict": say(run.writing.verdict)} for run in having}
        columns = tuple(column for name in _NAMES for column in (name, f"{name}_std", f"{name}_n"))
        cells = {
            (run.name, tier.context_tokens): _cells([level_of(tier, name) for name in _NAMES])
            for run in having
            for tier in run.writing.tiers
        }
        if len(having) < 2:
            return PartResult(
                title="Writing",
                notes=tuple(imported_notes(having)),
                data_of_runs=verdicts,
                columns=columns,
                cells=cells,
            )
        contests = compare_writing(sides(having), confidence=confidence)
        page = [WritingRun(name=run.name, parameters=run.parameters, writing=run.writing) for run in having]
        return PartResult(
            title="Writing",
            notes=tuple(writing_notes(runs, having, contests)),
            lines=_lines(contests),
            blocks=_blocks(having, contests),
            figures=_figures(having, contests),
            files={PAGE: partial(page_of, page)},
            data={"measures": [_data(contest) for contest in contests]},
            data_of_runs=verdicts,
            columns=columns,
            cells=cells,
        )


def _data(contest: WritingContest) -> dict[str, object]:
    """A contest in `comparison.json`."""
    reason = "" if contest.reason is None else say(contest.reason)
    return {**asdict(contest), "reason": reason, "sentence": contest_sentence(contest)}


def _lines(contests: Sequence[WritingContest]) -> tuple[str, ...]:
    shown = [contest_sentence(contest) for contest in contests if contest.measure in _ALWAYS or contest.winner]
    rest = len(contests) - len(shown)
    return (*shown, f"{rest} further measures without a winner: comparison.md") if shown and rest else tuple(shown)


def _blocks(runs: Sequence[WrittenRun], contests: Sequence[WritingContest]) -> tuple[Block, ...]:
    if not contests:
        return ()
    names, verdicts = tuple(run.name for run in runs), tuple(say(run.writing.verdict) for run in runs)
    return (
        Table(
            columns=(
                Column(title="run", cells=names, words=True),
                Column(title="verdict", cells=verdicts, words=True),
            )
        ),
        Image(figure=_CORE),
        Lines(lines=tuple(Line(text=contest_sentence(contest)) for contest in contests)),
        Image(figure=_MEASURES),
    )


def _figures(runs: Sequence[WrittenRun], contests: Sequence[WritingContest]) -> tuple[ComparedFigure, ...]:
    if not contests:
        return ()
    measures = [contest.measure for contest in contests]
    return (
        ComparedFigure(name=_CORE, caption="The core measures by context length", draw=partial(core_figure, runs)),
        ComparedFigure(
            name=_MEASURES,
            caption="Every measure by context length",
            draw=partial(measures_figure, runs, measures=measures),
        ),
    )


def _cells(levels: Sequence[MeasureLevel | CompositeLevel]) -> Row:
    row: Row = {}
    for name, level in zip(_NAMES, levels, strict=True):
        if level.mean is not None:
            row |= {name: level.mean, f"{name}_std": level.std, f"{name}_n": level.n}
    return row
