"""Sections of the Markdown page for what was found beside the cap; each is there only with data for it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from contextcliff.analysis.judgement import Judgement
from contextcliff.records.report import Report
from contextcliff.reporting import findings as words
from contextcliff.reporting import found_in, phrases
from contextcliff.reporting.markup import bullets, escape, inline, pairs, table
from contextcliff.writing.sections.markdown_writing import writing_blocks


def findings(report: Report, *, images: Mapping[str, str]) -> list[str]:
    """The blocks of every section. `images` are figures ready for the page, by name; some stand in a section."""
    return [
        *writing_blocks(report, images=images),
        *_natural_lengths(report, images.get("length_histogram", "")),
        *_guide(report),
        *_half_life(report, images.get("decay_curve", "")),
        *_position(report, images.get("depth_profile", "")),
        *_facets(report, images.get("facets", "")),
        *_controls(report),
        *([] if (judged := found_in.judgement(report)) is None else _judge(judged)),
    ]


def _natural_lengths(report: Report, figure: str) -> list[str]:
    """Where documents have their own length: what each bin holds, and how its scores are spread."""
    audit = found_in.audit(report)
    if audit is None:
        return []
    rows = [
        (
            str(position),
            f"{b.min_tokens:,}-{b.max_tokens:,}",
            phrases.whole(b.n_documents),
            phrases.whole(b.n_items),
            phrases.score(b.std),
            phrases.MISSING if b.instability is None else phrases.percent(b.instability),
            _small(b.within_item_variance),
            _small(b.rolling_variance),
            _small(b.bimodality),
            phrases.milliseconds(b.latency_ms_std),
        )
        for position, b in enumerate(report.analysis.bins, start=1)
    ]
    head = (
        *("bin", "prompt tokens", "documents", "questions", "sd", "instability", "variance in a question"),
        *("rolling variance", "bimodality", "latency sd"),
    )
    told = (
        f"{len(audit.lengths):,} documents of natural length; {audit.too_short:,} were too short and {audit.too_long:,}"
        " too long, and none was cut or padded. Instability is the share of questions whose score changes between their"
        " repeats, the variance in a question its mean size; rolling variance is that of a bin and its neighbours;"
        " a bimodality above 0.56 hints at two kinds of answers, whole and worthless."
    )
    return ["## Bins of documents", told, table(head, rows), figure]


def _small(value: float | None) -> str:
    return phrases.MISSING if value is None else f"{value:.3f}"


def _guide(report: Report) -> list[str]:
    guide = found_in.guide(report)
    if not guide.rows and not guide.advice:
        return []
    rows = [
        (
            f"{words.LEVEL_MARKS.get(row.level, '[??]')} {row.level}",
            phrases.whole(row.asked_tokens),
            phrases.whole(row.n_samples),
            phrases.score(row.mean),
            phrases.interval(row.ci_low, row.ci_high),
            "yes" if row.sure else "no",
        )
        for row in guide.rows
    ]
    scale = (
        "A rule of thumb on mean scores: safe over 0.9, danger under 0.5, caution between. It is sure where the"
        " whole interval lies in that range. The safe cap, not this guide, is the claim that was tested."
    )
    head = ("level", "asked tokens", "n", "score", "interval", "sure")
    return [
        "## Operating guide",
        scale,
        table(head, rows, words=1) if rows else "",
        bullets(escape(line) for line in guide.advice),
    ]


def _half_life(report: Report, figure: str) -> list[str]:
    """Also where there is none, with the reason: that recall does not fall is a finding."""
    found = found_in.half_life(report)
    if not report.analysis.bins:
        return []
    rows = [("Maximum likelihood", "none" if found.tokens is None else words.half_life(found))]
    if found.initial is not None:
        rows.append(("Score at length 0", phrases.score(found.initial)))
    if found.tokens is None and found.ci_low is not None:
        rows.append(("At least", f"{found.ci_low:,} tokens"))
    lsq = found_in.half_life_lsq(report)
    rows += [
        ("Least squares", "none" if lsq is None else f"{lsq:,} tokens"),
        *([("Reason" if found.tokens is None else "Basis", found.reason)] if found.reason else []),
    ]
    meaning = "The length over which the score halves, were its fall exponential; the safe cap does not depend on it."
    return ["## Half-life", meaning, pairs(rows), figure]


def _position(report: Report, figure: str) -> list[str]:
    found = found_in.position(report)
    if found.pattern is None and not found_in.profile(report):
        return []
    rows = [("Pattern", words.pattern_name(found))]
    if found.n_samples:
        rows.append(("Samples", phrases.whole(found.n_samples)))
    if found.reason:
        rows.append(("Reason", found.reason))
    points = [
        (
            f"{point.depth:.3g}",
            phrases.whole(point.n_samples),
            phrases.score(point.mean),
            phrases.interval(point.ci_low, point.ci_high),
        )
        for point in found_in.profile(report)
    ]
    return [
        "## Position",
        pairs(rows),
        figure,
        table(("depth", "n", "score", "interval"), points) if points else "",
    ]


def _facets(report: Report, figure: str) -> list[str]:
    if not found_in.facets(report):
        return []
    blocks = [
        "## By facet",
        "Scores over all lengths. A cap is that of these samples alone: having fewer of them, it is often lower than"
        " the run's for lack of evidence and not of ability.",
        figure,
    ]
    for facet, rows in groupby(found_in.facets(report), key=lambda row: row.facet):
        cells = [
            (
                row.value,
                phrases.whole(row.n_samples),
                phrases.score(row.mean),
                phrases.interval(row.ci_low, row.ci_high),
                phrases.whole(row.cap_tokens),
            )
            for row in rows
        ]
        blocks += [f"### {inline(facet)}", table(("value", "n", "score", "interval", "cap in tokens"), cells, words=1)]
    return blocks


def _controls(report: Report) -> list[str]:
    if not found_in.controls(report):
        return []
    meaning = (
        "Ceiling: the evidence alone; floor: the text without it. A length whose ceiling is shown to be low, or whose"
        " floor to be high, is not informative: its scores say nothing about length."
    )
    rows = [
        (
            phrases.whole(level.asked_tokens),
            phrases.whole(level.ceiling_n),
            phrases.score(level.ceiling),
            phrases.interval(level.ceiling_ci_low, level.ceiling_ci_high),
            phrases.whole(level.floor_n),
            phrases.score(level.floor),
            phrases.interval(level.floor_ci_low, level.floor_ci_high),
            "yes" if level.informative else "no",
        )
        for level in found_in.controls(report)
    ]
    head = ("asked tokens", "ceiling n", "ceiling", "interval", "floor n", "floor", "interval", "informative")
    blind = sum(not cell.informative for cell in report.analysis.cells)
    cells = (
        f"{blind:,} of {len(report.analysis.cells):,} cells of length and depth are not informative." if blind else ""
    )
    return ["## Controls", meaning, table(head, rows), cells]


def _judge(found: Judgement) -> list[str]:
    rows = [
        ("Judge", found.judge),
        ("Rated", f"{found.n_judged:,} answers, {found.n_unjudged:,} unjudged"),
        ("Mean rating", "-" if found.mean_rating is None else f"{found.mean_rating:.1f} of 10"),
    ]
    if found.share is not None:
        rows += [
            ("Disagreement with the score", f"{words.disagreement(found)}, {found.disagreements:,} answers"),
            ("Judge says right, score wrong", phrases.whole(found.judge_only)),
            ("Score says right, judge wrong", phrases.whole(found.exact_only)),
        ]
    meaning = (
        f"The judge counts as saying right from {found.right_from:,} of 10 up, the exact score from 0.5 up. The report"
        " stands on the exact score."
    )
    return ["## Judge", meaning, pairs(rows)]
