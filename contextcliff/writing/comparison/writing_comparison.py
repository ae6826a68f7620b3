"""The prose of several runs compared: a contest in every measure, figures, columns and a page for a browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from contextcliff.findings.finding import Block, Column, Image, Line, Lines, Table
from contextcliff.reporting.comparison.comparison import (
    ComparedFigure,
    ComparedRun,
    ComparisonPart,
    DecidedRun,
    PartResult,
    ReadingRequest,
)
from contextcliff.reporting.data_files import Row
from contextcliff.reporting.report_facts import Headline
from contextcliff.reporting.words import english
from contextcliff.writing.analysis.contest import WritingContest, compare_writing
from contextcliff.writing.analysis.draws import level_of
from contextcliff.writing.comparison.comparison_figures import core_figure, measures_figure
from contextcliff.writing.comparison.paired_writing import (
    difference_blocks,
    difference_data,
    difference_lines,
    difference_notes,
    paired_differences,
)
from contextcliff.writing.comparison.runs_page import WritingRun, page_of
from contextcliff.writing.comparison.written_run import (
    LEAST_LENGTH,
    UNSET,
    WORD_LIST,
    WrittenRun,
    imported_run,
    sides,
    word_list_name,
    written_runs,
)
from contextcliff.writing.context_tester.results import is_context_tester
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE, CORE
from contextcliff.writing.prose_findings import CompositeLevel, MeasureLevel
from contextcliff.writing.words.english_writing import COMPOSITE_TITLES, contest_sentence, say

_SHARED = {
    WORD_LIST: f"familiar words come from different lists ({WORD_LIST}): nobody wins in cloze scores, unfamiliar words "
    "and composites",
    LEAST_LENGTH: f"text counts as missing from different lengths on ({LEAST_LENGTH}): nobody wins in missing text "
    "and the composite",
    "task.max_tokens": "answers have different lengths (task.max_tokens), on which raw figures of diversity, "
    "repetition and copying depend; z-scores are taken at equal length",
}
"""Settings that make a measure another one, where runs differ in them."""


def writing_notes(
    runs: Sequence[ComparedRun], written: Sequence[WrittenRun], contests: Sequence[WritingContest]
) -> Iterator[str]:
    """A sentence a note. `written` are at least two of `runs`."""
    having = [one.run for one in written]
    without = [run.name for run in runs if run not in having]
    if without:
        yield f"left out of the writing part, since nothing of theirs was written: {', '.join(without)}"
    yield from _texts(written)
    for key, sentence in _SHARED.items():
        if len({run.parameters[key] for run in written if key in run.parameters}) > 1:
            yield sentence
    yield from imported_notes(written)
    intervals = sum(contest.ci_low is not None for contest in contests)
    if intervals:
        yield (
            f"an interval covers one difference between two runs; it does not cover the choice among {intervals} "
            f"measures and {len(written)} runs: among so many some differ by chance"
        )


def imported_notes(written: Sequence[WrittenRun]) -> Iterator[str]:
    """What is to be known of the runs of another tool, be it one alone."""
    mixed = len({(run.run.tool if run.by_other_rules else "") for run in written}) > 1
    for one in written:
        run = one.run
        if not run.tool:
            continue
        yield from (f"{run.name}: {say(warning)}" for warning in one.writing.warnings)
        if one.by_other_rules and mixed:
            kept = "action.remeasure=true measures its texts by ours" if run.keeps_texts else "its texts were not kept"
            yield (
                f"{run.name} was measured by {run.tool}, whose words, sentences and familiar words are other than ours "
                f"({kept}): its figures are drawn, and nobody wins between them and ours"
            )
        elif run.remeasured:
            words = word_list_name(run.parameters.get(WORD_LIST, UNSET))
            yield (
                f"{run.name}: its texts were measured by our rules, familiar words by {words}; coherence is as "
                f"{run.tool} stored it"
            )


def _texts(written: Sequence[WrittenRun]) -> Iterator[str]:
    ours = [one.writing for one in written if not one.run.tool]
    texts = list(dict.fromkeys(one.writing.document_id for one in written))
    if len(texts) > 1:
        yield f"the runs go on with different texts ({', '.join(texts)}): a difference may be the texts'"
    elif len({writing.continuation_point for writing in ours}) > 1:
        yield (
            "the runs go on from different points of the text: a difference may be the place's; runs with the same "
            "text, tokenizer, longest context and task.max_tokens share theirs"
        )


_ALWAYS = frozenset({COMPOSITE, CLASSIC_COMPOSITE, *CORE})
"""What the console says whether or not anybody wins; of the other measures those that somebody wins."""
_NAMES = (*COMPOSITE_TITLES, *BY_NAME)
_CORE, _MEASURES, PAGE = "writing_core", "writing_measures", "writing.html"


class WritingComparison(ComparisonPart):
    """Who writes better in what: pair by pair against the baseline, and all runs by their means.

    Nothing is compared below two runs with prose.
    """

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

    def compare(
        self, runs: Sequence[ComparedRun], *, decided: Sequence[DecidedRun] = (), confidence: float
    ) -> PartResult:
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
        base = runs[0]
        pairwise = paired_differences(having, decided=decided, baseline=base, confidence=confidence)
        page = [_on_page(run) for run in having]
        return PartResult(
            title="Writing",
            notes=(*difference_notes(pairwise, confidence=confidence), *writing_notes(runs, having, contests)),
            lines=(*difference_lines(pairwise, baseline=base.name), *_lines(contests)),
            blocks=(*difference_blocks(pairwise, baseline=base.name), *_blocks(having, contests)),
            figures=_figures(having, contests),
            files={PAGE: partial(page_of, page)},
            data={
                "measures": [_data(contest) for contest in contests],
                "measure_differences": difference_data(pairwise),
            },
            data_of_runs=verdicts,
            columns=columns,
            cells=cells,
        )


def _on_page(run: WrittenRun) -> WritingRun:
    report = run.run.report
    return WritingRun(
        name=run.name,
        parameters=run.parameters,
        writing=run.writing,
        cap="" if report is None else english.say(Headline(cap=report.analysis.safe_cap)),
        folder="" if report is None else run.run.folder,
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
