"""Fitted lengths and RULER's effective length, in English."""

from __future__ import annotations

from contextcliff.analysis.fitted_length import FallsTo, FitBasis, FittedLength, StartsBelow, StaysAbove, TooFewToFit
from contextcliff.findings.phrases import confidence_figure
from contextcliff.reporting.report_facts import EffectiveInShort, FittedInShort
from contextcliff.reporting.words.english_say import say


@say.register
def _too_few_to_fit(fact: TooFewToFit) -> str:
    return f"a curve takes scores at {fact.fewest} lengths or more, and there are {fact.lengths}"


@say.register
def _falls_to(fact: FallsTo) -> str:
    confidence = confidence_figure(fact.basis.confidence)
    if fact.ci_low is None and fact.ci_high is None:
        interval = f"the {confidence} interval is wider than the tested range"
    elif fact.ci_low is None:
        interval = f"{confidence} interval up to {fact.ci_high:,}, from below the shortest test"
    elif fact.ci_high is None:
        interval = f"{confidence} interval from {fact.ci_low:,} to beyond the longest test"
    else:
        interval = f"{confidence} interval {fact.ci_low:,}–{fact.ci_high:,}"
    curve = f"the curve fitted to {_basis(fact.basis)} falls to {fact.score:.2f}"
    return f"{curve} at about {fact.tokens:,} tokens ({interval})"


@say.register
def _stays_above(fact: StaysAbove) -> str:
    curve = f"the curve fitted to {_basis(fact.basis)} stays above {fact.score:.2f} up to the longest test, "
    if fact.at_least is None:
        return f"{curve}{fact.longest:,} tokens, and so little is known of it that no length is ruled out"
    at = f"at {confidence_figure(fact.basis.confidence)} confidence"
    if fact.at_least == fact.longest:
        return f"{curve}{fact.longest:,} tokens: it falls to that beyond it, {at}, or not at all"
    return f"{curve}{fact.longest:,} tokens: it falls to that at {fact.at_least:,} tokens or more, {at}, or not at all"


@say.register
def _starts_below(fact: StartsBelow) -> str:
    curve = (
        f"the curve fitted to {_basis(fact.basis)} is not above {fact.score:.2f} even at the shortest test, "
        f"{fact.shortest:,} tokens"
    )
    if fact.at_most is None or fact.at_most == fact.shortest:
        return curve
    return f"{curve}; up to {fact.at_most:,} tokens it may be, at {confidence_figure(fact.basis.confidence)} confidence"


def _basis(basis: FitBasis) -> str:
    return f"{basis.samples:,} samples at {basis.lengths} lengths"


@say.register
def _fitted(fact: FittedInShort) -> str:
    lengths = (fact.x80, fact.x50)
    if all(length.score is None for length in lengths):
        return f"none: {say(fact.x80.reason)}"
    return f"by a fitted curve, {' and '.join(_in_short(length) for length in lengths)}"


def _in_short(length: FittedLength) -> str:
    if length.tokens is not None:
        return f"{length.score:.2f} at {length.tokens:,} tokens ({_ends(length.ci_low, length.ci_high)})"
    return f"{length.score:.2f} {'beyond the longest test' if length.censored else 'at no tested length'}"


def _ends(low: int | None, high: int | None) -> str:
    if low is None:
        return "anywhere" if high is None else f"up to {high:,}"
    return f"{low:,} and up" if high is None else f"{low:,}-{high:,}"


@say.register
def _effective(fact: EffectiveInShort) -> str:
    rule = f"RULER's rule: every mean up to it is above {fact.threshold:.3f}"
    if fact.tokens is None:
        return f"none ({rule})"
    return f"{fact.tokens:,} tokens{', the longest test' if fact.censored else ''} ({rule})"
