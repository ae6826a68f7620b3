"""A continuation run in lines and tables: what the console and the pages say of the prose and of healthy rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Heading, Image, Lines, Pairs, Table, Text, columns, columns_of
from contextcliff.records.report import Report
from contextcliff.writing.figures import core_figure, dashboard_figure
from contextcliff.writing.levels import level_of, shown_lengths
from contextcliff.writing.phrases import change, shift, title, value, way
from contextcliff.writing.prose_findings import (
    COMPLETE,
    CompositeLevel,
    MeasureLevel,
    Writing,
    WritingTest,
    WritingTier,
)

_METHOD = (
    "Every prompt ends at the same place in the text, whatever its length, and the author's own next words are measured"
    " beside the model's. The composite (0-100, up is worse) is calibrated by windows of the author's text; the classic"
    " one is Context-Tester's. An interval is a bootstrap over the rounds. What could not be measured is a dash and"
    " counts in nothing."
)
_SCALES = {"z": "at equal length", "raw": "as it is"}
_TREND_TEST = (
    "Jonckheere and Terpstra's test over all lengths, one-sided where one way is worse; corrected: Holm. At equal"
    " length: tested are the z-scores by windows of the author's text as long as each round's, not the figures beside"
    " them."
)
_AGAINST = {"shortest": "the shortest length", "author": "the author's text elsewhere"}
_HEALTH = (
    "A round that is not healthy is counted once: as too short (less text than task.min_tokens_fraction asks for), else"
    " as in a loop (more than half of its three-word sequences have occurred before), else as beyond the author. The"
    " author's passages are windows of the text about as long as the round, each judged by what the other windows do;"
    " within the limit are 99% of them. The interval is Wilson's; the tested bound is exact and one-sided, and counts"
    " unscored rounds as not healthy."
)


def blocks(report: Report, writing: Writing) -> Iterator[Block]:
    """Every table and figure of a run, with the lengths that are shown."""
    yield Pairs(rows=tuple(_summary(writing)))
    yield _tier_table(writing) if writing.tiers else Text(text="No length was tested.")
    if writing.tiers:
        core, dashboard = partial(core_figure, report, writing), partial(dashboard_figure, report, writing)
        yield Image(name="core_metrics", caption="Core measures of the writing by length", draw=core)
        caption = "Composite, consistency, effect sizes and tests of the writing"
        yield Image(name="writing_dashboard", caption=caption, draw=dashboard)
    if writing.trends:
        yield Heading(text="From the shortest to the longest")
        yield _trend_table(writing)
        yield Text(text=_TREND_TEST)
    yield from _list("Worse (corrected p)", _degraded_lines(writing.tests))
    yield from _list("Steps between neighbouring lengths (fixed limits, no test)", _step_lines(writing))
    yield from _list("Outlying rounds (kept)", _outlier_lines(writing))
    measures = _measure_rows(writing)
    if measures:
        head = ("measure", *(phrases.whole(tier.context_tokens) for tier in writing.tiers), "original", "author")
        yield Heading(text="Every measure")
        yield Table(columns=columns_of(head, measures, words=head[:1]))
    yield Text(text=_METHOD)
    if writing.health is not None:
        yield Text(text=_HEALTH)


def _list(heading: str, lines: Iterable[str]) -> Iterator[Block]:
    listed = tuple(Text(text=line) for line in lines)
    if listed:
        yield Heading(text=heading)
        yield Lines(lines=listed)


def _tier_table(writing: Writing) -> Table:
    def shown(measure: str, digits: int, figure: str = "mean") -> Callable[[WritingTier], str]:
        return lambda tier: _decimals(getattr(level_of(tier, measure), figure), digits)

    return Table(
        columns=columns(
            writing.tiers,
            ("measured", lambda tier: phrases.whole(tier.context_tokens)),
            ("cloze score", shown("cloze_score", 2)),
            ("sd", shown("cloze_score", 2, "std")),
            ("level", lambda tier: tier.reading_level or phrases.MISSING),
            ("unfamiliar", lambda tier: _share(level_of(tier, "pct_unfamiliar_words").mean)),
            ("sentence length", shown("avg_sentence_length", 1)),
            ("length variance", shown("sentence_length_variance", 1)),
            ("vocabulary diversity", shown("vocabulary_diversity", 3)),
            ("sd", shown("vocabulary_diversity", 3, "std")),
            ("composite", lambda tier: _decimals(tier.composite.mean, 1)),
            ("interval", lambda tier: _interval(tier.composite)),
            ("classic composite", lambda tier: _decimals(tier.composite_classic.mean, 1)),
            ("rounds", lambda tier: phrases.whole(tier.n_rounds) + _of_all(tier)),
            ("draws", lambda tier: phrases.whole(tier.n_distinct)),
            ("outcomes", lambda tier: phrases.tally(dict(tier.outcomes)) or phrases.MISSING),
            words=("outcomes",),
        )
    )


def _of_all(tier: WritingTier) -> str:
    return f" of {tier.n_rounds + tier.n_unscored:,}" if tier.n_unscored else ""


def _interval(level: CompositeLevel) -> str:
    known = level.ci_low is not None and level.ci_high is not None
    return f"{level.ci_low:.1f}-{level.ci_high:.1f}" if known else phrases.MISSING


def _decimals(number: float | None, digits: int) -> str:
    return phrases.MISSING if number is None else f"{number:,.{digits}f}"


def _share(number: float | None) -> str:
    return phrases.MISSING if number is None else f"{100 * number:.1f}%"


def _trend_table(writing: Writing) -> Table:
    return Table(
        columns=columns(
            writing.trends,
            ("measure", lambda trend: title(trend.measure)),
            ("which way is worse", lambda trend: way(trend.measure) or "neither"),
            ("shortest", lambda trend: value(trend.start)),
            ("longest", lambda trend: value(trend.end)),
            ("change", lambda trend: change(trend.measure, trend.end - trend.start)),
            ("p", lambda trend: _p(trend.p_value)),
            ("corrected", lambda trend: _p(trend.p_holm)),
            ("tested", lambda trend: phrases.MISSING if trend.p_value is None else _SCALES[trend.scale]),
            words=("measure", "which way is worse", "tested"),
        )
    )


def _p(p_value: float | None) -> str:
    return phrases.MISSING if p_value is None else phrases.p_value(p_value).removeprefix("p = ")


def _measure_rows(writing: Writing) -> list[tuple[str, ...]]:
    rows = []
    for name in (level.name for level in (writing.tiers[0].measures if writing.tiers else ())):
        levels = [level_of(tier, name) for tier in writing.tiers]
        if any(level.mean is not None for level in levels):
            rows.append((title(name), *(value(level.mean) for level in levels), *_beside(levels)))
    return rows


def _beside(levels: Sequence[MeasureLevel]) -> tuple[str, str]:
    """The original's figure at the longest length that has one, and the author's mean with its spread there."""
    original = next((level.original for level in reversed(levels) if level.original is not None), None)
    author = next((level for level in reversed(levels) if level.author_mean is not None), None)
    if author is None:
        return value(original), phrases.MISSING
    return value(original), f"{value(author.author_mean)} (sd {value(author.author_std)})"


def _summary(writing: Writing) -> Iterator[tuple[str, str]]:
    if writing.settling_rounds is not None:
        yield "To settle the cap", f"about {writing.settling_rounds:,} rounds a length, in a new run"
    outcomes = [
        f"at {phrases.whole(tier.context_tokens)} {_ended(tier)}"
        for tier in writing.tiers
        if tier.n_unscored or any(count for tag, count in tier.outcomes.items() if tag != COMPLETE)
    ]
    if outcomes:
        yield "Outcomes", "; ".join(outcomes)
    yield "Embeddings", writing.embeddings or "none; coherence was not measured"


def _ended(tier: WritingTier) -> str:
    counts = {tag: count for tag, count in tier.outcomes.items() if count}
    return phrases.tally(counts | ({"unscored": tier.n_unscored} if tier.n_unscored else {}))


def _degraded_lines(tests: Sequence[WritingTest]) -> Iterator[str]:
    for test in (test for test in tests if test.degraded):
        # Ranks were tested: a single round far off can turn the means.
        by = "in most rounds, though not on average"
        if test.shift > 0:
            by = f"by {shift(test.measure, test.shift, test.scale)}"
        yield (
            f"at {phrases.whole(test.context_tokens)}: {title(test.measure)} worse than {_AGAINST[test.against]} {by}"
            f" (corrected {phrases.p_value(test.p_holm)}; effect {test.effect:.2f}, {test.size})"
        )


def _step_lines(writing: Writing) -> Iterator[str]:
    for step in writing.steps:
        went = "rose" if step.change > 0 else "fell"
        yield f"at {phrases.whole(step.context_tokens)}: {title(step.measure)} {went} {value(abs(step.change))}"


def _outlier_lines(writing: Writing) -> Iterator[str]:
    for tier in writing.tiers:
        for outlier in tier.outliers:
            measures = ", ".join(map(title, outlier.measures))
            yield f"at {phrases.whole(tier.context_tokens)}, round {outlier.trial + 1}: {measures}"


_FAULTS = {"too_short": "too short", "loop": "in a loop", "beyond_author": "beyond the author", "unmeasured": "unknown"}


def health_table(writing: Writing) -> tuple[Block, ...]:
    """The healthy rounds of each length and why the others are not; nothing where nobody judged them."""
    levels = () if writing.health is None else writing.health.levels
    if not levels:
        return ()

    lengths = shown_lengths(writing)
    faults = [fault for fault in _FAULTS if fault != "unmeasured" or any(fault in level.faults for level in levels)]
    unscored = ("un-\nscored", lambda level: phrases.whole(level.n_unscored))
    shown = columns(
        levels,
        ("asked", lambda level: phrases.whole(level.context_tokens)),
        ("measured", lambda level: phrases.whole(lengths.get(level.context_tokens))),
        ("rounds", lambda level: phrases.whole(level.n)),
        *([unscored] if any(level.n_unscored for level in levels) else []),
        ("healthy", lambda level: phrases.whole(level.healthy)),
        ("share", lambda level: _share(level.share)),
        ("interval", lambda level: phrases.interval(level.ci_low, level.ci_high)),
        ("tested\nbound", lambda level: phrases.bound(level.tested_low)),
        *((_FAULTS[f].replace(" ", "\n", 1), lambda level, f=f: phrases.whole(level.faults.get(f, 0))) for f in faults),
    )
    kept = len(shown) - len(faults) - 2  # the others give way on a narrow console
    return (Table(columns=tuple(replace(each, spare=max(0, at - kept + 1)) for at, each in enumerate(shown))),)
