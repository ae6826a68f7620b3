"""A continuation run in lines and tables: what the console and the pages say of the prose and of healthy rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Image, Table
from contextcliff.writing.levels import level_of, shown_as
from contextcliff.writing.phrases import shift, title, value
from contextcliff.writing.prose_findings import (
    COMPLETE,
    CompositeLevel,
    MeasureLevel,
    Writing,
    WritingTest,
    WritingTier,
)

_NAMED = 4
"""The most measures that a line names; further ones are counted."""
_AGAINST = {"shortest": "the shortest length", "author": "the author's text elsewhere"}


def tier_table(writing: Writing) -> Table:
    """The measures of prose by length."""
    tiers = writing.tiers

    def mean(measure: str, digits: int) -> list[str]:
        return [_decimals(level_of(tier, measure).mean, digits) for tier in tiers]

    def spread(measure: str, digits: int) -> list[str]:
        return [_decimals(level_of(tier, measure).std, digits) for tier in tiers]

    columns = [
        (shown_as(writing), [phrases.whole(tier.context_tokens) for tier in tiers]),
        ("cloze score", mean("cloze_score", 2)),
        ("sd", spread("cloze_score", 2)),
        ("level", [tier.reading_level or phrases.MISSING for tier in tiers]),
        ("unfamiliar", [_share(level_of(tier, "pct_unfamiliar_words").mean) for tier in tiers]),
        ("sentence length", mean("avg_sentence_length", 1)),
        ("length variance", mean("sentence_length_variance", 1)),
        ("vocabulary diversity", mean("vocabulary_diversity", 3)),
        ("sd", spread("vocabulary_diversity", 3)),
        ("composite", [_decimals(tier.composite.mean, 1) for tier in tiers]),
        ("interval", [_composite_interval(tier.composite) for tier in tiers]),
        ("classic composite", [_decimals(tier.composite_classic.mean, 1) for tier in tiers]),
        ("rounds", [_rounds(tier) for tier in tiers]),
        ("draws", [phrases.whole(tier.n_distinct) for tier in tiers]),
        ("outcomes", [phrases.tally(dict(tier.outcomes)) or phrases.MISSING for tier in tiers]),
    ]
    return Table(
        columns=tuple(Column(title=title, cells=tuple(cells), words=title == "outcomes") for title, cells in columns)
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
    """What would settle the cap, outcomes and embeddings, as pairs of a name and a sentence."""
    rows = []
    if writing.settling_rounds is not None:
        rows.append(("To settle the cap", f"about {writing.settling_rounds:,} rounds a length, in a new run"))
    outcomes = outcome_lines(writing)
    if outcomes:
        rows.append(("Outcomes", "; ".join(outcomes)))
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


def lists(writing: Writing) -> Mapping[str, list[str]]:
    """Lines under their headings; an empty list has nothing to show."""
    return {
        "Worse (corrected p)": degraded_lines(writing.tests),
        "Steps between neighbouring lengths (fixed limits, no test)": step_lines(writing),
        "Outlying rounds (kept)": outlier_lines(writing),
    }


def _rounds(tier: WritingTier) -> str:
    """Rounds that were answered, of those that were planned where some were not."""
    planned = tier.n_rounds + tier.n_unscored
    return f"{tier.n_rounds:,}" if not tier.n_unscored else f"{tier.n_rounds:,} of {planned:,}"


def _composite_interval(level: CompositeLevel) -> str:
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


HEALTH = (
    "A round that is not healthy is counted once: as too short (less text than task.min_tokens_fraction asks for), else"
    " as in a loop (more than half of its three-word sequences have occurred before), else as beyond the author. The"
    " author's passages are windows of the text about as long as the round, each judged by what the other windows do;"
    " within the limit are 99% of them. The interval is Wilson's; the tested bound is exact and one-sided, and counts"
    " unscored rounds as not healthy."
)


def health_table(writing: Writing) -> tuple[Block, ...]:
    """Healthy rounds by length with their figure; nothing where nobody judged the rounds."""
    columns = _columns(writing)
    return (Image(figure="healthy_rounds"), Table(columns=tuple(columns))) if columns else ()


_FAULTS = {"too_short": "too short", "loop": "in a loop", "beyond_author": "beyond the author", "unmeasured": "unknown"}


def _columns(writing: Writing) -> list[Column]:
    """The healthy rounds of each length, and why the others are not; no column where nobody judged them."""
    levels = () if writing.health is None else writing.health.levels
    faults = [fault for fault in _FAULTS if fault != "unmeasured" or any(fault in level.faults for level in levels)]
    if not levels:
        return []
    return [
        _column(shown_as(writing), [phrases.whole(level.context_tokens) for level in levels]),
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
