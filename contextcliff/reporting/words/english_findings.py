"""Half-life, position and the advice of the operating guide, in English."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.analysis.every_depth import ThirdOfLength, ThirdsBelow, ThirdsNotShown
from contextcliff.analysis.position import EqualScores, NoDepthsToCompare, PositionTested, Third, TooFewDepths
from contextcliff.findings.guide import RangeAdvice, Retrieve, Rotate
from contextcliff.records.amounts import span
from contextcliff.reporting.words.english_say import are, listed, say

_USE = {
    "safe": "use the text as it is",
    "caution": "repeat or compress the key facts",
    "danger": "use retrieval, a summary or chunking instead of the whole text",
}
_PATTERNS = {
    "stable": "no dependence on depth is shown",
    "recency": "late evidence is found more often",
    "primacy": "early evidence is found more often",
    "middle_collapse": "the edges are found more often than the middle",
}


@say.register
def _too_few_depths(fact: TooFewDepths) -> str:
    return f"a pattern takes scores at {fact.fewest} depths, and there are {fact.depths}"


@say.register
def _no_depths_to_compare(_: NoDepthsToCompare) -> str:
    return "no two depths can be compared at the same length and in the same text"


@say.register
def _equal_scores(fact: EqualScores) -> str:
    return f"nothing to tell apart: {_thirds(fact.thirds)}, and at no length do scores differ"


@say.register
def _tested_position(fact: PositionTested) -> str:
    pattern = _PATTERNS[fact.pattern]
    return f"{_thirds(fact.thirds)} ({pattern}, p = {fact.p_value:.2g}, {fact.n_samples:,} samples)"


def _thirds(thirds: Sequence[Third]) -> str:
    means = (f"{third.mean:.2f} in the {third.name} third (n = {third.n_samples})" for third in thirds)
    return f"the mean score is {', '.join(means)}"


@say.register
def _thirds_below(fact: ThirdsBelow) -> str:
    means = [f"{third.name} third ({figures_of(third)})" for third in fact.thirds]
    return f"at {fact.tokens:,} tokens the {listed(means)} of the depths {are(len(means))} below the threshold"


def figures_of(third: ThirdOfLength) -> str:
    """`0.40, n = 12`."""
    return f"n = {third.n_samples}" if third.mean is None else f"{third.mean:.2f}, n = {third.n_samples}"


@say.register
def _thirds_not_shown(fact: ThirdsNotShown) -> str:
    samples = f"{span(*fact.samples, 'd')} samples of a third of the depths"
    short = f"at {fact.tokens:,} tokens {samples} do not show that each clears the threshold"
    if not fact.can_ask_on:
        return short
    return f"{short}; the search stops when the mean is decided (analysis.every_depth=true goes on until each third is)"


@say.register
def _range_advice(fact: RangeAdvice) -> str:
    lengths = f"at {fact.lengths[0]:,} tokens"
    if len(fact.lengths) > 1:
        lengths = f"from {fact.lengths[0]:,} to {fact.lengths[-1]:,} tokens"
    unsure = [f"{tokens:,}" for tokens in fact.unsure]
    doubt = f"; at {listed(unsure)} the tests of the safe cap do not show it" if unsure else ""
    figures = f"mean score {span(*fact.means, '.2f')}, n = {fact.n_samples:,}"
    return f"{fact.level} {lengths} ({figures}): {_USE[fact.level]}{doubt}"


@say.register
def _retrieve(fact: Retrieve) -> str:
    return f"{_short_half_life(fact)}: retrieval or chunking is advised for anything longer"


@say.register
def _rotate(fact: Rotate) -> str:
    return (
        f"{_short_half_life(fact)}: rotate the context (split it into short paragraphs, analyse each by itself, merge "
        "the results)"
    )


def _short_half_life(fact: Retrieve | Rotate) -> str:
    beyond = ", beyond the longest test" if fact.beyond_longest else ""
    return f"the fitted half-life is {fact.half_life_tokens:,} tokens{beyond}, under {fact.below:,}"
