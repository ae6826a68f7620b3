"""How far the answers of one text are right and wrong together, where several texts have several samples each.

The share of the variance that lies between texts (the intra-class correlation of `statistics/text_effect.py`), by
length and over all lengths, is what the claim depends on: where it is large, another text can have another cap, and
more texts help more than more samples of each. Where every sample begins at a sentence of its own it can't be
estimated, and needs no estimate: the samples are independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from contextcliff.analysis.items import Item
from contextcliff.analysis.study import Study
from contextcliff.records.amounts import SharedBy
from contextcliff.records.fact import Fact
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
class TextEffectFound(Fact):
    """The effect over all lengths, and what it means for the claim. `assumed` is what the tests allow for at least."""

    shared_by: SharedBy
    texts: int
    samples: int
    n_lengths: int
    correlation: float
    ci_low: float
    ci_high: float
    confidence: float
    size: float
    """Samples of a text at a length, on average."""
    design_effect: float
    assumed: float
    lengths_differ: bool = False
    """Whether the texts of one length differ in length themselves, as documents in a bin do."""

    @property
    def is_unbounded(self) -> bool:
        """Whether the interval holds everything, as where no text has both right and wrong answers."""
        return self.ci_low <= 0.0 and self.ci_high >= 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class TextEffectInShort(Fact):
    """The share and its interval alone."""

    effect: TextEffectFound


@dataclass(frozen=True, kw_only=True, slots=True)
class TextEffects:
    """The effect of the text over all lengths, and by length."""

    correlation: float
    ci_low: float
    ci_high: float
    design_effect: float
    texts: int
    samples: int
    in_short: Fact
    meaning: Fact
    lengths: tuple[TextEffectAtLength, ...]


def text_effects(study: Study) -> TextEffects | None:
    """None where no length has two texts, one of them with two scores, or where all scores of a length are alike."""
    by_length = [_by_text(result.items) for result in study.results]
    pooled = pooled_text_effect(by_length, study.confidence)
    if pooled is None:
        return None
    lengths = tuple(
        _at_length(result.bin.asked_tokens, texts, text_effect(texts.values(), study.confidence))
        for result, texts in zip(study.results, by_length, strict=True)
        if len(texts) > 1
    )
    meaning = TextEffectFound(
        shared_by="texts" if all(result.texts == "texts" for result in study.results) else "contexts",
        texts=pooled.texts,
        samples=pooled.samples,
        n_lengths=sum(each.correlation is not None for each in lengths),
        correlation=pooled.correlation,
        ci_low=pooled.low,
        ci_high=pooled.high,
        confidence=study.confidence,
        size=pooled.size,
        design_effect=pooled.design_effect,
        assumed=ASSUMED_CORRELATION,
        lengths_differ=any(each.natural_lengths for each in study.bins),
    )
    return TextEffects(
        correlation=pooled.correlation,
        ci_low=pooled.low,
        ci_high=pooled.high,
        design_effect=pooled.design_effect,
        texts=pooled.texts,
        samples=pooled.samples,
        in_short=TextEffectInShort(effect=meaning),
        meaning=meaning,
        lengths=lengths,
    )


def _by_text(items: Iterable[Item]) -> dict[str, list[float]]:
    """The scores of each text that samples share."""
    texts: defaultdict[str, list[float]] = defaultdict(list)
    for item in items:
        if item.cluster and item.score is not None:
            texts[item.cluster].append(item.score)
    return dict(texts)


def _at_length(context_tokens: int, texts: dict[str, list[float]], effect: TextEffect | None) -> TextEffectAtLength:
    return TextEffectAtLength(
        context_tokens=context_tokens,
        texts=len(texts),
        samples=sum(map(len, texts.values())),
        correlation=None if effect is None else effect.correlation,
        ci_low=None if effect is None else effect.low,
        ci_high=None if effect is None else effect.high,
        design_effect=None if effect is None else effect.design_effect,
    )
