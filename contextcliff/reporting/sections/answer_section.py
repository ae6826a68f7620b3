"""The answer: the safe cap, how sure it is, and of what it is the cap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Line, Lines, Pairs, Text
from contextcliff.reporting.section import Measurement, Section


class AnswerSection(Section[None]):
    """The safe cap with its details, and what was tested."""

    key = "answer"
    title = ""

    def short(self, report: Report) -> tuple[Block, ...]:
        mood = "bad" if report.analysis.safe_cap.tokens is None else "good"
        return (
            *((Text(text=f"PARTIAL: {phrases.partial(report)}.", mood="doubtful"),) if report.run.partial else ()),
            Pairs(rows=phrases.identity(report)),
            Text(text=f"SAFE CAP: {phrases.headline(report)}", strong=True, mood=mood),
            Pairs(rows=phrases.cap_details(report)),
        )

    def full(self, report: Report) -> tuple[Block, ...]:
        return (
            *((Text(text=f"Partial: {phrases.partial(report)}.", strong=True),) if report.run.partial else ()),
            Text(text=f"Safe cap: {phrases.headline(report)}", strong=True),
            Lines(lines=tuple(Line(text=f"{name}: {value}") for name, value in phrases.cap_details(report))),
            Pairs(rows=phrases.identity(report)),
        )

    def metrics(self, report: Report) -> Iterator[Measurement]:
        cap = report.analysis.safe_cap
        yield Measurement(key="safe_cap_tokens", value=cap.tokens)
        yield Measurement(key="safe_cap_fraction", value=cap.fraction_of_max)
        yield Measurement(key="safe_cap_ci_low", value=cap.ci_low)
        yield Measurement(key="safe_cap_ci_high", value=cap.ci_high)

    def tags(self, report: Report) -> Mapping[str, str]:
        return {"verdict": report.analysis.safe_cap.verdict}
