"""What a reader has to know to read the numbers right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from contextcliff.analysis.amounts import are, portion
from contextcliff.analysis.bins import Group, LengthResult
from contextcliff.analysis.controls import ControlLevel
from contextcliff.analysis.fixed_sequence import FixedSequenceTest
from contextcliff.analysis.items import by_item
from contextcliff.analysis.reasons import recovered_beyond
from contextcliff.analysis.threshold import RelativeThreshold, Threshold, is_degraded
from contextcliff.records.analysis import DepthCell
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import design_effect_of

LOW_BASELINE = 0.2
"""Below this score a baseline is hardly one."""
LENGTH_TOLERANCE = 0.02
"""Disagreement of the server's length with the built one from which on it is reported."""
FEW_TEXTS = 8
"""Below so many shared texts the variance between them is hardly known."""


def notes_of(
    groups: Sequence[Group],
    sequence: FixedSequenceTest,
    threshold: Threshold,
    controls: Sequence[ControlLevel],
    cells: Sequence[DepthCell],
) -> tuple[str, ...]:
    """A sentence for everything that limits or qualifies the analysis, most important first.

    `groups` are the samples of the walk's levels, in the same order.
    """
    scored = [item for group in groups for item in group.samples]
    return (
        *_unscored(scored, sequence),
        *_low_baseline(threshold),
        *_not_monotone(sequence, threshold),
        *_uninformative(controls, cells),
        *_shared_texts(scored, groups, sequence.results),
        *_clusters(sequence.results),
        *_repeats(scored),
        *_lengths(scored),
        *_blueprint(sequence.results),
    )


def _unscored(scored: Sequence[ScoredSample], sequence: FixedSequenceTest) -> Iterator[str]:
    missing = [item for item in scored if item.score is None]
    if not missing:
        return
    counts = Counter(item.failure or "no reason given" for item in missing)
    kinds = ", ".join(f"{k} {n}" for k, n in sorted(counts.items(), key=lambda kind: (-kind[1], kind[0])))
    n = len(missing)
    wrong = "it was" if n == 1 else "all of them were"
    after = "" if sequence.cap_tokens is None else f"; the cap holds even if {wrong} wrong"
    yield f"{portion(n, len(scored), 'samples')} {are(n)} unscored ({kinds}){after}"


def _not_monotone(sequence: FixedSequenceTest, threshold: Threshold) -> Iterator[str]:
    higher = recovered_beyond(sequence, threshold)
    stop = sequence.stop
    if higher is None or stop is None or stop.bin.mean is None or higher.bin.mean is None:
        return
    if higher.bin.mean <= stop.bin.mean:
        return
    chance = "" if is_degraded(stop, threshold) else ", which with so few samples can be chance"
    yield (
        f"the observed curve is not monotone: at {higher.bin.median_tokens:,} tokens the score "
        f"({higher.bin.mean:.2f}) clears the threshold, though at {stop.bin.median_tokens:,} "
        f"({stop.bin.mean:.2f}) it does not{chance}; the cap stays below the first length that does not"
    )


def _uninformative(controls: Sequence[ControlLevel], cells: Sequence[DepthCell]) -> Iterator[str]:
    void = [result for result in controls if not result.informative]
    lengths = {result.asked_tokens for result in void}
    if void:
        at = ", ".join(f"{result.asked_tokens:,} tokens ({_control_figures(result)})" for result in void)
        yield f"by the controls no cliff can show at {at}: a score there says nothing about the length"
    more = sum(not cell.informative for cell in cells if cell.asked_tokens not in lengths)
    if more:
        one = "1 cell of the heatmap tells nothing about the length, by its own controls"
        several = f"{more:,} cells of the heatmap tell nothing about the length, by their own controls"
        yield ("at other lengths " if void else "") + (one if more == 1 else several)


def _control_figures(result: ControlLevel) -> str:
    figures = ((result.ceiling, "with the evidence alone"), (result.floor, "without it"))
    return ", ".join(f"{mean:.2f} {how}" for mean, how in figures if mean is not None)


def _shared_texts(
    scored: Sequence[ScoredSample], groups: Sequence[Group], results: Sequence[LengthResult]
) -> Iterator[str]:
    texts = sorted({item.sample.document_id for item in scored})
    single = sum(_share_one(result) for result in results)
    one = "context" if any(result.texts == "contexts" for result in results) else "text"
    if len(texts) == 1 and len(scored) > 1:
        yield f"all samples are cut from one text, “{texts[0]}”: the claim is about that text"
        if one == "text":
            return
    elif len(texts) < len(scored) and _texts_recur(groups, results):
        yield (
            f"the samples are cut from {len(texts)} texts, and those of one text are treated as independent: "
            "where texts differ in difficulty, the intervals are too narrow"
        )
    if single:
        at = portion(single, len(results), "lengths")
        yield f"at {at} all samples share one {one}: the claim there is about that {one}"


def _texts_recur(groups: Sequence[Group], results: Sequence[LengthResult]) -> bool:
    """Whether some length has more than one item of the same text, beyond what the intervals allow for."""
    units = {
        (
            repeats[0].sample.document_id,
            repeats[0].sample.context_tokens,
            repeats[0].sample.cluster if result.sharing and repeats[0].sample.cluster else (place, number),
        )
        for place, (group, result) in enumerate(zip(groups, results, strict=True))
        for number, repeats in enumerate(by_item(group.samples))
    }
    return len({unit[:2] for unit in units}) < len(units)


def _share_one(result: LengthResult) -> bool:
    named = {item.cluster for item in result.items}
    return len(result.items) > 1 and len(named) == 1 and "" not in named


def _clusters(results: Sequence[LengthResult]) -> Iterator[str]:
    clustered = [result for result in results if result.clusters]
    if not clustered:
        return
    counts, shared = [len(result.clusters) for result in clustered], clustered[0].texts
    effects = [design_effect_of(result.evidence.clusters or result.if_unscored_wrong.clusters) for result in clustered]
    yield (
        f"samples of one length share {shared} ({_span(counts, 'd')} a length): the intervals and the cap allow for "
        f"it, with a design effect of {_span(effects, '.1f')}"
    )
    few = [count for count in counts if count < FEW_TEXTS]
    if few:
        yield (
            f"with fewer than {FEW_TEXTS} {shared} at {portion(len(few), len(results), 'lengths')}, how much {shared} "
            f"differ is hardly known, and the intervals there are wide and rough: more {shared} help more than more "
            "samples of each"
        )


def _span(values: Sequence[float], style: str) -> str:
    low, high = format(min(values), style), format(max(values), style)
    return low if low == high else f"{low}–{high}"


def _low_baseline(threshold: Threshold) -> Iterator[str]:
    """A share of next to nothing is easily kept."""
    if (
        isinstance(threshold, RelativeThreshold)
        and threshold.baseline.bin.mean is not None
        and threshold.baseline.bin.mean < LOW_BASELINE
    ):
        yield (
            f"the baseline is a score of {threshold.baseline.bin.mean:.2f}: this model hardly does the task even with "
            "short prompts, so that a cap relative to it says little; take an easier task or a larger model"
        )


def _repeats(scored: Sequence[ScoredSample]) -> Iterator[str]:
    put = max((item.sample.repeat + 1 for item in scored), default=1)
    if put > 1:
        yield (
            f"each question was put {put} times: its score is the mean over its repeats, which are one piece of "
            "evidence together; the instability is how often they differ"
        )
    shared = [item.sample.item for item in scored if item.sample.item and item.sample.repeat == 0]
    again = len(shared) - len(set(shared)) if put == 1 else 0
    if again:
        has = "has" if again == 1 else "have"
        yield (
            f"{portion(again, len(scored), 'samples')} {has} the prompt and the draw of another one (temperature 0, or "
            "sampling.seed is set): they are one piece of evidence together"
        )


def _lengths(scored: Sequence[ScoredSample]) -> Iterator[str]:
    gaps = [
        abs(item.generation.prompt_tokens - item.sample.built_tokens) / item.sample.built_tokens
        for item in scored
        if item.generation is not None and item.sample.built_tokens > 0
    ]
    beyond = [gap for gap in gaps if gap > LENGTH_TOLERANCE]
    if beyond:
        yield (
            f"for {portion(len(beyond), len(gaps), 'prompts')} the server's token count differs by more than 2% "
            f"from the built length (by up to {max(beyond):.1%}); lengths here are the server's"
        )


def _blueprint(results: Sequence[LengthResult]) -> Iterator[str]:
    if any(result.scores for result in results) and all(result.binary for result in results):
        yield (
            "scores are 0 or 1, so their spread follows from their mean: the variance part of the "
            "blueprint's rule restates the mean"
        )
