"""What the run took, and how much of it came to an end."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Finding, Measurement, Pairs, Shown
from contextcliff.models.model import dollars
from contextcliff.records.report import Report
from contextcliff.reporting.report_facts import (
    AskedAhead,
    AskedToPair,
    ControlPrompts,
    JudgeTook,
    PilotPrompts,
    PromptTokens,
    SamplesCompleted,
    SamplesUnscored,
    Tokens,
)


class TookSection(Finding[None]):
    """Tokens, dollars, time and samples."""

    key = "took"
    title = "What it took"
    folded = True

    def short(self, report: Report) -> tuple[Block, ...]:
        return (Pairs(rows=tuple(_rows(report))),)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        counts, usage = report.counts, report.usage
        yield Measurement(key="took/planned", value=counts.planned)
        yield Measurement(key="took/completed", value=counts.completed)
        yield Measurement(key="took/reused", value=counts.reused)
        yield Measurement(key="took/unscored", value=counts.unscored)
        yield Measurement(key="took/ahead", value=counts.ahead)
        if counts.replayed:
            yield Measurement(key="took/replayed", value=counts.replayed)
        yield Measurement(key="took/prompt_tokens", value=usage.prompt_tokens)
        yield Measurement(key="took/cached_tokens", value=usage.cached_tokens)
        yield Measurement(key="took/computed_prompt_tokens", value=usage.computed_prompt_tokens)
        yield Measurement(key="took/completion_tokens", value=usage.completion_tokens)
        yield Measurement(key="took/usd", value=usage.usd)
        yield Measurement(key="took/wall_s", value=usage.wall_s)
        if usage.judge is not None:
            yield Measurement(key="judge_prompt_tokens", value=usage.judge.prompt_tokens)
            yield Measurement(key="judge_completion_tokens", value=usage.judge.completion_tokens)
            yield Measurement(key="judge_usd", value=usage.judge.usd)


def _rows(report: Report) -> Iterator[tuple[str, Shown]]:
    usage, counts = report.usage, report.counts
    yield "Prompt tokens", PromptTokens(usage=usage)
    yield "Completion", Tokens(n=usage.completion_tokens)
    if usage.judge is not None:
        yield "Judge", JudgeTook(usage=usage.judge)
    if usage.usd is not None:
        yield "Cost", dollars(usage.usd)
    yield "Wall time", phrases.duration(usage.wall_s)
    yield "Samples", SamplesCompleted(completed=counts.completed, planned=counts.planned, reused=counts.reused)
    if counts.unscored:
        yield "Unscored", SamplesUnscored(unscored=counts.unscored, planned=counts.planned)
    if counts.ahead:
        yield "Ahead", AskedAhead(n=counts.ahead)
    if counts.replayed:
        yield "Paired", AskedToPair(n=counts.replayed)
    if counts.controls:
        yield "Controls", ControlPrompts(n=counts.controls)
    if counts.pilot:
        yield "Pilot", PilotPrompts(n=counts.pilot)
    if any(counts.errors.values()):
        yield "Failed attempts", phrases.tally(dict(counts.errors))
