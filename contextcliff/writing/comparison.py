"""The prose of several runs compared: a contest in every measure, pairs, figures, and runs of Context-Tester."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Image, Lines, Table, Text, columns
from contextcliff.reporting.comparison.comparison import (
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
    difference_blocks,
    difference_data,
    differences_notes,
    differences_sentence,
    measure_differences,
)
from contextcliff.writing.phrases import COMPOSITE_TITLES
from contextcliff.writing.prose_findings import Writing, WritingTier
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
    def by_other_rules(self) -> bool:
        """Whether another tool measured it."""
        return bool(self.run.tool) and not self.run.remeasured


def sides(runs: Sequence[WrittenRun]) -> tuple[WritingSide, ...]:
    """The runs as a contest takes them: each with the rules that its measures depend on."""
    word_lists = _word_lists(runs)
    return tuple(
        WritingSide(
            name=one.run.name,
            writing=one.writing,
            rules=f"{one.run.tool}'s rules" if one.by_other_rules else _OURS,
            word_list=word_lists.get(one.run.parameters.get(WORD_LIST, ""), ""),
            least_length=one.run.parameters.get(LEAST_LENGTH, ""),
        )
        for one in runs
    )


def word_list_name(setting: str) -> str:
    """What a configured word list is called: by its file's name."""
    return "the Dale-Chall list" if setting == UNSET else file_name(setting)


def _word_lists(runs: Sequence[WrittenRun]) -> Mapping[str, str]:
    """What each configured list is called; different files of one name have a number too."""
    names: dict[str, str] = {}
    settings = (one.run.parameters.get(WORD_LIST) for one in runs)
    for setting in dict.fromkeys(setting for setting in settings if setting is not None):
        name, number = word_list_name(setting), 1
        while (unique := name if number == 1 else f"{name} ({number})") in names.values():
            number += 1
        names[setting] = unique
    return names


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
        if len({one.run.parameters[key] for one in written if key in one.run.parameters}) > 1:
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
    mixed = len({one.run.tool if one.by_other_rules else "" for one in written}) > 1
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
    """Who writes better in what: pair by pair against the baseline, and all runs by their means."""

    key = "writing"
    rule_keys = (WORD_LIST, LEAST_LENGTH, "task.embedding")
    tool = TOOL
    readable = "a CSV file or result folder of Context-Tester"

    def reads(self, path: Path) -> bool:
        return is_context_tester(path)

    def read(self, path: Path, request: ReadingRequest) -> ComparedRun:
        stored = read_context_tester(path, key=request.key)
        parameters = _parameters(stored)
        is_measured_again = request.remeasure and stored.keeps_texts
        if is_measured_again:
            words, parameters[WORD_LIST] = _familiar_words(request)
            stored = remeasured(stored, word_list=words)
        return ComparedRun(
            name=stored.run_id,
            facts=RunFacts(
                run_id=stored.run_id, model=stored.model, dataset=stored.text or None, label=stored.label or None
            ),
            source=str(path),
            parameters=parameters,
            lengths=tuple(stored.tiers),
            report=None,
            findings={self.key: imported_writing(stored, confidence=request.confidence)},
            tool=TOOL,
            keeps_texts=stored.keeps_texts,
            remeasured=is_measured_again,
        )

    def compare(
        self, runs: Sequence[ComparedRun], *, decided: Sequence[DecidedRun] = (), confidence: float
    ) -> PartResult:
        having = [
            WrittenRun(run=run, writing=writing)
            for run in runs
            if isinstance(writing := run.findings.get(self.key), Writing) and writing.tiers
        ]
        result = PartResult(
            title="Writing",
            notes=tuple(imported_notes(having)),
            data_of_runs={one.run.name: {"writing_verdict": str(one.writing.verdict)} for one in having},
            columns=tuple(column for name in _NAMES for column in (name, f"{name}_std", f"{name}_n")),
            cells={(one.run.name, tier.context_tokens): _cells(tier) for one in having for tier in one.writing.tiers},
        )
        if len(having) < 2:
            return result
        compared = sides(having)
        contests = compare_writing(compared, confidence=confidence)
        base = runs[0]
        by_name = {side.name: side for side in compared}
        pairs = [(by_name[each.run.name], each.pairs) for each in decided if each.pairs and each.run.name in by_name]
        pairwise = measure_differences(by_name[base.name], pairs, confidence=confidence) if base.name in by_name else {}
        return replace(
            result,
            notes=(*differences_notes(pairwise, confidence=confidence), *writing_notes(runs, having, contests)),
            lines=(
                *(differences_sentence(name, base.name, rows) for name, rows in pairwise.items()),
                *_lines(contests),
            ),
            blocks=(*difference_blocks(pairwise, baseline=base.name), *_blocks(having, compared, contests)),
            data={
                "measures": [_data(contest) for contest in contests],
                "measure_differences": difference_data(pairwise),
            },
        )


def _data(contest: WritingContest) -> dict[str, object]:
    return {**asdict(contest), "reason": str(contest.reason or ""), "sentence": contest_sentence(contest)}


def _lines(contests: Sequence[WritingContest]) -> tuple[str, ...]:
    shown = [contest_sentence(contest) for contest in contests if contest.measure in _ALWAYS or contest.winner]
    rest = len(contests) - len(shown)
    return (*shown, f"{rest} further measures without a winner: comparison.md") if shown and rest else tuple(shown)


def _blocks(
    runs: Sequence[WrittenRun], compared: Sequence[WritingSide], contests: Sequence[WritingContest]
) -> tuple[Block, ...]:
    if not contests:
        return ()
    table = columns(
        runs,
        ("run", lambda one: one.run.name),
        ("verdict", lambda one: str(one.writing.verdict)),
        ("texts to read", lambda one: f"{one.run.folder}/writing.html" if one.run.report else phrases.MISSING),
        words=("run", "verdict", "texts to read"),
    )
    every = partial(measures_figure, compared, measures=[contest.measure for contest in contests])
    return (
        Table(columns=table),
        Image(name=_CORE, caption="The core measures by context length", draw=partial(core_figure, compared)),
        Lines(lines=tuple(Text(text=contest_sentence(contest)) for contest in contests)),
        Image(name=_MEASURES, caption="Every measure by context length", draw=every),
    )


def _cells(tier: WritingTier) -> Row:
    row: Row = {}
    for name in _NAMES:
        level = level_of(tier, name)
        if level.mean is not None:
            row |= {name: level.mean, f"{name}_std": level.std, f"{name}_n": level.n}
    return row
