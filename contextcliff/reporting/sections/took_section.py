"""What the run took, and how much of it came to an end."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Pairs
from contextcliff.reporting.section import Measurement, Section


class TookSection(Section[None]):
    """Tokens, dollars, time and samples."""

    key = "took"
    title = "What it took"

    def short(self, report: Report) -> tuple[Block, ...]:
        return (Pairs(rows=phrases.took(report)),)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        counts, usage = report.counts, report.usage
        yield Measurement(key="planned", value=counts.planned)
        yield Measurement(key="completed", value=counts.completed)
        yield Measurement(key="reused", value=counts.reused)
        yield Measurement(key="unscored", value=counts.unscored)
        yield Measurement(key="prompt_tokens", value=usage.prompt_tokens)
        yield Measurement(key="cached_tokens", value=usage.cached_tokens)
        yield Measurement(key="computed_prompt_tokens", value=usage.computed_prompt_tokens)
        yield Measurement(key="completion_tokens", value=usage.completion_tokens)
        yield Measurement(key="usd", value=usage.usd)
        yield Measurement(key="wall_s", value=usage.wall_s)
        if usage.judge is not None:
            yield Measurement(key="judge_prompt_tokens", value=usage.judge.prompt_tokens)
            yield Measurement(key="judge_completion_tokens", value=usage.judge.completion_tokens)
            yield Measurement(key="judge_usd", value=usage.judge.usd)
