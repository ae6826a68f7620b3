"""A continuation run in lines and tables: what the console and the pages say of the prose and of healthy rounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Image, Table, Text
from contextcliff.statistics.ranks import is_significant
from contextcliff.writing.levels import level_of, shown_lengths
from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.phrases import change, shift, title, value
from contextcliff.writing.prose_findings import (
    COMPLETE,
    CompositeLevel,
    MeasureLevel,
    Writing,
    WritingTest,
    WritingTier,
    WritingTrend,
)

_NAMED = 4
"""The most measures that a line names; further ones are counted."""
_AGAINST = {"shortest": "the shortest length", "author": "the author's text elsewhere"}


def tier_columns(writing: Writing) -> list[Column]:
    """The table of lengths, in columns of which the least important give way."""
    tiers = writing.tiers

    def measured(heading: str, measure: str, digits: int, *, spare: int = 0) -> Column:
        return _column(heading, [_decimals(level_of(tier, measure).mean, digits) for tier in tiers], spare=spare)

    def spread(measure: str, digits: int, *, spare: int) -> Column:
        return _column("sd", [_decimals(level_of(tier, measure).std, digits) for tier in tiers], spare=spare)

    return [
        _column(shown_lengths(writing).column, [phrases.whole(tier.context_tokens) for tier in tiers]),
        measured("cloze", "cloze_score", 2),
        spread("cloze_score", 2, spare=3),
        _column("level", [tier.reading_level or phrases.MISSING for tier in tiers], spare=5),
        _column("un-\nfam.", [_share(level_of(tier, "pct_unfamiliar_words").mean) for tier in tiers], spare=7),
        measured("sent.\nwords", "avg_sentence_length", 1, spare=8),
        measured("sent.\nvar.", "sentence_length_variance", 1, spare=6),
        measured("vocab.\ndiv.", "vocabulary_diversity", 3, spare=1),
        spread("vocabulary_diversity", 3, spare=4),
        _column("compo-\nsite", [_decimals(tier.composite.mean, 1) for tier in tiers]),
        _column("interval", [composite_interval(tier.composite) for tier in tiers], spare=2),
        _column("n", [phrases.whole(tier.n_rounds) for tier in tiers]),
    ]


def tier_table(writing: Writing) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The same table whole, for a page: head and rows."""
    head = (
        *(
            shown_lengths(writing).column,
            "cloze score",
            "sd",
            "level",
            "unfamiliar",
            "sentence length",
            "length variance",
        ),
        *("vocabulary diversity", "sd", "composite", "interval", "classic composite", "rounds", "draws", "outcomes"),
    )
    return head, [_row(tier) for tier in writing.tiers]


def _row(tier: WritingTier) -> tuple[str, ...]:
    cloze, diversity = level_of(tier, "cloze_score"), level_of(tier, "vocabulary_diversity")
    return (
        phrases.whole(tier.context_tokens),
        _decimals(cloze.mean, 2),
        _decimals(cloze.std, 2),
        tier.reading_level or phrases.MISSING,
        _share(level_of(tier, "pct_unfamiliar_words").mean),
        _decimals(level_of(tier, "avg_sentence_length").mean, 1),
        _decimals(level_of(tier, "sentence_length_variance").mean, 1),
        _decimals(diversity.mean, 3),
        _decimals(diversity.std, 3),
        _decimals(tier.composite.mean, 1),
        composite_interval(tier.composite),
        _decimals(tier.composite_classic.mean, 1),
        rounds(tier),
        phrases.whole(tier.n_distinct),
        phrases.tally(dict(tier.outcomes)) or phrases.MISSING,
    )


def measure_table(writing: Writing) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Every measure that has a figure: its mean at each length, and the original's."""
    head = ("measure", *(phrases.whole(tier.context_tokens) for tier in writing.tiers), "original", "author")
    rows = []
    for name in (level.name for level in (writing.tiers[0].measures if writing.tiers else ())):
        levels = [level_of(tier, name) for tier in writing.tiers]
        if any(level.mean is not None for level in levels):
            rows.append((title(name), *(value(level.mean) for level in levels), *_beside(levels)))
    return head, rows


def _beside(levels: Sequence[MeasureLevel]) -> tuple[str, str]:
    """The original's figure at the longest length that has one, and the author's mean with its spread there."""
    original = next((level.original for level in reversed(levels) if level.original is not None), None)
    author = next((level for level in reversed(levels) if level.author_mean is not None), None)
    if author is None:
        return value(original), phrases.MISSING
    return value(original), f"{value(author.author_mean)} (sd {value(author.author_std)})"


def summary(writing: Writing) -> tuple[tuple[str, str], ...]:
    """Verdict, outcomes and warnings, as pairs of a name and a sentence."""
    rows = [("Verdict", str(writing.verdict))]
    if writing.settling_rounds is not None:
        rows.append(("To settle the cap", f"about {writing.settling_rounds:,} rounds a length, in a new run"))
    outcomes = outcome_lines(writing)
    if outcomes:
        rows.append(("Outcomes", "; ".join(outcomes)))
    rows += [("Warning", str(warning)) for warning in writing.warnings]
    rows.append(("Embeddings", writing.embeddings or "none; coherence was not measured"))
    return tuple(rows)


def outcome_lines(writing: Writing) -> list[str]:
    """Each length at which some round was not complete, with how its rounds ended."""
    return [
        f"at {phrases.whole(tier.context_tokens)} {_ended(tier)}"
        for tier in writing.tiers
        if tier.n_unscored or any(count for tag, count in tier.outcomes.items() if tag != COMPLETE)
    ]


def _ended(tier: WritingTier) -> str:
    counts = {tag: count for tag, count in tier.outcomes.items() if count}
    return phrases.tally(counts | ({"unscored": tier.n_unscored} if tier.n_unscored else {}))


def trend_lines(writing: Writing) -> list[tuple[str, str]]:
    """From the shortest to the longest length, as pairs of a measure and its change; the rest of them in a line."""
    shown = [trend for trend in writing.trends if _is_headline(trend) or _is_shown(trend, writing.confidence)]
    lines = [(title(trend.measure), trend_words(trend)) for trend in shown]
    rest = len(writing.trends) - len(shown)
    if rest:
        level = phrases.percent(1.0 - writing.confidence)
        lines.append((f"{rest:,} further", f"no trend shown at {level}, corrected"))
    return lines


def _is_headline(trend: WritingTrend) -> bool:
    known = BY_NAME.get(trend.measure)
    return known is not None and known.headline


def _is_shown(trend: WritingTrend, confidence: float) -> bool:
    """Whether a trend is significant after the correction for how many were tested."""
    return trend.p_holm is not None and is_significant(trend.p_holm, confidence)


def trend_words(trend: WritingTrend) -> str:
    """Start, end and change of the measure itself, and what the test says, which may be of its z-scores."""
    moved = f"{value(trend.start)} -> {value(trend.end)} ({change(trend.measure, trend.end - trend.start)})"
    if trend.p_value is None:
        return f"{moved}; not tested"
    p_value = phrases.p_value(trend.p_value)
    tested = p_value if trend.p_holm is None else f"corrected {phrases.p_value(trend.p_holm)}"
    return f"{moved}; {tested}{' at equal length' if trend.scale == 'z' else ''}"


def degraded_lines(tests: Sequence[WritingTest]) -> list[str]:
    """Every measure that a test found worse, at which length and by how much."""
    return [
        f"at {phrases.whole(test.context_tokens)}: {title(test.measure)} worse than"
        f" {_AGAINST.get(test.against, test.against)} {_by(test)}"
        f" (corrected {phrases.p_value(test.p_holm)}; effect {test.effect:.2f}, {test.size})"
        for test in tests
        if test.degraded
    ]


def _by(test: WritingTest) -> str:
    if test.shift > 0:
        return f"by {shift(test.measure, test.shift, test.scale)}"
    # Ranks were tested: a single round far off can turn the means.
    return "in most rounds, though not on average"


def degraded_in_short(tests: Sequence[WritingTest]) -> list[str]:
    """A line for each length and baseline, with the measures that a test found worse, by p-value."""
    places: defaultdict[tuple[str, int], list[WritingTest]] = defaultdict(list)
    for test in sorted((test for test in tests if test.degraded), key=lambda test: (test.p_holm, -test.effect)):
        places[test.against, test.context_tokens].append(test)
    return [
        f"at {phrases.whole(tokens)}, than {_AGAINST.get(against, against)}: {_named(worse)}"
        for (against, tokens), worse in sorted(places.items(), key=lambda place: (place[0][0] != "shortest", place[0]))
    ]


def _named(tests: Sequence[WritingTest]) -> str:
    named = ", ".join(f"{title(test.measure)} ({phrases.p_value(test.p_holm)})" for test in tests[:_NAMED])
    more = len(tests) - _NAMED
    return f"{named} and {more:,} more" if more > 0 else named


def step_lines(writing: Writing) -> list[str]:
    """Steps between neighbouring lengths beyond Context-Tester's limits."""
    return [
        f"at {phrases.whole(step.context_tokens)}: {title(step.measure)} {'rose' if step.change > 0 else 'fell'}"
        f" {value(abs(step.change))}"
        for step in writing.steps
    ]


def outlier_lines(writing: Writing) -> list[str]:
    """Rounds far from the others of their length, and in what."""
    return [
        f"at {phrases.whole(tier.context_tokens)}, round {outlier.trial + 1}: {', '.join(map(title, outlier.measures))}"
        for tier in writing.tiers
        for outlier in tier.outliers
    ]


def lists(writing: Writing, *, in_short: bool = False) -> Mapping[str, list[str]]:
    """Lines under their headings; an empty list has nothing to show."""
    return {
        "Worse (corrected p)": degraded_in_short(writing.tests) if in_short else degraded_lines(writing.tests),
        "Steps between neighbouring lengths (fixed limits, no test)": step_lines(writing),
        "Outlying rounds (kept)": outlier_lines(writing),
    }


def rounds(tier: WritingTier) -> str:
    """Rounds that were answered, of those that were planned where some were not."""
    planned = tier.n_rounds + tier.n_unscored
    return f"{tier.n_rounds:,}" if not tier.n_unscored else f"{tier.n_rounds:,} of {planned:,}"


def composite_interval(level: CompositeLevel) -> str:
    """Both ends of a composite's interval."""
    if level.ci_low is None or level.ci_high is None:
        return phrases.MISSING
    return f"{level.ci_low:.1f}-{level.ci_high:.1f}"


def _column(heading: str, cells: Sequence[str], *, spare: int = 0) -> Column:
    return Column(title=heading, cells=tuple(cells), spare=spare)


def _decimals(number: float | None, digits: int) -> str:
    return phrases.MISSING if number is None else f"{number:,.{digits}f}"


def _share(number: float | None) -> str:
    return phrases.MISSING if number is None else f"{100 * number:.1f}%"


_HEALTH = (
    "A round that is not healthy is counted once: as too short (less text than task.min_tokens_fraction asks for), else"
    " as in a loop (more than half of its three-word sequences have occurred before), else as beyond the author. The"
    " author's passages are windows of the text about as long as the round, each judged by what the other windows do;"
    " within the limit are 99% of them. The interval is Wilson's; the tested bound is exact and one-sided, and counts"
    " unscored rounds as not healthy."
)


def health_table(writing: Writing) -> tuple[Block, ...]:
    """The table alone, at the console's width; nothing where nobody judged the rounds."""
    columns = _columns(writing)
    return (Table(columns=tuple(columns)),) if columns else ()


def health_blocks(writing: Writing) -> tuple[Block, ...]:
    """The table with its figure, and how rounds are counted."""
    table = health_table(writing)
    return (*table, Text(text=_HEALTH), Image(figure="healthy_rounds")) if table else ()


_FAULTS = {"too_short": "too short", "loop": "in a loop", "beyond_author": "beyond the author", "unmeasured": "unknown"}


def _columns(writing: Writing) -> list[Column]:
    """The healthy rounds of each length, and why the others are not; no column where nobody judged them."""
    levels = () if writing.health is None else writing.health.levels
    faults = [fault for fault in _FAULTS if fault != "unmeasured" or any(fault in level.faults for level in levels)]
    if not levels:
        return []
    return [
        _column(shown_lengths(writing).column, [phrases.whole(level.context_tokens) for level in levels]),
        _column("rounds", [phrases.whole(level.n) for level in levels]),
        *(
            [_column("un-\nscored", [phrases.whole(level.n_unscored) for level in levels])]
            if any(level.n_unscored for level in levels)
            else []
        ),
        _column("healthy", [phrases.whole(level.healthy) for level in levels]),
        _column("share", [_share(level.share) for level in levels]),
        _column("interval", [phrases.interval(level.ci_low, level.ci_high) for level in levels], spare=1),
        _column("tested\nbound", [phrases.bound(level.tested_low) for level in levels], spare=2),
        *(
            _column(
                _FAULTS[fault].replace(" ", "\n", 1),
                [phrases.whole(level.faults.get(fault, 0)) for level in levels],
                spare=3 + place,
            )
            for place, fault in enumerate(faults)
        ),
    ]
