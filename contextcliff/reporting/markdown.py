"""The report as a Markdown page: what the console says, then the method and every other cap rule."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.analysis.judged_by import rule_of, worded
from contextcliff.records.report import SCHEMA_VERSION, Report
from contextcliff.reporting import phrases
from contextcliff.reporting.markdown_findings import findings
from contextcliff.reporting.markup import bullets, code, escape, image, inline, pairs, table

_CAPTIONS = {
    "score_by_length": "Score by length",
    "heatmap": "Score by depth and length",
    "decay_curve": "Decay by length",
    "depth_profile": "Score by depth",
    "facets": "Score by facet",
    "failures_by_length": "Failures by length",
    "length_histogram": "Documents by length",
    "latency_by_length": "Latency by length",
    "core_metrics": "Core measures of the writing by length",
    "writing_rounds": "Core measures of the writing, round by round",
    "writing_dashboard": "Composite, consistency, effect sizes and tests of the writing",
    "convergence": "Every measure of the writing against the original",
}

_RULES = {
    "walk_up": "longest prompt of the last length, from the shortest up, that was shown to clear the threshold",
    "blueprint": "shortest prompt of the first length where the spread doubles, the mean falls by over 30% or"
    " failures spike",
    "absolute": "longest prompt before the first mean under the threshold, taken as a fixed score; no test",
    "relative": "longest prompt before the first mean under a fixed share of the shortest length's, the"
    ' "effective length" of other benchmarks; no test',
    "half_life": "length over which the score halves, by a fitted exponential decay",
    "writing": "where the text that the model itself writes degrades",
    "memory": "what the KV cache leaves room for",
    "latency": "what a limit on latency admits",
}


def render_markdown(report: Report, *, figures: Sequence[str]) -> str:
    """The whole page. `figures` are paths of images relative to it, as in `figures/heatmap.png`."""
    images = {_stem(path): image(path, caption=_CAPTIONS.get(_stem(path), _stem(path))) for path in figures}
    sections = findings(report, images=images)
    placed = {block for block in sections if block}
    blocks = [
        f"# Failure risk report: {inline(report.run.model)}",
        *_partial(report),
        f"**Safe cap: {inline(phrases.headline(report))}**",
        bullets(f"{name}: {escape(value)}" for name, value in phrases.cap_details(report)),
        pairs(phrases.identity(report)),
        *_zones(report),
        "## Score by length",
        *_scores(report),
        escape(f"Overall: {phrases.overall(report)}."),
        *(shown for shown in images.values() if shown not in placed),
        *sections,
        *_failures(report),
        "## What it took",
        pairs(phrases.took(report)),
        *_notes(report),
        "## Method",
        *_method(report),
        "## Appendix: every cap rule",
        *_caps(report),
        "## This run",
        pairs(
            (
                ("Run", report.run.run_id),
                ("Fingerprint", report.run.fingerprint),
                ("Created", report.run.created_at),
                ("Judged by", worded(rule_of(report))),
                ("Report schema", str(SCHEMA_VERSION)),
            )
        ),
        code(report.run.command),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _partial(report: Report) -> list[str]:
    return [f"**Partial: {phrases.partial(report)}.**"] if report.run.partial else []


def _zones(report: Report) -> list[str]:
    if not report.analysis.zones:
        return []
    rows = [
        (phrases.ZONE_MARKS.get(zone.name, "[??]"), zone.name, f"{zone.min_tokens:,}", f"{zone.max_tokens:,}")
        for zone in report.analysis.zones
    ]
    return ["## Zones", table(("", "zone", "from tokens", "to tokens"), rows, words=2)]


def _scores(report: Report) -> list[str]:
    if not report.analysis.bins:
        return ["No length was tested."]
    # Only where samples share texts: elsewhere each is a text of its own, and the column would say nothing.
    shared = any(b.n_clusters is not None for b in report.analysis.bins)
    head = (
        *("asked tokens", "measured (median)", "n", *(("shared texts",) if shared else ()), "unscored", "score"),
        *(
            "interval",
            phrases.bound_name(report.analysis.safe_cap),
            "commonest failure",
            "median TTFT",
            "median latency",
        ),
    )
    rows = [
        (
            phrases.whole(b.asked_tokens),
            phrases.whole(b.median_tokens),
            phrases.whole(b.n_samples),
            *((phrases.whole(b.n_clusters),) if shared else ()),
            phrases.whole(b.n_unscored),
            phrases.score(b.mean),
            phrases.interval(b.ci_low, b.ci_high),
            phrases.bound(b.tested_low),
            phrases.commonest_failure(b),
            phrases.milliseconds(b.ttft_ms_median),
            phrases.milliseconds(b.latency_ms_median),
        )
        for b in report.analysis.bins
    ]
    return [table(head, rows)]


def _failures(report: Report) -> list[str]:
    tags = tuple(phrases.all_failures(report))
    if not tags:
        return ["## Failures by length", "None."]
    rows = [
        (
            phrases.whole(b.asked_tokens),
            phrases.MISSING if b.failure_rate is None else phrases.percent(b.failure_rate),
            *(phrases.whole(b.failures.get(tag, 0)) for tag in tags),
        )
        for b in report.analysis.bins
    ]
    return ["## Failures by length", table(("asked tokens", "failure rate", *tags), rows)]


def _notes(report: Report) -> list[str]:
    return ["## Notes", bullets(escape(note) for note in report.notes)] if report.notes else []


def _method(report: Report) -> list[str]:
    cap = report.analysis.safe_cap
    confidence = phrases.percent(cap.confidence)
    tested = "No length was tested."
    if report.analysis.bins:
        lengths = [a_bin.asked_tokens for a_bin in report.analysis.bins]
        depths = len({cell.depth for cell in report.analysis.cells})
        at = f", at {depths:,} {'depth' if depths == 1 else 'depths'}" if depths else ""
        plural = "length" if len(lengths) == 1 else "lengths"
        tested = (
            f"{report.counts.planned:,} samples were planned over {len(lengths):,} {plural},"
            f" {min(lengths):,} to {max(lengths):,} tokens{at}. Lengths are bins by the server's own count of"
            " the prompt; the length asked for stands beside it."
        )
    claim = (
        "The lengths are tested one-sided from the shortest up, and the first that is not shown to clear"
        f" {phrases.threshold(cap)} ends the walk; the cap is the longest prompt of the last length before"
        " it. Since the order is fixed beforehand, the claim that every tested length up to the cap clears"
        f" the threshold holds as a whole at {confidence} confidence, without a correction. Between tested"
        " lengths it supposes that the score does not fall and rise again."
    )
    bound = phrases.bound_name(cap)
    use = (
        "The threshold is tested jointly with the baseline, which is an estimate too, and not by this bound"
        if cap.relative_to_baseline
        else "This bound is what the cap is tested with"
    )
    shown = (
        f"The interval of a score is two-sided at {confidence}: Wilson's where scores are 0 or 1, else a"
        f" bootstrap. The {bound} is one-sided at {confidence} and exact for 0/1 scores. {use}. Unscored"
        " samples are left out of the mean and count as wrong in the bound."
    )
    if any(b.n_clusters is not None for b in report.analysis.bins):
        shown += (
            " Samples of one length that share a text are right and wrong together: interval and bound there are"
            " those of the effective number of samples, which is smaller (Korn and Graubard 1998)."
        )
    return [tested, claim, shown]


def _caps(report: Report) -> list[str]:
    rows = [(rule, phrases.whole(tokens), _RULES.get(rule, "")) for rule, tokens in report.analysis.caps.items()]
    chosen = f"The report stands on {inline(report.analysis.safe_cap.rule)}; the others are for comparison."
    every = table(("rule", "cap in tokens", "what it is"), rows, words=1, wordy_end=True) if rows else ""
    return [chosen, every]


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".png")
