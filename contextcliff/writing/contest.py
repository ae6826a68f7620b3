"""Several continuation runs side by side, a measure at a time: each one's range, and which of them is the best.

A run's mean is taken over the lengths that all runs have, of z-scores where all have them: a model that stops early is
more diverse. Figures that were measured by different rules have no winner. The difference of the best to the next best
has Welch's interval; where it has 0 inside, the best two may be ahead of the third together, and so on. That the runs
were picked as extremes, and that many measures were looked at, is not in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from contextcliff.records.note import Note
from contextcliff.statistics.descriptive import mean_of, mean_of_known
from contextcliff.statistics.intervals import t_quantile
from contextcliff.writing.levels import level_of
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE, CORE, MEASURES, Family
from contextcliff.writing.measures.measured import LENGTH
from contextcliff.writing.phrases import better, digits_of, title
from contextcliff.writing.prose_findings import Scale, Writing

COMPOSITES = (COMPOSITE, CLASSIC_COMPOSITE)
WORSE_UP = {**dict.fromkeys(COMPOSITES, 1), **{measure.name: int(measure.worse) for measure in MEASURES}}
"""The direction that is worse: 1 up, -1 down, 0 neither."""
_BY_WORD_LIST = frozenset({*COMPOSITES, *(measure.name for measure in MEASURES if measure.by_word_list)})
_BY_LEAST_LENGTH = frozenset({COMPOSITE, *(measure.name for measure in MEASURES if not measure.of_text)})
_BY_LENGTH = frozenset({CLASSIC_COMPOSITE, *(measure.name for measure in MEASURES if measure.by_length)})
RAW_ALWAYS = frozenset(measure.name for measure in MEASURES if not measure.of_text)
"""The author's text is complete: it has no standard deviation of what is missing."""
_AS_LONG = 0.1
"""The greatest difference of lengths, as a share of the longer, at which such figures are compared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingSide:
    """A run in the comparison, and whose rules it was measured by; empty: not known, or not asked for."""

    name: str
    writing: Writing
    rules: str
    word_list: str = ""
    least_length: str = ""
    """`task.min_tokens_fraction`."""


def different_rules(measure: str, sides: Sequence[WritingSide]) -> Note | None:
    """In which rules for a measure the sides differ."""
    if len({side.rules for side in sides}) > 1:
        rules: list[tuple[str, ...]] = [(side.rules,) for side in sides]
    else:
        parts = [_parts(measure, side.writing) for side in sides]
        every = dict.fromkeys(part for own in parts for part in own)
        # A composite without any part is that of a run that wrote nothing, the worst there is.
        lacking = [", ".join(part for part in every if own and part not in own) for own in parts]
        told = (f"without {part}" if part else "with every part" for part in lacking)
        rules = [(*_rules(measure, side), said) for side, said in zip(sides, told, strict=True)]
    differing = [values for values in zip(*rules, strict=True) if len(set(values)) > 1]
    if not differing:
        return None
    ways = dict.fromkeys(zip(*differing, strict=True))
    return Note("measured by different rules ({rules})", rules="; ".join(map(", ".join, ways)))


def unequal_lengths(measure: str, sides: Sequence[WritingSide], common: Sequence[int]) -> Note | None:
    """Why raw figures of answers of different lengths don't compare."""
    if measure not in _BY_LENGTH:
        return None
    lengths = {side.name: length for side in sides if (length := _length(side.writing, common)) is not None}
    longest, shortest = max(lengths.values(), default=0.0), min(lengths.values(), default=0.0)
    if longest - shortest <= _AS_LONG * longest:
        return None
    return Note(
        "the answers are not as long ({lengths} characters on average), on which it depends",
        lengths=[f"{run} {characters:,.0f}" for run, characters in lengths.items()],
    )


def _rules(measure: str, side: WritingSide) -> tuple[str, ...]:
    embeddings, rules = side.writing.embeddings, []
    if measure in _BY_WORD_LIST:
        rules.append(f"familiar words by {side.word_list or 'an unknown list'}")
    if measure in _BY_LEAST_LENGTH:
        rules.append(f"text missing under {side.least_length or 'an unknown share'} of an answer")
    if measure in COMPOSITES:
        rules.append(f"embeddings by {embeddings}" if embeddings else "no embeddings")
    elif BY_NAME[measure].embeds:
        rules.append(f"embeddings by {embeddings or 'an unnamed model'}")
    return tuple(rules)


def _parts(measure: str, writing: Writing) -> tuple[str, ...]:
    """What goes into a run's composite; of other measures nothing."""
    if measure == CLASSIC_COMPOSITE:
        return tuple(
            BY_NAME[name].title.lower()
            for name in CORE
            if any(level_of(tier, name).mean is not None for tier in writing.tiers)
        )
    if measure == COMPOSITE:
        scored = {level.name for tier in writing.tiers for level in tier.measures if level.z is not None}
        families = {BY_NAME[name].family for name in scored if name in BY_NAME}
        return tuple(family for family in get_args(Family) if family in families)
    return ()


def _length(writing: Writing, common: Sequence[int]) -> float | None:
    """Mean characters of an answer over the common lengths."""
    means = [level_of(tier, LENGTH).mean for tier in writing.tiers if tier.context_tokens in common]
    return None if None in means else mean_of_known(means)


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingRange:
    """One measure of one run: its least and greatest mean, at which lengths, and its mean over the common lengths."""

    run: str
    low: float
    low_tokens: int
    high: float
    high_tokens: int
    common_mean: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingContest:
    """One measure over the runs that have it.

    `ahead` are the best, if the interval of their lead over `next_best` lies above 0; the difference is that of the
    last of them."""

    measure: str
    worse: int
    """1 up, -1 down, 0: neither, and nobody wins."""
    scale: Scale
    ranges: tuple[WritingRange, ...]
    missing: tuple[str, ...]
    """The runs that lack the measure."""
    common_tokens: tuple[int, ...]
    best: str | None = None
    next_best: str | None = None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence: float
    ahead: tuple[str, ...] = ()
    reason: Note | None = None
    """Why nobody is ahead."""

    @property
    def winner(self) -> str | None:
        """The one that is ahead of all others; None where there is none, or several are together."""
        return self.ahead[0] if len(self.ahead) == 1 else None


_Points = Mapping[int, tuple[float, float | None, int]]
"""Length to mean, standard deviation and rounds."""


def compare_writing(sides: Sequence[WritingSide], *, confidence: float) -> tuple[WritingContest, ...]:
    """Both composites and every measure that some run has."""
    contests = (_contest(measure, sides, confidence) for measure in WORSE_UP)
    return tuple(contest for contest in contests if contest.ranges)


def _contest(measure: str, sides: Sequence[WritingSide], confidence: float) -> WritingContest:
    points = {side.name: _points(side.writing, measure, "raw") for side in sides}
    having = [side for side in sides if points[side.name]]
    common = sorted(set.intersection(*(set(points[side.name]) for side in having))) if having else []
    compared = {side.name: _points(side.writing, measure, "z") for side in having}
    scale: Scale = "z"
    if not common or measure in RAW_ALWAYS or not all(set(common) <= set(by_length) for by_length in compared.values()):
        scale, compared = "raw", {side.name: points[side.name] for side in having}
    contest = WritingContest(
        measure=measure,
        worse=WORSE_UP[measure],
        scale=scale,
        ranges=tuple(_range(side.name, points[side.name], common) for side in having),
        missing=tuple(side.name for side in sides if not points[side.name]),
        common_tokens=tuple(common),
        confidence=confidence,
        reason=_obstacle(measure, having, common),
    )
    return contest if contest.reason is not None else _with_lead(contest, compared, having)


def _points(writing: Writing, measure: str, scale: Scale) -> _Points:
    points = {}
    for tier in writing.tiers:
        level = level_of(tier, measure)
        mean, std = (level.z, level.z_std) if scale == "z" else (level.mean, level.std)
        if mean is not None:
            points[tier.context_tokens] = mean, std, level.n
    return points


def _range(run: str, points: _Points, common: Sequence[int]) -> WritingRange:
    low = min(points, key=lambda tokens: (points[tokens][0], tokens))
    high = max(points, key=lambda tokens: (points[tokens][0], -tokens))
    return WritingRange(
        run=run,
        low=points[low][0],
        low_tokens=low,
        high=points[high][0],
        high_tokens=high,
        common_mean=_mean(points, common) if common else None,
    )


def _mean(points: _Points, common: Sequence[int]) -> float:
    return mean_of([points[tokens][0] for tokens in common])


def _obstacle(measure: str, having: Sequence[WritingSide], common: Sequence[int]) -> Note | None:
    if not WORSE_UP[measure]:
        return Note("neither way is better")
    if len(having) < 2:
        return Note("only one run has it")
    return different_rules(measure, having) or (None if common else Note("no length in common"))


def _with_lead(contest: WritingContest, points: Mapping[str, _Points], sides: Sequence[WritingSide]) -> WritingContest:
    """The best against the next best, or the first of the best few against the rest."""
    common = contest.common_tokens
    means = {run: _mean(of, common) for run, of in points.items()}
    order = sorted(means, key=lambda run: contest.worse * means[run])

    def lead(behind: int) -> WritingContest:
        """That of the first `behind` runs over the next, with a reason where it is not shown."""
        ahead, after = order[:behind], order[behind]
        difference = abs(means[after] - means[ahead[-1]])
        low = high = None
        reason: Note | None = None
        pairs = [points[run][tokens] for run in (ahead[-1], after) for tokens in common]
        if not difference:
            reason = Note("the best two have the same mean")
        elif any(n < 2 or std is None for _, std, n in pairs):
            reason = Note("there are too few rounds to tell")
        elif (half := _half_width(pairs, len(common), contest.confidence)) is None:
            reason = Note("the rounds do not vary, so nothing says how far the means are to be trusted")
        else:
            low, high = difference - half, difference + half
            reason = None if low > 0 else Note("rounds like these can't tell that from no difference")
        if reason is None and contest.scale == "raw":
            compared = [side for side in sides if side.name in (*ahead, after)]
            reason = unequal_lengths(contest.measure, compared, common)
        return replace(
            contest, best=ahead[0], ahead=() if reason else tuple(ahead), next_best=after, difference=difference,
            ci_low=low, ci_high=high, reason=reason,
        )  # fmt: skip

    leads = [lead(behind) for behind in range(1, len(order))]
    return next((each for each in leads if each.reason is None), leads[0])


def _half_width(points: Iterable[tuple[float, float | None, int]], lengths: int, confidence: float) -> float | None:
    """Of Welch's interval for the difference of two means over so many lengths; None without any variance."""
    parts = [((std or 0.0) ** 2 / n / lengths**2, n - 1) for _, std, n in points]
    variance = math.fsum(part for part, _ in parts)
    if not variance > 0 or not math.isfinite(variance):
        return None
    # By shares: the square of a tiny variance underflows.
    freedom = 1.0 / math.fsum((part / variance) ** 2 / degrees for part, degrees in parts)
    return t_quantile(0.5 * (1.0 + confidence), freedom) * math.sqrt(variance)


def contest_sentence(contest: WritingContest) -> str:
    digits = digits_of(max(abs(end) for span in contest.ranges for end in (span.low, span.high)))
    shown = ", ".join(f"{span.run} {_from_to(span.low, span.high, digits)}" for span in contest.ranges)
    lacking = f"; not measured: {', '.join(contest.missing)}" if contest.missing else ""
    lead_in = f"{title(contest.measure)} ({better(contest.worse)}): {shown}{lacking}"
    if not contest.worse:
        return f"{lead_in}."
    reason = contest.reason
    if contest.best is None or contest.ci_low is None:
        return f"{lead_in}; no winner: {reason}."
    over = f" over {contest.next_best}" if len(contest.ranges) > 2 else ""
    if reason:
        return f"{lead_in}; no winner: {contest.best} leads{over} {_by(contest, digits)}, and {reason}."
    if contest.winner is None:
        ahead = Note("{runs:and} are together ahead of {next}", runs=list(contest.ahead), next=contest.next_best)
        return f"{lead_in}; {ahead} {_by(contest, digits)}."
    return f"{lead_in}; {contest.best} wins{over} {_by(contest, digits)}."


def _by(contest: WritingContest, digits: int) -> str:
    difference, low, high = (value or 0.0 for value in (contest.difference, contest.ci_low, contest.ci_high))
    digits = 2 if contest.scale == "z" else digits
    unit = " in the author's sd, at equal length," if contest.scale == "z" else ""
    return (
        f"by {difference:.{digits}f} ({100 * contest.confidence:g}% CI {low:.{digits}f} to {high:.{digits}f}){unit} "
        f"over {Note('{n:lengths}', n=len(contest.common_tokens))}"
    )


def _from_to(low: float, high: float, digits: int) -> str:
    first, last = f"{low:.{digits}f}", f"{high:.{digits}f}"
    if first == last:
        return first
    return f"{first} to {last}" if low < 0 else f"{first}-{last}"
