"""The prose of several runs compared: a contest in every measure, pairs, figures, and runs of Context-Tester."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Image, Line, Lines, Table, columns_of
from contextcliff.reporting.comparison.comparison import (
    ComparedFigure,
    ComparedRun,
    ComparisonPart,
    DecidedRun,
    PartResult,
    ReadingRequest,
)
from contextcliff.reporting.data_files import Row
from contextcliff.reporting.run_names import RunFacts, file_name
from contextcliff.writing.comparison_figures import core_figure, measures_figure
from contextcliff.writing.contest import WritingContest, WritingSide, compare_writing, contest_sentence
from contextcliff.writing.context_tester import (
    TOOL,
    ImportedRun,
    imported_writing,
    is_context_tester,
    read_context_tester,
    remeasured,
)
from contextcliff.writing.levels import level_of
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE, CORE
from contextcliff.writing.measures.readability import WordList, dale_chall
from contextcliff.writing.paired import (
    Differences,
    PairedRounds,
    difference_blocks,
    difference_data,
    differences_notes,
    differences_sentence,
    measure_differences,
)
from contextcliff.writing.phrases import COMPOSITE_TITLES
from contextcliff.writing.prose_findings import CompositeLevel, MeasureLevel, Writing
from contextcliff.writing.task.continuation import Continuation

WORD_LIST, LEAST_LENGTH = "task.word_list", "task.min_tokens_fraction"
"""Keys of the configuration by which measures differ."""
UNSET = "None"
"""What is null in a configuration."""
_OURS = "ContextCliff's rules"


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenRun:
    """A run of a comparison that has prose."""

    run: ComparedRun
    writing: Writing

    @property
    def name(self) -> str:
        """What the run is called in the comparison."""
        return self.run.name

    @property
    def parameters(self) -> Mapping[str, str]:
        """Its configuration, flattened."""
        return self.run.parameters

    @property
    def by_other_rules(self) -> bool:
        """Whether another tool measured it."""
        return bool(self.run.tool) and not self.run.remeasured


def written_runs(runs: Sequence[ComparedRun], *, key: str) -> tuple[WrittenRun, ...]:
    """Those of the runs that have prose at some length, in their order."""
    writings = ((run, run.findings.get(key)) for run in runs)
    return tuple(
        WrittenRun(run=run, writing=writing)
        for run, writing in writings
        if isinstance(writing, Writing) and writing.tiers
    )


def sides(runs: Sequence[WrittenRun]) -> tuple[WritingSide, ...]:
    """The runs as a contest takes them: each with the rules that its measures depend on."""
    word_lists = _word_lists(runs)
    return tuple(
        WritingSide(
            name=run.name,
            writing=run.writing,
            rules=f"{run.run.tool}'s rules" if run.by_other_rules else _OURS,
            word_list=word_lists.get(run.parameters.get(WORD_LIST, ""), ""),
            least_length=run.parameters.get(LEAST_LENGTH, ""),
        )
        for run in runs
    )


def word_list_name(setting: str) -> str:
    """What a configured word list is called: by its file's name."""
    return "the Dale-Chall list" if setting == UNSET else file_name(setting)


def _word_lists(runs: Sequence[WrittenRun]) -> Mapping[str, str]:
    """What each configured list is called; different files of one name have a number too."""
    names: dict[str, str] = {}
    for setting in dict.fromkeys(run.parameters[WORD_LIST] for run in runs if WORD_LIST in run.parameters):
        name, number = word_list_name(setting), 1
        while (unique := name if number == 1 else f"{name} ({number})") in names.values():
            number += 1
        names[setting] = unique
    return names


def imported_run(path: Path, request: ReadingRequest, *, key: str) -> ComparedRun:
    """The run that a file or folder holds, its prose under `key`.

    Where the request says so and every text was kept, the texts are measured by our rules, with the familiar words of
    the request's task where that has a list. Raises `ConfigError` for what can't be read.
    """
    stored = read_context_tester(path, key=request.key)
    again = _familiar_words(request) if stored.keeps_texts and request.remeasure else None
    parameters = _parameters(stored)
    if again is not None:
        words, parameters[WORD_LIST] = again
        stored = remeasured(stored, word_list=words)
    writing = imported_writing(stored, confidence=request.confidence)
    return ComparedRun(
        name=stored.run_id,
        facts=RunFacts(
            run_id=stored.run_id, model=stored.model, dataset=stored.text or None, label=stored.label or None
        ),
        source=str(path),
        parameters=parameters,
        lengths=tuple(tier.context_tokens for tier in writing.tiers),
        report=None,
        findings={key: writing},
        tool=TOOL,
        keeps_texts=stored.keeps_texts,
        remeasured=again is not None,
    )


def _familiar_words(request: ReadingRequest) -> tuple[WordList, str]:
    """By which words texts are measured anew, and how they were configured (`task.word_list`)."""
    if isinstance(request.task, Continuation):
        return request.task.familiar(), request.parameters.get(WORD_LIST, UNSET)
    return dale_chall(), UNSET


def _parameters(stored: ImportedRun) -> dict[str, str]:
    rounds = list(map(len, stored.tiers.values()))
    named: Mapping[str, str] = {
        "model": stored.model,
        "engine": TOOL,
        "text": stored.text,
        "label": stored.label,
        "rounds": " to ".join(dict.fromkeys((str(min(rounds)), str(max(rounds))))),
        "run": stored.run_id,
    }
    return {**{key: value for key, value in named.items() if value}, **stored.parameters}


def paired_differences(
    written: Sequence[WrittenRun], *, decided: Sequence[DecidedRun], baseline: ComparedRun, confidence: float
) -> Differences:
    """The differences of every candidate with prose that has pairs with the baseline; none where that has no prose."""
    by_name = {side.name: side for side in sides(written)}
    base = by_name.get(baseline.name)
    if base is None:
        return {}
    candidates = {
        each.run.name: PairedRounds(side=by_name[each.run.name], pairs=each.pairs)
        for each in decided
        if each.pairs and each.run.name in by_name
    }
    return measure_differences(base, candidates, confidence=confidence)


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
        yield from (f"{run.name}: {warning}" for warning in one.writing.warnings)
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
_CORE, _MEASURES = "writing_core", "writing_measures"


class WritingComparison(ComparisonPart):
    """Who writes better in what: pair by pair against the baseline, and all runs by their means.

    Nothing is compared below two runs with prose.
    """

    key = "writing"
    rule_keys = (WORD_LIST, LEAST_LENGTH, "task.embedding")
    tool = TOOL
    readable = "a CSV file or result folder of Context-Tester"

    def reads(self, path: Path) -> bool:
        return is_context_tester(path)

    def read(self, path: Path, request: ReadingRequest) -> ComparedRun:
        return imported_run(path, request, key=self.key)

    def compare(
        self, runs: Sequence[ComparedRun], *, decided: Sequence[DecidedRun] = (), confidence: float
    ) -> PartResult:
        having = written_runs(runs, key=self.key)
        verdicts = {run.name: {"writing_verdict": str(run.writing.verdict)} for run in having}
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
        compared = sides(having)
        contests = compare_writing(compared, confidence=confidence)
        base = runs[0]
        pairwise = paired_differences(having, decided=decided, baseline=base, confidence=confidence)
        return PartResult(
            title="Writing",
            notes=(*differences_notes(pairwise, confidence=confidence), *writing_notes(runs, having, contests)),
            lines=(
                *(differences_sentence(name, base.name, rows) for name, rows in pairwise.items()),
                *_lines(contests),
            ),
            blocks=(*difference_blocks(pairwise, baseline=base.name), *_blocks(having, contests)),
            figures=_figures(compared, contests),
            data={
                "measures": [_data(contest) for contest in contests],
                "measure_differences": difference_data(pairwise),
            },
            data_of_runs=verdicts,
            columns=columns,
            cells=cells,
        )


def _data(contest: WritingContest) -> dict[str, object]:
    return {**asdict(contest), "reason": str(contest.reason or ""), "sentence": contest_sentence(contest)}


def _lines(contests: Sequence[WritingContest]) -> tuple[str, ...]:
    shown = [contest_sentence(contest) for contest in contests if contest.measure in _ALWAYS or contest.winner]
    rest = len(contests) - len(shown)
    return (*shown, f"{rest} further measures without a winner: comparison.md") if shown and rest else tuple(shown)


def _blocks(runs: Sequence[WrittenRun], contests: Sequence[WritingContest]) -> tuple[Block, ...]:
    if not contests:
        return ()
    head = ("run", "verdict", "texts to read")
    texts = (f"{run.run.folder}/writing.html" if run.run.report else phrases.MISSING for run in runs)
    rows = [(run.name, str(run.writing.verdict), text) for run, text in zip(runs, texts, strict=True)]
    return (
        Table(columns=columns_of(head, rows, words=head)),
        Image(figure=_CORE),
        Lines(lines=tuple(Line(text=contest_sentence(contest)) for contest in contests)),
        Image(figure=_MEASURES),
    )


def _figures(runs: Sequence[WritingSide], contests: Sequence[WritingContest]) -> tuple[ComparedFigure, ...]:
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
