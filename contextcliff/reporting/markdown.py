"""The report as a Markdown page: what the console says, then the method and every other cap rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from contextcliff.records import Report
from contextcliff.reporting import phrases

_CAPTIONS = {
    "score_by_length": "Score by length",
    "heatmap": "Score by depth and length",
    "latency_by_length": "Latency by length",
}

_RULES = {
    "walk_up": "longest prompt of the last length, from the shortest up, that was shown to clear the threshold",
    "blueprint": "shortest prompt of the first length where the spread doubles, the mean falls by over 30% or"
    " failures spike",
    "absolute": "longest prompt before the first mean under the threshold, taken as a fixed score; no test",
    "relative": "longest prompt before the first mean under a fixed share of the shortest length's, the"
    ' "effective length" of other benchmarks; no test',
    "half_life": "length at which the score has halved, by a fitted exponential decay",
    "writing": "where the text that the model itself writes degrades",
    "memory": "what the KV cache leaves room for",
    "latency": "what a limit on latency admits",
}


def render_markdown(report: Report, *, figures: Sequence[str]) -> str:
    """The whole page. `figures` are paths of images relative to it, as in `figures/heatmap.png`."""
    blocks = [
        f"# Failure risk report: {_inline(report.model)}",
        *_partial(report),
        f"**Safe cap: {_inline(phrases.headline(report))}**",
        _bullets(f"{name}: {escape(value)}" for name, value in phrases.cap_details(report)),
        _pairs(phrases.identity(report)),
        *_zones(report),
        "## Score by length",
        *_scores(report),
        escape(f"Overall: {phrases.overall(report)}."),
        *(_image(path) for path in figures),
        *_failures(report),
        "## What it took",
        _pairs(phrases.took(report)),
        *_notes(report),
        "## Method",
        *_method(report),
        "## Appendix: every cap rule",
        *_caps(report),
        "## This run",
        _pairs(
            (
                ("Run", report.run_id),
                ("Fingerprint", report.fingerprint),
                ("Created", report.created_at),
                ("Report schema", str(report.schema_version)),
            )
        ),
        _code(report.command),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def escape(text: str) -> str:
    """Text from outside (names, tags, notes) as a line of Markdown that shows it as it is.

    Nothing in it can start HTML, a link, an image, code, emphasis, a formula, a heading, a list or a
    table cell.
    """
    line = _inline(text)
    line = re.sub(r"^(?=[-+=#])", r"\\", line)
    return re.sub(r"^(\d+)(?=[.)](\s|$))", r"\1\\", line)


def _inline(text: str) -> str:
    """As `escape`, for text that doesn't begin a line."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    flat = re.sub(r"([\\`*\[\]|~$])", r"\\\1", flat)
    # An underscore inside a word is no emphasis, and names are full of them: those stay readable.
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", flat)


def _partial(report: Report) -> list[str]:
    return ["**Partial: the run stopped before its end; lengths may be missing.**"] if report.partial else []


def _zones(report: Report) -> list[str]:
    if not report.zones:
        return []
    rows = [
        (phrases.ZONE_MARKS.get(zone.name, "[??]"), zone.name, f"{zone.min_tokens:,}", f"{zone.max_tokens:,}")
        for zone in report.zones
    ]
    return ["## Zones", _table(("", "zone", "from tokens", "to tokens"), rows, words=2)]


def _scores(report: Report) -> list[str]:
    if not report.bins:
        return ["No length was tested."]
    head = ("asked tokens", "measured (median)", "n", "unscored", "score", "interval")
    rows = [
        (
            phrases.whole(b.asked_tokens),
            phrases.whole(b.median_tokens),
            phrases.whole(b.n_samples),
            phrases.whole(b.n_unscored),
            phrases.score(b.mean),
            phrases.interval(b.ci_low, b.ci_high),
            phrases.bound(b.tested_low),
            phrases.commonest_failure(b),
            phrases.milliseconds(b.ttft_ms_median),
            phrases.milliseconds(b.latency_ms_median),
        )
        for b in report.bins
    ]
    return [
        _table(
            (
                *head,
                phrases.bound_name(report.safe_cap),
                "commonest failure",
                "median TTFT",
                "median latency",
            ),
            rows,
        )
    ]


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
        for b in report.bins
    ]
    return ["## Failures by length", _table(("asked tokens", "failure rate", *tags), rows)]


def _notes(report: Report) -> list[str]:
    return ["## Notes", _bullets(escape(note) for note in report.notes)] if report.notes else []


def _method(report: Report) -> list[str]:
    cap = report.safe_cap
    confidence = phrases.percent(cap.confidence)
    tested = "No length was tested."
    if report.bins:
        lengths = [a_bin.asked_tokens for a_bin in report.bins]
        depths = len({cell.depth for cell in report.cells})
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
    return [tested, claim, shown]


def _caps(report: Report) -> list[str]:
    half = report.half_life
    rows = [(rule, phrases.whole(tokens), _RULES.get(rule, "")) for rule, tokens in report.caps.items()]
    table = _table(("rule", "cap in tokens", "what it is"), rows, words=1, wordy_end=True) if rows else ""
    if half.tokens is None:
        fitted = f"Half-life: none ({half.reason})."
    else:
        low, high = half.ci_low, half.ci_high
        ends = "" if low is None else f" from {low:,}", "" if high is None else f" up to {high:,}"
        range_ = f" (interval{ends[0]}{ends[1]})" if any(ends) else ""
        beyond = ", beyond the longest test" if half.censored else ""
        fitted = f"Half-life: {half.tokens:,} tokens{range_}{beyond} ({half.reason})."
    chosen = f"The report stands on {_inline(report.safe_cap.rule)}; the others are for comparison."
    return [chosen, table, escape(fitted)]


def _image(path: str) -> str:
    stem = path.rsplit("/", 1)[-1].removesuffix(".png")
    return f"![{_inline(_CAPTIONS.get(stem, stem))}]({quote(path)})"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return _table(("", ""), pairs, words=2)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 0, wordy_end: bool = False) -> str:
    """A table whose first `words` columns, and the last with `wordy_end`, are text; the rest are numbers."""
    last = len(head) - 1
    rule = (":--" if i < words or (wordy_end and i == last) else "--:" for i in range(len(head)))
    lines = [_row(map(_inline, head)), _row(rule), *(_row(map(_inline, row)) for row in rows)]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    """A block of code that `text` can't end: its fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{text}\n{fence}" if text else ""
