"""What a reader has to know to read the numbers right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from contextcliff.analysis.bar import Bar, is_degraded
from contextcliff.analysis.bins import Level
from contextcliff.analysis.caps import Walk
from contextcliff.analysis.reasons import recovered_beyond
from contextcliff.records import ScoredSample

LENGTH_TOLERANCE = 0.02
"""Disagreement of the server's length with the built one from which on it is reported."""


def notes_of(scored: Sequence[ScoredSample], walk: Walk, bar: Bar) -> tuple[str, ...]:
    """A sentence for everything that limits or qualifies the analysis, most important first."""
    return (
        *_unscored(scored, walk),
        *_not_monotone(walk, bar),
        *_shared_texts(scored),
        *_repeats(scored),
        *_lengths(scored),
        *_blueprint(walk.levels),
    )


def _unscored(scored: Sequence[ScoredSample], walk: Walk) -> Iterator[str]:
    missing = [item for item in scored if item.score is None]
    if not missing:
        return
    counts = Counter(item.failure or "no reason given" for item in missing)
    kinds = ", ".join(f"{k} {n}" for k, n in sorted(counts.items(), key=lambda kind: (-kind[1], kind[0])))
    after = "" if walk.cap_tokens is None else "; the cap holds even if all of them were wrong"
    yield f"{len(missing):,} of {len(scored):,} samples are unscored ({kinds}){after}"


def _not_monotone(walk: Walk, bar: Bar) -> Iterator[str]:
    higher = recovered_beyond(walk, bar)
    stop = walk.stop
    if higher is None or stop is None or stop.bin.mean is None or higher.bin.mean is None:
        return
    if higher.bin.mean <= stop.bin.mean:
        return
    chance = "" if is_degraded(stop, bar) else ", which with so few samples can be chance"
    yield (
        f"the observed curve is not monotone: at {higher.bin.median_tokens:,} tokens the score "
        f"({higher.bin.mean:.2f}) clears the threshold, though at {stop.bin.median_tokens:,} "
        f"({stop.bin.mean:.2f}) it does not{chance}; the cap stays below the first length that does not"
    )


def _shared_texts(scored: Sequence[ScoredSample]) -> Iterator[str]:
    texts = sorted({item.sample.document_id for item in scored})
    if len(texts) == 1 and len(scored) > 1:
        yield f"all samples are cut from one text, “{texts[0]}”: the claim is about that text"
    elif len(texts) < len(scored) and _texts_recur(scored):
        yield (
            f"the samples are cut from {len(texts)} texts, and those of one text are treated as independent: "
            "where texts differ in difficulty, the intervals are too narrow"
        )


def _texts_recur(scored: Sequence[ScoredSample]) -> bool:
    """Whether some length has more than one sample of the same text."""
    places = {(item.sample.document_id, item.sample.context_tokens) for item in scored}
    return len(places) < len(scored)


def _repeats(scored: Sequence[ScoredSample]) -> Iterator[str]:
    prompts = [item.prompt_sha256 for item in scored if item.score is not None]
    repeated = len(prompts) - len(set(prompts))
    if repeated:
        yield (
            f"{repeated:,} of {len(prompts):,} scored samples repeat the prompt of another one: "
            "at temperature 0 they are no further evidence, and the intervals are too narrow"
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
            f"for {len(beyond):,} of {len(gaps):,} prompts the server's token count differs by more than 2% "
            f"from the built length (by up to {max(beyond):.1%}); lengths here are the server's"
        )


def _blueprint(levels: Sequence[Level]) -> Iterator[str]:
    if any(level.scores for level in levels) and all(level.binary for level in levels):
        yield (
            "scores are 0 or 1, so their spread follows from their mean: the variance part of the "
            "blueprint's rule restates the mean"
        )
