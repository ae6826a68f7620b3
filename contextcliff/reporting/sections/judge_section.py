"""How often a judge and the exact score disagree."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.analysis.judgement import Judgement, judgement_of
from contextcliff.analysis.study import Study
from contextcliff.records.report import Report
from contextcliff.reporting.section import Measurement, Section


class JudgeSection(Section[Judgement]):
    """How often a judge and the exact score disagree."""

    key = "judgement"
    title = "Judge"
    record = Judgement

    def compute(self, study: Study) -> Judgement | None:
        if study.facts.judge is None:
            return None
        return judgement_of(
            study.scored,
            judge=study.facts.judge,
            right_from=study.facts.judge_right_from,
            confidence=study.confidence,
        )

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        if finding is not None:
            yield Measurement(key="judge_disagreement", value=finding.share)
            yield Measurement(key="judge_mean_rating", value=finding.mean_rating)
