"""The answer: the safe cap, how sure it is, and of what it is the cap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Line, Lines, Measurement, Pairs, Shown, Table, Text
from contextcliff.findings.kv_cache import KVCache, policy_in_words
from contextcliff.records.analysis import Zone
from contextcliff.records.report import Report
from contextcliff.reporting.report_facts import (
    Crossing,
    EvidenceInWords,
    Headline,
    HealthyRound,
    NoCliffInRange,
    NoCrossingShown,
    Recommendation,
    ShapeInWords,
    StoppedEarly,
    ThresholdName,
    Tokens,
    ZoneNames,
    ZoneRange,
)


class AnswerSection(Finding[None]):
    """The safe cap with its details, and what was tested."""

    key = "answer"
    title = ""

    def short(self, report: Report) -> tuple[Block, ...]:
        mood = "bad" if report.analysis.safe_cap.tokens is None else "good"
        return (
            *_stopped(report),
            Pairs(rows=_identity(report)),
            Text(label="Safe cap", text=Headline(cap=report.analysis.safe_cap), strong=True, mood=mood),
            Pairs(rows=tuple(_details(report))),
        )

    def show(self, report: Report) -> tuple[Block, ...]:
        return (
            *_stopped(report),
            Text(label="Safe cap", text=Headline(cap=report.analysis.safe_cap), strong=True),
            Lines(lines=tuple(Line(label=name, text=value) for name, value in _details(report))),
            Pairs(rows=_identity(report)),
        )

    def metrics(self, report: Report) -> Iterator[Measurement]:
        cap = report.analysis.safe_cap
        yield Measurement(key="safe_cap_tokens", value=cap.tokens)
        yield Measurement(key="safe_cap/fraction_of_window", value=cap.fraction_of_max)
        yield Measurement(key="safe_cap/ci_low", value=cap.ci_low)
        yield Measurement(key="safe_cap/ci_high", value=cap.ci_high)

    def tags(self, report: Report) -> Mapping[str, str]:
        cap = report.analysis.safe_cap
        named = {"verdict": cap.verdict, "shape": cap.shape, "evidence": cap.evidence}
        return {name: value for name, value in named.items() if value is not None}


def _stopped(report: Report) -> tuple[Text, ...]:
    if not report.run.partial:
        return ()
    return (Text(label="Partial", text=StoppedEarly(lengths_missing=report.counts.unscored > 0), mood="doubtful"),)


def _identity(report: Report) -> tuple[tuple[str, Shown], ...]:
    """What was tested."""
    run, cache = report.run, report.analysis.finding(KVCache)
    return (
        ("Model", f"{run.model} ({run.label})" if run.label else run.model),
        ("Engine", run.engine),
        ("KV policy", run.kv_policy if cache is None else policy_in_words(cache.facts)),
        ("Task", run.task),
        ("Dataset", f"{run.dataset} ({run.texts})" if run.texts else run.dataset),
        ("Tokenizer", run.tokenizer),
        ("Maximum window", Tokens(n=run.max_context_tokens)),
        *(("Detected", line) for line in run.server),
    )


def _details(report: Report) -> Iterator[tuple[str, Shown]]:
    """What stands under the headline."""
    cap = report.analysis.safe_cap
    yield "Do", Recommendation(cap=cap)
    if cap.quantity == "healthy":
        yield "Tested", HealthyRound()
    if cap.shape is not None:
        scored = sum(a_bin.mean is not None for a_bin in report.analysis.bins)
        yield "Shape", ShapeInWords(cap=cap, n_lengths=scored)
        yield "Evidence", EvidenceInWords(cap=cap)
    yield "Reason", cap.reason
    yield "Threshold", ThresholdName(cap=cap)
    if cap.censored:
        yield "Range", NoCliffInRange(longest=max((b.asked_tokens for b in report.analysis.bins), default=None))
    if cap.ci_high is not None:
        yield "Crossing", Crossing(low=cap.ci_low, high=cap.ci_high, quantity=cap.quantity)
    elif cap.ci_low is not None and not cap.censored:
        yield "Crossing", NoCrossingShown(low=cap.ci_low)


_MARKS = {"stable": "[OK]", "transition": "[!!]", "degraded": "[XX]"}
_MOODS = {"stable": "good", "transition": "doubtful", "degraded": "bad"}


class ZonesSection(Finding[None]):
    """From where to where the model is stable, and where it is degraded."""

    key = "zone_table"
    title = "Zones"

    def short(self, report: Report) -> tuple[Block, ...]:
        zones = report.analysis.zones
        lines = tuple(
            Line(text=ZoneRange(mark=_mark(zone), zone=zone), mood=_MOODS.get(zone.name, "")) for zone in zones
        )
        return (Lines(lines=lines, bullets=False),) if zones else ()

    def show(self, report: Report) -> tuple[Block, ...]:
        zones = report.analysis.zones
        if not zones:
            return ()
        marks = tuple(map(_mark, zones))
        columns = (
            Column(title="", cells=marks, words=True),
            Column(title="zone", cells=tuple(zone.name for zone in zones), words=True),
            Column(title="from tokens", cells=tuple(phrases.whole(zone.min_tokens) for zone in zones)),
            Column(title="to tokens", cells=tuple(phrases.whole(zone.max_tokens) for zone in zones)),
            Column(title="mean score", cells=tuple(phrases.score(zone.mean) for zone in zones)),
            Column(title="fall", cells=tuple(phrases.fall(zone.fall) or phrases.MISSING for zone in zones), words=True),
        )
        return (Text(text=ZoneNames(confidence=report.analysis.safe_cap.confidence)), Table(columns=columns))


def _mark(zone: Zone) -> str:
    return _MARKS.get(zone.name, "[??]")
