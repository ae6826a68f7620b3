"""The prose of several runs compared: a contest in every measure, pairs, figures, and runs of Context-Tester."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
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
from contextcliff.writing import context_tester, paired
from contextcliff.writing.comparison_figures import core_figure, measures_figure
from contextcliff.writing.contest import WritingContest, WritingSide, compare_writing, contest_sentence
from contextcliff.writing.levels import level_of
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE, CORE
from contextcliff.writing.measures.readability import dale_chall
from contextcliff.writing.phrases import COMPOSITE_TITLES
from contextcliff.writing.prose_findings import Writing, WritingTier
from contextcliff.writing.task.continuation import Continuation

WORD_LIST, LEAST_LENGTH = "task.word_list", "task.min_tokens_fraction"
"""Keys of the configuration by which measures differ."""
UNSET = "None"
"""What is null in a configuration."""
_OURS = "ContextCliff's rules"


Written = Mapping[str, tuple[ComparedRun, Writing]]
"""The runs of a comparison that have prose, by name."""


def _by_other_rules(run: ComparedRun) -> bool:
    return bool(run.tool) and not run.remeasured


def sides(runs: Written) -> tuple[WritingSide, ...]:
    """The runs as a contest takes them: each with the rules that its measures depend on."""
    word_lists = _word_lists(run for run, _ in runs.values())
    return tuple(
        WritingSide(
            name=name,
            writing=writing,
            rules=f"{run.tool}'s rules" if _by_other_rules(run) else _OURS,
            word_list=word_lists.get(run.parameters.get(WORD_LIST, ""), ""),
            least_length=run.parameters.get(LEAST_LENGTH, ""),
        )
        for name, (run, writing) in runs.items()
    )


def word_list_name(setting: str) -> str:
    """What a configured word list is called: by its file's name."""
    return "the Dale-Chall list" if setting == UNSET else file_name(setting)


def _word_lists(runs: Iterable[ComparedRun]) -> Mapping[str, str]:
    """What each configured list is called; different files of one name have a number too."""
    names: dict[str, str] = {}
    settings = (run.parameters.get(WORD_LIST) for run in runs)
    for setting in dict.fromkeys(setting for setting in settings if setting is not None):
        name, number = word_list_name(setting), 1
        while (unique := name if number == 1 else f"{name} ({number})") in names.values():
            number += 1
        names[setting] = unique
    return names


def _parameters(stored: context_tester.ImportedRun) -> dict[str, str]:
    rounds = list(map(len, stored.tiers.values()))
    named = {"model": stored.model, "engine": context_tester.TOOL, "text": stored.text, "label": stored.label}
    named["rounds"] = " to ".join(dict.fromkeys((str(min(rounds)), str(max(rounds)))))
    return {**{key: value for key, value in named.items() if value}, "run": stored.run_id, **stored.parameters}


_SHARED = {
    WORD_LIST: f"familiar words come from different lists ({WORD_LIST}): nobody wins in cloze scores, unfamiliar words "
    "and composites",
    LEAST_LENGTH: f"text counts as missing from different lengths on ({LEAST_LENGTH}): nobody wins in missing text "
    "and the composite",
    "task.max_tokens": "answers have different lengths (task.max_tokens), on which raw figures of diversity, "
    "repetition and copying depend; z-scores are taken at equal length",
}
"""Settings that make a measure another one, where runs differ in them."""


def _notes(runs: Sequence[ComparedRun], written: Written, contests: Sequence[WritingContest]) -> Iterator[str]:
    without = [run.name for run in runs if run.name not in written]
    if without:
        yield f"left out of the writing part, since nothing of theirs was written: {', '.join(without)}"
    yield from _texts(written)
    for key, sentence in _SHARED.items():
        if len({run.parameters[key] for run, _ in written.values() if key in run.parameters}) > 1:
            yield sentence
    yield from _imported_notes(written)
    intervals = sum(contest.ci_low is not None for contest in contests)
    if intervals:
        yield (
            f"an interval covers one difference between two runs; it does not cover the choice among {intervals} "
            f"measures and {len(written)} runs: among so many some differ by chance"
        )


def _imported_notes(written: Written) -> Iterator[str]:
    """What is to be known of the runs of another tool, be it one alone."""
    mixed = len({run.tool if _by_other_rules(run) else "" for run, _ in written.values()}) > 1
    for run, writing in written.values():
        if not run.tool:
            continue
        yield from (f"{run.name}: {warning}" for warning in writing.warnings)
        if _by_other_rules(run) and mixed:
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


def _texts(written: Written) -> Iterator[str]:
    texts = list(dict.fromkeys(writing.document_id for _, writing in written.values()))
    if len(texts) > 1:
        yield f"the runs go on with different texts ({', '.join(texts)}): a difference may be the texts'"
    elif len({writing.continuation_point for run, writing in written.values() if not run.tool}) > 1:
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
    tool = context_tester.TOOL
    readable = "a CSV file or result folder of Context-Tester"

    def reads(self, path: Path) -> bool:
        return context_tester.is_context_tester(path)

    def read(self, path: Path, request: ReadingRequest) -> ComparedRun:
        stored = context_tester.read_context_tester(path, key=request.key)
        parameters = _parameters(stored)
        is_measured_again = request.remeasure and stored.keeps_texts
        if is_measured_again:
            words, parameters[WORD_LIST] = dale_chall(), UNSET
            if isinstance(request.task, Continuation):
                words, parameters[WORD_LIST] = request.task.familiar(), request.parameters.get(WORD_LIST, UNSET)
            stored = context_tester.remeasured(stored, word_list=words)
        return ComparedRun(
            name=stored.run_id,
            facts=RunFacts(
                run_id=stored.run_id, model=stored.model, dataset=stored.text or None, label=stored.label or None
            ),
            source=str(path),
            parameters=parameters,
            lengths=tuple(stored.tiers),
            report=None,
            findings={self.key: context_tester.imported_writing(stored, confidence=request.confidence)},
            tool=context_tester.TOOL,
            keeps_texts=stored.keeps_texts,
            remeasured=is_measured_again,
        )

    def compare(
        self, runs: Sequence[ComparedRun], *, decided: Sequence[DecidedRun] = (), confidence: float
    ) -> PartResult:
        having = {
            run.name: (run, writing)
            for run in runs
            if isinstance(writing := run.findings.get(self.key), Writing) and writing.tiers
        }
        result = PartResult(
            title="Writing",
            notes=tuple(_imported_notes(having)),
            data_of_runs={name: {"writing_verdict": str(writing.verdict)} for name, (_, writing) in having.items()},
            columns=tuple(column for name in _NAMES for column in (name, f"{name}_std", f"{name}_n")),
            cells={(name, tier.context_tokens): _cells(tier) for name, (_, of) in having.items() for tier in of.tiers},
        )
        if len(having) < 2:
            return result
        compared = sides(having)
        contests = compare_writing(compared, confidence=confidence)
        base = runs[0]
        by_name = {side.name: side for side in compared}
        pairs = [(by_name[each.run.name], each.pairs) for each in decided if each.pairs and each.run.name in by_name]
        pairwise = (
            paired.measure_differences(by_name[base.name], pairs, confidence=confidence) if base.name in by_name else {}
        )
        return replace(
            result,
            notes=(*paired.differences_notes(pairwise, confidence=confidence), *_notes(runs, having, contests)),
            lines=(
                *(paired.differences_sentence(name, base.name, rows) for name, rows in pairwise.items()),
                *_lines(contests),
            ),
            blocks=(*paired.difference_blocks(pairwise, baseline=base.name), *_blocks(having, compared, contests)),
            data={
                "measures": [
                    {
                        **asdict(one),
                        "winner": one.winner,
                        "reason": str(one.reason or ""),
                        "sentence": contest_sentence(one),
                    }
                    for one in contests
                ],
                "measure_differences": paired.difference_data(pairwise),
            },
        )


def _lines(contests: Sequence[WritingContest]) -> tuple[str, ...]:
    shown = [contest_sentence(contest) for contest in contests if contest.measure in _ALWAYS or contest.ahead]
    rest = len(contests) - len(shown)
    return (*shown, f"{rest} further measures without a winner: comparison.md") if shown and rest else tuple(shown)


def _blocks(runs: Written, compared: Sequence[WritingSide], contests: Sequence[WritingContest]) -> tuple[Block, ...]:
    if not contests:
        return ()
    table = columns(
        [*runs.values()],
        ("run", lambda one: one[0].name),
        ("verdict", lambda one: str(one[1].verdict)),
        ("texts to read", lambda one: f"{one[0].folder}/writing.html" if one[0].report else phrases.MISSING),
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
