"""The verdict on a continuation run: are its rounds healthy, what gets worse, and what can so few rounds not show?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from contextcliff.findings.phrases import percent
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.statistics.descriptive import counted
from contextcliff.statistics.ranks import holm, is_significant, least_p
from contextcliff.statistics.sample_size import fewest_for_significance
from contextcliff.writing import levels
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.phrases import in_sentence
from contextcliff.writing.prose_findings import Against, Health, Writing, WritingTest
from contextcliff.writing.tests import against_author, against_shortest, neighbour_steps, writing_trends

_OF_TEXT = tuple(measure.name for measure in MEASURES if measure.worse and measure.of_text)
"""How much of a text is missing is known of an empty answer too."""
_SHOWN = 3
"""Measures of a degradation that are named; the rest is counted."""
_SHOWN_AUTHOR = 2


def rounds_without_text(tier: levels.DrawnTier) -> list[ScoredSample]:
    """Rounds that were answered with no text that can be measured, or next to none."""
    return [one for draw in tier.draws if draw.details.keys().isdisjoint(_OF_TEXT) for one in draw.samples]


def _same_draws(tiers: Sequence[levels.DrawnTier]) -> Iterator[Note]:
    repeated = [tier for tier in tiers if len(tier.rounds) > len(tier.draws)]
    if not repeated:
        return
    at = _at([] if len(repeated) == len(tiers) else [tier.context_tokens for tier in repeated])
    if all(len(tier.draws) == 1 for tier in repeated):
        yield Note(
            "{at}all rounds of a length are the same draw (temperature 0, or sampling.seed is set): they count as one"
            " round, and more of them show nothing more; a temperature above 0 without sampling.seed makes them rounds"
            " of their own",
            at=at,
        )
    else:
        yield Note("{at}some rounds of a length are the same draw: they count as one round", at=at)


def _rounds_without_text(tiers: Sequence[levels.DrawnTier]) -> Iterator[Note]:
    for tier in tiers:
        missing = rounds_without_text(tier)
        if missing:
            tags = counted(scored.failure or "" for scored in missing)
            yield Note(
                "at {tokens:,} tokens {rounds:,} of {of_rounds:,} answered rounds gave no text to measure ({kinds}):"
                " the tests of the prose leave them out, the score does not",
                tokens=tier.context_tokens,
                rounds=len(missing),
                of_rounds=len(tier.rounds),
                kinds=[Note("{tag} {n}", tag=tag or Note("no reason given"), n=n) for tag, n in tags.items()],
            )


def _out_of_reach(writing: Writing, against: Against) -> Iterator[Note]:
    """Lengths at which no measure can be shown to be degraded, since even its least p-value is not significant."""
    family, confidence = [test for test in writing.tests if test.against == against], writing.confidence
    least = [least_p(test.n, test.n_baseline) for test in family]
    lengths: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    best: dict[int, tuple[float, float, WritingTest]] = {}
    for test, p, p_holm in zip(family, least, holm(least), strict=True):
        reached = (p_holm, p, test)
        best[test.context_tokens] = min(best.get(test.context_tokens, reached), reached, key=lambda one: one[:2])
    for tokens, (p_holm, _, test) in best.items():
        if not is_significant(p_holm, confidence):
            lengths[test.n, test.n_baseline].append(tokens)
    by_author = against == "author"
    for (n, n_baseline), at in lengths.items():
        p = least_p(n, n_baseline)
        enough = fewest_for_significance(len(family), n_baseline if by_author else None, confidence)
        yield Note(
            "{at}{n:rounds} against {baseline:,}{windows} can reach p = {p:.2g} at best, and {p_holm:.2g} after Holm"
            " over {tests:tests}: no measure can be shown to be worse than {than}{then}",
            at=_at([] if len(at) == len(best) else at),
            n=n,
            baseline=n_baseline,
            windows=Note(" of the author's windows") if by_author else "",
            p=p,
            p_holm=min(1.0, p * len(family)),
            tests=len(family),
            than=Note("the author's elsewhere") if by_author else Note("at the shortest length"),
            then="" if enough is None else Note("; from {enough:,} rounds on one can", enough=enough),
        )


def _at(lengths: Sequence[int]) -> Note | str:
    return Note("at {lengths:and} tokens ", lengths=_listed(lengths)) if lengths else ""


def _listed(lengths: Sequence[int]) -> list[str]:
    return [f"{tokens:,}" for tokens in lengths]


def verdict_of(tiers: Sequence[levels.DrawnTier], writing: Writing) -> Note:
    if not any(tier.draws for tier in tiers):
        return Note("no round was answered: nothing can be said of the writing")
    tests = [test for test in writing.tests if test.against == "shortest"]
    degraded = [test for test in tests if test.degraded]
    if len(tiers) == 1:
        said = Note("only one length was tested: there is nothing to compare its writing with")
    elif degraded:
        said = _degraded(degraded)
    elif not tests:
        said = Note("no measure could be compared with the shortest length")
    elif not is_significant(len(tests) * min(least_p(test.n, test.n_baseline) for test in tests), writing.confidence):
        # Nothing is said to be fine where the tests could show nothing, whatever was measured.
        said = Note(
            "the rounds are too few for a rank test to show any measure to be worse than at the shortest length"
        )
    else:
        said = Note("by rank tests no measure is shown to be worse than at the shortest length")
    return Note(
        "{health}{said}{without_text}{author}",
        health="" if writing.health is None else _health(writing.health, writing.settling_rounds),
        said=said,
        without_text=_without_text(tiers) if len(tiers) > 1 else "",
        # A model that loops at every length is as bad at the longest as at the shortest.
        author=_worse_than_author([test for test in writing.tests if test.against == "author" and test.degraded]),
    )


def _degraded(degraded: Sequence[WritingTest]) -> Note:
    lengths = sorted({test.context_tokens for test in degraded})
    first = sorted((test for test in degraded if test.context_tokens == lengths[0]), key=_clearest)
    more = len(first) - _SHOWN
    return Note(
        "by rank tests the writing is worse at {tokens:,} tokens than at the shortest length: {measures}{more}{also}",
        tokens=lengths[0],
        measures=[
            Note(
                "{measure} (p = {p:.2g} after Holm, effect {effect:.2f})",
                measure=in_sentence(test.measure),
                p=test.p_holm,
                effect=test.effect,
            )
            for test in first[:_SHOWN]
        ],
        more=Note(" and {n} more", n=more) if more > 0 else "",
        also=Note("; also at {lengths} tokens", lengths=_listed(lengths[1:])) if len(lengths) > 1 else "",
    )


def _health(health: Health, settling_rounds: int | None) -> Note:
    share = (
        Note("{share} of the shortest length's healthy share", share=percent(health.threshold))
        if health.relative
        else Note("{share} of the rounds healthy", share=percent(health.threshold))
    )
    at = health.at
    if at is None:
        return Note("every length is shown to have at least {share}; ", share=share)
    if health.outcome == "below":
        return Note(
            "from {tokens:,} tokens on the lengths are shown to have less than {share} ({healthy:,} of {n:rounds}"
            " there); ",
            tokens=at.context_tokens,
            share=share,
            healthy=at.healthy,
            n=at.n,
        )
    likely = "" if settling_rounds is None else Note(" (about {n:,} rounds a length are likely to)", n=settling_rounds)
    return Note(
        "at {tokens:,} tokens {healthy:,} of {n:rounds} {healthy:is/are} healthy, which does not settle whether it has"
        " {share}{likely}; ",
        tokens=at.context_tokens,
        healthy=at.healthy,
        n=at.n,
        share=share,
        likely=likely,
    )


def _worse_than_author(degraded: Sequence[WritingTest]) -> Note | str:
    if not degraded:
        return ""
    measures = list(dict.fromkeys(test.measure for test in sorted(degraded, key=_clearest)))
    more = len(measures) - _SHOWN_AUTHOR
    return Note(
        "; at {lengths:and} tokens the writing is worse than the author's elsewhere ({measures:and})",
        lengths=_listed(sorted({test.context_tokens for test in degraded})),
        measures=[*map(in_sentence, measures[:_SHOWN_AUTHOR]), *([Note("{n} more", n=more)] if more > 0 else [])],
    )


def _clearest(test: WritingTest) -> tuple[float, float]:
    return test.p_holm, -test.effect


def _without_text(tiers: Sequence[levels.DrawnTier]) -> Note | str:
    """The length with the largest share of rounds without text, if it is larger than the shortest's."""
    answered = [tier for tier in tiers if tier.rounds]
    shares = [len(rounds_without_text(tier)) / len(tier.rounds) for tier in answered]
    if not shares or max(shares) <= shares[0]:
        return ""
    tier = answered[shares.index(max(shares))]
    return Note(
        "; at {tokens:,} tokens {rounds:,} of {of_rounds:,} rounds gave no text to measure",
        tokens=tier.context_tokens,
        rounds=len(rounds_without_text(tier)),
        of_rounds=len(tier.rounds),
    )


def writing_of(
    scored: Sequence[ScoredSample],
    *,
    confidence: float,
    document_id: str,
    continuation_point: int,
    author: Mapping[str, Sequence[float]],
    health: Health | None,
    settling_rounds: int | None,
    embeddings: str | None,
) -> Writing:
    """What is said of the prose at every length.

    `scored` are all planned rounds, `author` the z-scores of disjoint windows of the author's text by measure. `health`
    and `settling_rounds` are those of the walk that gave the safe cap; the rank tests are a diagnosis beside it."""
    tiers = levels.drawn_tiers(item for item in scored if item.sample.is_ordinary)
    measured = levels.measured_names(tiers)
    found = Writing(
        document_id=document_id,
        continuation_point=continuation_point,
        tiers=tuple(levels.writing_tier(tier, measured, confidence=confidence) for tier in tiers),
        tests=(*against_shortest(tiers, confidence=confidence), *against_author(tiers, author, confidence=confidence)),
        trends=writing_trends(tiers),
        steps=neighbour_steps(tiers),
        verdict=Note(""),
        settling_rounds=settling_rounds,
        health=health,
        warnings=(),
        embeddings=embeddings,
        unmeasured=tuple(measure.name for measure in MEASURES if measure.name not in measured),
        confidence=confidence,
    )
    shown, lengths = levels.as_shown(found), levels.shown_lengths(found)
    told = tuple(replace(tier, context_tokens=lengths[tier.context_tokens]) for tier in tiers)
    warnings = (
        *_same_draws(told), *_rounds_without_text(told), *_out_of_reach(shown, "shortest"),
        *_out_of_reach(shown, "author"),
    )  # fmt: skip
    return replace(found, verdict=verdict_of(told, shown), warnings=warnings)
