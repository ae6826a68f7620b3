"""Half-life, position and the advice of the operating guide, in English."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.analysis.guide import RangeAdvice, Retrieve, Rotate
from contextcliff.analysis.half_life import FittedDecay, NoFall, NothingToHalve, TooFewLengths
from contextcliff.analysis.position import EqualScores, NoDepthsToCompare, PositionTested, Third, TooFewDepths
from contextcliff.reporting.words.english_amounts import listed
from contextcliff.reporting.words.english_say import say
from contextcliff.reporting.words.number_formats import confidence_figure, span

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
def _too_few_lengths(fact: TooFewLengths) -> str:
    return f"a decay takes scores at {fact.fewest} lengths or more, and there are {fact.lengths}"


@say.register
def _nothing_to_halve(fact: NothingToHalve) -> str:
    return f"no sample scored above 0 ({_basis(fact)}): there is nothing to halve"


@say.register
def _fitted_decay(fact: FittedDecay) -> str:
    high = fact.ci_high
    interval = f"from {fact.ci_low:,} up, with no upper bound" if high is None else f"{fact.ci_low:,}–{high:,}"
    beyond = ""
    if fact.tokens > fact.longest:
        beyond = f"; that is beyond the longest test, {fact.longest:,} tokens"
    return (
        f"the score halves every {fact.tokens:,} tokens ({confidence_figure(fact.confidence)} CI {interval}), from "
        f"{fact.initial:.2f} at length 0, by an exponential decay fitted to {_basis(fact)}{beyond}"
    )


@say.register
def _no_fall(fact: NoFall) -> str:
    why = "every sample has the full score" if fact.all_right else "the score does not fall with length"
    if fact.at_least is None:
        return f"{why} ({_basis(fact)}) but rises: there is no half-life"
    return (
        f"{why} ({_basis(fact)}): an exponential decay would take {fact.at_least:,} tokens or more to halve it, at "
        f"{confidence_figure(fact.confidence)} confidence"
    )


def _basis(fact: NothingToHalve | FittedDecay | NoFall) -> str:
    return f"{fact.lengths} lengths, {fact.samples:,} samples"


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
def _range_advice(fact: RangeAdvice) -> str:
    lengths = f"at {fact.lengths[0]:,} tokens"
    if len(fact.lengths) > 1:
        lengths = f"from {fact.lengths[0]:,} to {fact.lengths[-1]:,} tokens"
    unsure = [f"{tokens:,}" for tokens in fact.unsure]
    doubt = f"; at {listed(unsure)} the interval reaches into another range" if unsure else ""
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
