"""What limits or qualifies an analysis, as facts for its reader."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from contextcliff.analysis.bins import Group
from contextcliff.analysis.controls import ControlLevel
from contextcliff.analysis.fixed_sequence import FixedSequenceTest
from contextcliff.analysis.items import by_item
from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.stop_reason import recovered_beyond
from contextcliff.analysis.threshold import Threshold
from contextcliff.records.analysis import DepthCell
from contextcliff.records.cautions import (
    AllOverOneText,
    ControlMeans,
    CoversLittle,
    DocumentZones,
    EmptyFrom,
    FewSharedTexts,
    NotMonotone,
    OneText,
    OneTextALength,
    RecurringTexts,
    RepeatedQuestions,
    ServerCountsDiffer,
    SharedDraws,
    SharedTexts,
    StoppedWhenDecided,
    UninformativeCells,
    UninformativeLengths,
    UnknownMarks,
    UnscoredSamples,
    ZeroOrOneScores,
)
from contextcliff.records.fact import Fact
from contextcliff.records.generation import NO_ROOM, NO_TOKENS, NOT_SENT, ScoredSample
from contextcliff.statistics.clusters import design_effect_of

LENGTH_TOLERANCE = 0.02
"""Disagreement of the server's length with the built one from which on it is reported."""
COVERS_LITTLE = 0.5
"""Share of the window below which the longest document of a set leaves most of it unknown."""
FEW_TEXTS = 8
"""Below so many shared texts the variance between them is hardly known."""
_LIKE_A_MARK = re.compile(
    r"\s*([<\[◁][|/]?(?:[\w:.-]{0,40}[|_:.-])?"
    r"(?:think|thought|reason|ponder|reflect|analy[sz]|scratch|contemplat|deliberat|monolog|cot\b)"
    r"[\w:.|-]{0,40}[>\]▷]|thought(?=\n))",
    re.IGNORECASE,
)
"""What begins an answer like a mark of reasoning. Engines cut the marks off that they know."""


def notes_of(
    groups: Sequence[Group],
    sequence: FixedSequenceTest,
    threshold: Threshold,
    controls: Sequence[ControlLevel],
    cells: Sequence[DepthCell],
    *,
    window: int,
    begins_anywhere: bool = False,
    draws_anew: bool = True,
) -> tuple[Fact, ...]:
    """Everything that limits or qualifies the analysis, most important first.

    `groups` are the samples of the test's lengths, in the same order. `window` is the model's, in tokens.
    `begins_anywhere`: samples begin at sentences all over their texts. `draws_anew`: the
    repeats of a question are draws of their own.
    """
    scored = [item for group in groups for item in group.samples]
    return (
        *_unscored(scored, sequence),
        *_unknown_marks(scored),
        *_empty_from(groups),
        *_not_monotone(sequence, threshold),
        *_of_documents(sequence.results, window),
        *_uninformative(controls, cells),
        *_one_text(scored, groups, sequence.results, begins_anywhere=begins_anywhere),
        *_shared_texts(sequence.results),
        *_repeats(scored, draws_anew=draws_anew),
        *_server_counts(scored),
        *((StoppedWhenDecided(each_third=threshold.described.every_depth),) if threshold.is_sequential else ()),
        *(_zero_or_one(sequence.results) if threshold.described.quantity == "score" else ()),
    )


def _unscored(scored: Sequence[ScoredSample], sequence: FixedSequenceTest) -> Iterator[UnscoredSamples]:
    missing = [item for item in scored if item.score is None]
    if missing:
        tags = Counter(item.failure or "" for item in missing)
        yield UnscoredSamples(
            n=len(missing),
            total=len(scored),
            tags=tuple(sorted(tags.items(), key=lambda tag: (-tag[1], tag[0]))),
            cap_holds=sequence.cap_tokens is not None,
        )


def _unknown_marks(scored: Sequence[ScoredSample]) -> Iterator[UnknownMarks]:
    answers = [item.generation.text for item in scored if item.generation is not None and item.score is not None]
    marks = Counter(found[1] for text in answers if (found := _LIKE_A_MARK.match(text)) is not None)
    if marks:
        yield UnknownMarks(mark=marks.most_common(1)[0][0], n=marks.total(), total=len(answers))


def _empty_from(groups: Sequence[Group]) -> Iterator[EmptyFrom]:
    asked = [[item for item in group.samples if item.failure != NOT_SENT] for group in groups]
    silent = [bool(items) and all(map(_is_empty, items)) for items in asked]
    first = len(silent) - len(list(takewhile(bool, reversed(silent))))
    if 0 < first < len(silent):
        yield EmptyFrom(tokens=min(item.sample.built_tokens for item in asked[first]))


def _is_empty(item: ScoredSample) -> bool:
    """Whether the model, or the engine in its place, ended before it said anything."""
    if item.score is None:
        return item.failure in (NO_TOKENS, NO_ROOM)
    return item.generation is not None and not (item.generation.text.strip() or item.generation.reasoning)


def _not_monotone(sequence: FixedSequenceTest, threshold: Threshold) -> Iterator[NotMonotone]:
    higher, stop = recovered_beyond(sequence, threshold), sequence.stop
    if higher is None or stop is None or stop.bin.mean is None or higher.bin.mean is None:
        return
    if higher.bin.mean > stop.bin.mean:
        yield NotMonotone(
            stop_tokens=stop.bin.median_tokens,
            stop_mean=stop.bin.mean,
            higher_tokens=higher.bin.median_tokens,
            higher_mean=higher.bin.mean,
            may_be_chance=not threshold.is_shown_below(stop),
            quantity=threshold.described.quantity,
        )


def _of_documents(results: Sequence[LengthResult], window: int) -> Iterator[Fact]:
    natural = [result for result in results if result.bin.natural_lengths]
    if any(result.bin.min_tokens < result.bin.max_tokens for result in natural):
        yield DocumentZones()
    longest = max((result.bin.max_tokens for result in results), default=0)
    if natural and longest < COVERS_LITTLE * window:
        yield CoversLittle(longest_tokens=longest, window_tokens=window)


def _uninformative(controls: Sequence[ControlLevel], cells: Sequence[DepthCell]) -> Iterator[Fact]:
    void = [control for control in controls if not control.informative]
    if void:
        yield UninformativeLengths(
            lengths=tuple(
                ControlMeans(asked_tokens=control.asked_tokens, ceiling=control.ceiling, floor=control.floor)
                for control in void
            )
        )
    lengths = {control.asked_tokens for control in void}
    more = sum(not cell.informative for cell in cells if cell.asked_tokens not in lengths)
    if more:
        yield UninformativeCells(n=more, at_other_lengths=bool(void))


def _one_text(
    scored: Sequence[ScoredSample],
    groups: Sequence[Group],
    results: Sequence[LengthResult],
    *,
    begins_anywhere: bool,
) -> Iterator[Fact]:
    """Which texts the claim is about."""
    texts = sorted({item.sample.document_id for item in scored})
    contexts = any(result.texts == "contexts" for result in results)
    if len(texts) == 1 and len(scored) > 1:
        yield (AllOverOneText if begins_anywhere else OneText)(document_id=texts[0])
        if not contexts:
            return
    elif len(texts) < len(scored) and _texts_recur(groups, results):
        yield RecurringTexts(texts=len(texts))
    single = sum(_share_one(result) for result in results)
    if single:
        yield OneTextALength(n_lengths=single, of_lengths=len(results), shared_by="contexts" if contexts else "texts")


def _texts_recur(groups: Sequence[Group], results: Sequence[LengthResult]) -> bool:
    """Whether some length has more than one item of the same text, beyond what the intervals allow for."""
    shared = [result.sharing > 0 for result in results]
    units = {
        (
            repeats[0].sample.document_id,
            repeats[0].sample.context_tokens,
            repeats[0].sample.cluster if is_shared and repeats[0].sample.cluster else (place, number),
        )
        for place, (group, is_shared) in enumerate(zip(groups, shared, strict=True))
        for number, repeats in enumerate(by_item(group.samples))
    }
    return len({unit[:2] for unit in units}) < len(units)


def _share_one(result: LengthResult) -> bool:
    named = {item.cluster for item in result.items}
    return len(result.items) > 1 and len(named) == 1 and "" not in named


def _shared_texts(results: Sequence[LengthResult]) -> Iterator[Fact]:
    clustered = [result for result in results if result.clusters]
    if not clustered:
        return
    counts, shared_by = [len(result.clusters) for result in clustered], clustered[0].texts
    effects = [design_effect_of(result.evidence.clusters or result.if_unscored_wrong.clusters) for result in clustered]
    yield SharedTexts(shared_by=shared_by, texts=(min(counts), max(counts)), design_effect=(min(effects), max(effects)))
    few = sum(count < FEW_TEXTS for count in counts)
    if few:
        yield FewSharedTexts(shared_by=shared_by, fewest=FEW_TEXTS, n_lengths=few, of_lengths=len(results))


def _repeats(scored: Sequence[ScoredSample], *, draws_anew: bool) -> Iterator[Fact]:
    times = max((item.sample.repeat + 1 for item in scored), default=1)
    if times > 1:
        yield RepeatedQuestions(times=times, draws_anew=draws_anew)
        return
    shared = [item.sample.item for item in scored if item.sample.item and item.sample.repeat == 0]
    again = len(shared) - len(set(shared))
    if again:
        yield SharedDraws(n=again, total=len(scored))


def _server_counts(scored: Sequence[ScoredSample]) -> Iterator[ServerCountsDiffer]:
    gaps = [
        abs(item.generation.prompt_tokens - item.server_offset_tokens - item.sample.built_tokens)
        / item.sample.built_tokens
        for item in scored
        if item.generation is not None and item.sample.built_tokens > 0
    ]
    beyond = [gap for gap in gaps if gap > LENGTH_TOLERANCE]
    if beyond:
        yield ServerCountsDiffer(n=len(beyond), total=len(gaps), largest=max(beyond), tolerance=LENGTH_TOLERANCE)


def _zero_or_one(results: Sequence[LengthResult]) -> Iterator[ZeroOrOneScores]:
    if any(result.scores for result in results) and all(result.binary for result in results):
        yield ZeroOrOneScores()
