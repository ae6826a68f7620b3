"""What a reader has to know of the prose of several runs before its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextcliff.reporting.comparison.comparison import ComparedRun
from contextcliff.writing.analysis.contest import WritingContest
from contextcliff.writing.comparison.written_run import LEAST_LENGTH, UNSET, WORD_LIST, WrittenRun, word_list_name
from contextcliff.writing.words.english_writing import say

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
