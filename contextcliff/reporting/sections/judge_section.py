"""How often a judge and the exact score disagree."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.analysis.judgement import Judgement, judgement_of
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Finding, Measurement, Pairs, Shown, Text
from contextcliff.findings.phrases import from_stopped_data
from contextcliff.records.report import Report
from contextcliff.reporting.report_facts import JudgeInShort


class JudgeSection(Finding[Judgement]):
    """A judge's ratings beside the exact scores; the report stands on the scores."""

    key = "judgement"
    title = "Judge"
    record = Judgement

    def find(self, study: Study) -> Judgement | None:
        if study.facts.judge is None:
            return None
        return judgement_of(
            study.scored,
            judge=study.facts.judge,
            right_from=study.facts.judge_right_from,
            confidence=study.confidence,
        )

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        finding = self.of(report)
        return () if finding is None else ((self.title, JudgeInShort(judgement=finding)),)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if finding is None:
            return ()
        rating = phrases.MISSING if finding.mean_rating is None else f"{finding.mean_rating:.1f} of 10"
        rows = [
            ("Judge", finding.judge),
            ("Rated", f"{finding.n_judged:,} answers, {finding.n_unjudged:,} unjudged"),
            ("Mean rating", rating),
        ]
        if finding.share is not None:
            rows += [
                ("Disagreement with the score", f"{phrases.disagreement(finding)}, {finding.disagreements:,} answers"),
                ("Judge says right, score wrong", phrases.whole(finding.judge_only)),
                ("Score says right, judge wrong", phrases.whole(finding.exact_only)),
            ]
        meaning = (
            f"The judge counts as saying right from {finding.right_from:,} of 10 up, the exact score from 0.5 up. The"
            " report stands on the exact score."
        )
        return (Text(text=meaning), Pairs(rows=tuple(rows)), *from_stopped_data(report, "The judge's figures"))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        if finding is not None:
            yield Measurement(key="judge/disagreement", value=finding.share)
            yield Measurement(key="judge/mean_rating", value=finding.mean_rating)
