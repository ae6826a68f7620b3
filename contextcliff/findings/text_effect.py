"""How much the answers of one text are right or wrong together, where several texts have several samples each.

The figure is the share of the variance that lies between texts (the intra-class correlation of
`statistics/text_effect.py`), by length and over all lengths. Where it is large, another text can have another cap, and
more texts help more than more samples of each. Where every sample begins at a sentence of its own it can't be
estimated, and needs no estimate: the samples are independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contextcliff.analysis.lengths import Item
from contextcliff.analysis.study import Study
from contextcliff.findings.finding import Block, Finding, Line, Measurement, Table, Text, columns, measured
from contextcliff.findings.phrases import interval, score, whole
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.statistics.clusters import ASSUMED_CORRELATION
from contextcliff.statistics.text_effect import TextEffect, pooled_text_effect, text_effect


@dataclass(frozen=True, kw_only=True, slots=True)
class TextEffectAtLength:
    """The share of the variance between texts at one length; None where all scores are alike."""

    context_tokens: int
    """As asked."""
    texts: int
    samples: int
    """Scored items: repeats of a question are one."""
    correlation: float | None
    ci_low: float | None
    ci_high: float | None
    design_effect: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class TextEffects:
    """The effect of the text over all lengths, and by length."""

    correlation: float
    ci_low: float
    ci_high: float
    design_effect: float
    texts: int
    samples: int
    in_short: Note
    meaning: Note
    lengths: tuple[TextEffectAtLength, ...]


def _by_text(items: Iterable[Item]) -> dict[str, list[float]]:
    """The scores of each text that samples share."""
    texts: defaultdict[str, list[float]] = defaultdict(list)
    for item in items:
        if item.cluster and item.score is not None:
            texts[item.cluster].append(item.score)
    return dict(texts)


def _at_length(context_tokens: int, texts: dict[str, list[float]], effect: TextEffect | None) -> TextEffectAtLength:
    return TextEffectAtLength(
        context_tokens=context_tokens, texts=len(texts), samples=sum(map(len, texts.values())),
        correlation=None if effect is None else effect.correlation, ci_low=None if effect is None else effect.low,
        ci_high=None if effect is None else effect.high, design_effect=None if effect is None else effect.design_effect,
    )  # fmt: skip


def _meaning(effect: TextEffect, texts: Note, also: Note | str, *, n_lengths: int, confidence: float) -> Note:
    """The effect over all lengths, and what it means for the claim."""
    doubt: Note | str = ""
    if effect.low <= 0.0:
        doubt = Note(", so that no difference between {texts} is shown", texts=texts)
    if effect.low <= 0.0 and effect.high >= 1.0:  # as where no text has both right and wrong answers
        doubt = Note(", which these samples do not bound")
    return Note(
        "{correlation:.0%} of the variance of the scores lies between {texts}{also} ({confidence:percent} CI"
        " {low:.0%}–{high:.0%}; {n:,} {texts}, {samples:samples}, {lengths:lengths}){doubt}: by that estimate the"
        " {size:.1f} samples of a {texts:one} show as much as {worth:.1f} independent ones (design effect"
        " {design_effect:.1f}); the tests take {assumed:.0%} at least, whatever the estimate, and the claim is about"
        " {texts} of this kind and not these {n:,} alone",
        correlation=effect.correlation, texts=texts, also=also, confidence=confidence, low=effect.low, high=effect.high,
        n=effect.texts, samples=effect.samples, lengths=n_lengths, doubt=doubt, size=effect.size,
        worth=effect.size / effect.design_effect, design_effect=effect.design_effect, assumed=ASSUMED_CORRELATION,
    )  # fmt: skip


_MEANING = (
    "The correlation is the share of the variance of the scores that lies between texts (intra-class correlation): 0"
    " where texts make no difference, 1 where a text is right or wrong as a whole. The design effect is how many"
    " samples are worth one independent sample."
)


class TextEffectFinding(Finding[TextEffects]):
    """The intra-class correlation over all lengths and by length."""

    key = "text_effect"
    title = "Text effect"
    record = TextEffects

    def find(self, study: Study) -> TextEffects | None:
        """None where no length has two texts, one with two scores, or where the scores of each length are alike."""
        by_length = [_by_text(result.items) for result in study.results]
        pooled = pooled_text_effect(by_length, study.confidence)
        if pooled is None:
            return None
        lengths = tuple(
            _at_length(result.bin.asked_tokens, texts, text_effect(texts.values(), study.confidence))
            for result, texts in zip(study.results, by_length, strict=True)
            if len(texts) > 1
        )
        shared_by = Note("texts" if all(result.texts == "texts" for result in study.results) else "contexts")
        differ = any(each.natural_lengths for each in study.bins)
        also = Note(", also because those of one bin differ in length") if differ else ""
        n_lengths = sum(each.correlation is not None for each in lengths)
        return TextEffects(
            correlation=pooled.correlation, ci_low=pooled.low, ci_high=pooled.high, design_effect=pooled.design_effect,
            texts=pooled.texts, samples=pooled.samples,
            in_short=Note(
                "{correlation:.0%} of the variance of the scores lies between {texts}{also} ({low:.0%}-{high:.0%},"
                " {n:,} {texts})",
                correlation=pooled.correlation, texts=shared_by, also=also, low=pooled.low, high=pooled.high,
                n=pooled.texts,
            ),
            meaning=_meaning(pooled, shared_by, also, n_lengths=n_lengths, confidence=study.confidence),
            lengths=lengths,
        )  # fmt: skip

    def look(self, report: Report) -> tuple[Line, ...]:
        finding = self.of(report)
        return () if finding.ci_low <= 0.0 else (Line(label=self.title, text=finding.in_short),)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        table = columns(
            finding.lengths,
            ("asked tokens", lambda row: whole(row.context_tokens)),
            ("texts", lambda row: whole(row.texts)),
            ("n", lambda row: whole(row.samples)),
            ("correlation", lambda row: score(row.correlation)),
            ("interval", lambda row: interval(row.ci_low, row.ci_high)),
            ("design effect", lambda row: score(row.design_effect)),
        )
        return (Text(text=finding.meaning), Text(text=_MEANING), Table(columns=table))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        yield Measurement(key="texts/icc", value=finding.correlation)
        yield from measured("texts/icc_", finding, "ci_low", "ci_high")
        yield Measurement(key="texts/design_effect", value=finding.design_effect)
        for each in finding.lengths:
            yield Measurement(key="by_length/icc_of_texts", value=each.correlation, step=each.context_tokens)
