"""How far the answers of one text are right and wrong together, and what that means for the claim."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.analysis.study import Study
from contextcliff.analysis.text_effects import TextEffects, text_effects
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Measurement, Shown, Table, Text
from contextcliff.records.report import Report

_MEANING = (
    "The correlation is the share of the variance of the scores that lies between texts (intra-class correlation): 0"
    " where texts make no difference, 1 where a text is right or wrong as a whole. The design effect is how many"
    " samples are worth one independent sample."
)


class TextEffectSection(Finding[TextEffects]):
    """The intra-class correlation over all lengths and by length."""

    key = "text_effect"
    title = "Text effect"
    folded = True
    record = TextEffects

    def find(self, study: Study) -> TextEffects | None:
        return text_effects(study)

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        finding = self.of(report)
        return () if finding is None else ((self.title, finding.in_short),)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if finding is None:
            return ()
        rows = finding.lengths
        columns = (
            Column(title="asked tokens", cells=tuple(phrases.whole(row.context_tokens) for row in rows)),
            Column(title="texts", cells=tuple(phrases.whole(row.texts) for row in rows)),
            Column(title="n", cells=tuple(phrases.whole(row.samples) for row in rows)),
            Column(title="correlation", cells=tuple(phrases.score(row.correlation) for row in rows)),
            Column(title="interval", cells=tuple(phrases.interval(row.ci_low, row.ci_high) for row in rows)),
            Column(title="design effect", cells=tuple(phrases.score(row.design_effect) for row in rows)),
        )
        return (Text(text=finding.meaning), Text(text=_MEANING), Table(columns=columns))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        if finding is None:
            return
        yield Measurement(key="texts/icc", value=finding.correlation)
        yield Measurement(key="texts/icc_ci_low", value=finding.ci_low)
        yield Measurement(key="texts/icc_ci_high", value=finding.ci_high)
        yield Measurement(key="texts/design_effect", value=finding.design_effect)
        for each in finding.lengths:
            yield Measurement(key="by_length/icc_of_texts", value=each.correlation, step=each.context_tokens)
