"""How often a judge and the exact score disagree. Repeats of a question are one piece of evidence, questions on one
text are clustered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from contextcliff.analysis.controls import exact_score
from contextcliff.analysis.lengths import evidence_of, items_of
from contextcliff.analysis.study import Study
from contextcliff.findings.finding import Block, Finding, Pairs, Text
from contextcliff.findings.phrases import MISSING, percent, whole
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.statistics.descriptive import mean_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A judge beside the exact score: how often the two disagree, with Wilson's interval. The judge counts as saying
    "right" from `right_from` of 10 up, the exact score from 0.5 up."""

    judge: str
    n_judged: int
    n_unjudged: int
    mean_rating: float | None
    right_from: int
    disagreements: int
    judge_only: int
    """The judge says right, the exact score wrong."""
    exact_only: int
    """The exact score says right, the judge wrong."""
    share: float | None
    ci_low: float | None
    ci_high: float | None


def judgement_of(scored: Sequence[ScoredSample], *, judge: str, right_from: int, confidence: float) -> Judgement | None:
    """Compare ratings (1-10, right from `right_from` up) with scores. None where there was nothing to judge."""
    answered = [item for item in scored if item.score is not None]
    if not answered:
        return None
    rated = [(item, item.judge_rating) for item in answered if item.judge_rating is not None]
    pairs = [(rating >= right_from, (item.score or 0.0) >= 0.5) for item, rating in rated]
    judge_only = sum(said and not exact for said, exact in pairs)
    exact_only = sum(exact and not said for said, exact in pairs)
    mean = share = low = high = None
    if rated:
        verdicts = zip(rated, pairs, strict=True)
        items = items_of(replace(item, score=float(said != exact)) for (item, _), (said, exact) in verdicts)
        differing = evidence_of(items, binary=all(item.is_right_or_wrong for item in items))
        mean, share = fmean(rating for _, rating in rated), mean_of(differing.scores)
        low, high = differing.shown(confidence)
    return Judgement(
        judge=judge, n_judged=len(rated), n_unjudged=len(answered) - len(rated), mean_rating=mean,
        right_from=right_from, disagreements=judge_only + exact_only, judge_only=judge_only, exact_only=exact_only,
        share=share, ci_low=low, ci_high=high,
    )  # fmt: skip


_OFTEN = 0.05
"""A judge that is shown to disagree more often than this is worth a look."""


class JudgeFinding(Finding[Judgement]):
    key = "judgement"
    title = "Judge"
    record = Judgement

    def find(self, study: Study) -> Judgement | None:
        if study.facts.judge is None:
            return None
        scored = study.scored
        if study.facts.judge_decides:  # its verdicts are the scores: only plain cases have another one
            scored = tuple(replace(item, score=exact_score(item)) for item in scored)
        return judgement_of(
            scored, judge=study.facts.judge, right_from=study.facts.judge_right_from, confidence=study.confidence
        )

    def look(self, report: Report) -> tuple[Text, ...]:
        finding = self.of(report)
        if finding.ci_low is not None and finding.ci_low < _OFTEN:
            return ()
        return (Text(label=self.title, text=_in_short(finding)),)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        rows = [
            ("Judge", finding.judge),
            ("Rated", f"{finding.n_judged:,} answers, {finding.n_unjudged:,} unjudged"),
            ("Mean rating", MISSING if finding.mean_rating is None else f"{finding.mean_rating:.1f} of 10"),
        ]
        if finding.share is not None:
            share = _with_interval(finding.share, finding)
            rows += [
                ("Disagreement with the score", f"{share}, {finding.disagreements:,} answers"),
                ("Judge says right, score wrong", whole(finding.judge_only)),
                ("Score says right, judge wrong", whole(finding.exact_only)),
            ]
        meaning = (
            f"The judge counts as saying right from {finding.right_from:,} of 10 up, the exact score from 0.5 up. The"
            " report stands on the exact score."
        )
        if report.analysis.safe_cap.metrics == ("judge",):
            meaning = (
                f"The judge's verdict is the score: right from {finding.right_from:,} of 10 up. It is compared with the"
                " answers that are plain: right where they contain an accepted answer, wrong where they share no word"
                " with any. How often it calls wrong answers right says what a judged score has to clear."
            )
        return (Text(text=meaning), Pairs(rows=tuple(rows)))


def _in_short(judgement: Judgement) -> Note:
    if judgement.share is None:
        return Note("{judge} rated none of {n:,} answers", judge=judgement.judge, n=judgement.n_unjudged)
    mean, share = judgement.mean_rating, _with_interval(judgement.share, judgement)
    rating = "" if mean is None else Note("; mean rating {mean:.1f}", mean=mean)
    return Note("{judge} disagrees in {share} of {n:,}{rating}", judge=judgement.judge, share=share,
                n=judgement.n_judged, rating=rating)  # fmt: skip


def _with_interval(share: float, judgement: Judgement) -> str:
    low, high = judgement.ci_low, judgement.ci_high
    ends = "" if low is None or high is None else f" ({percent(low)}-{percent(high)})"
    return f"{percent(share)}{ends}"
