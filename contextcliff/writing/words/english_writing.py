"""What is said of prose, in English.

Of a run its verdict, and what its rounds can't show; of a measure over several runs each one's range, and who is ahead.
"""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.findings.phrases import percent
from contextcliff.reporting.words.english_say import amount, are, listed, say
from contextcliff.writing.analysis.contest import NoWinner, WritingContest, WritingRange
from contextcliff.writing.analysis.measuring_rules import DifferentRules, Rule, UnequalLengths
from contextcliff.writing.analysis.power_warnings import NothingInReach, RoundsWithoutText, SameDraws
from contextcliff.writing.analysis.verdict import (
    HealthVerdict,
    NoDegradation,
    NoRoundAnswered,
    OneWritingLength,
    WithoutText,
    WorseThanAuthor,
    WritingDegraded,
)
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE

__all__ = ["say", "title_of"]

_SHOWN = 3
"""Measures of a degradation that are named; the rest is counted."""
_SHOWN_AUTHOR = 2
"""The same of what is worse than the author's, over all lengths."""


def title_of(name: str) -> str:
    """A measure's title within a sentence; an abbreviation stays as it is."""
    title = BY_NAME[name].title
    return title if title[:2].isupper() else title[0].lower() + title[1:]


@say.register
def _no_round(_: NoRoundAnswered) -> str:
    return "no round was answered: nothing can be said of the writing"


@say.register
def _one_length(fact: OneWritingLength) -> str:
    only = "only one length was tested: there is nothing to compare its writing with"
    return _health(fact.health) + only + _author(fact.author)


@say.register
def _degraded(fact: WritingDegraded) -> str:
    """The shortest length with its clearest measures, and the other lengths by their tokens."""
    named = ", ".join(
        f"{title_of(worse.measure)} (p = {worse.p_holm:.2g} after Holm, effect {worse.effect:.2f})"
        for worse in fact.measures[:_SHOWN]
    )
    more = len(fact.measures) - _SHOWN
    text = f"by rank tests the writing is worse at {fact.lengths[0]:,} tokens than at the shortest length: {named}"
    text += f" and {more} more" if more > 0 else ""
    if len(fact.lengths) > 1:
        text += f"; also at {', '.join(f'{tokens:,}' for tokens in fact.lengths[1:])} tokens"
    if fact.without_text is not None:
        text += f"; {_without_text(fact.without_text)}"
    return _health(fact.health) + text + _author(fact.author)


@say.register
def _no_degradation(fact: NoDegradation) -> str:
    return f"{_health(fact.health)}{_no_worse(fact)}{_author(fact.author)}"


def _no_worse(fact: NoDegradation) -> str:
    """What the rank tests show; nothing is said to be fine where they could show nothing."""
    if not fact.compared:
        text = "no measure could be compared with the shortest length"
    elif not fact.in_reach:
        text = "the rounds are too few for a rank test to show any measure to be worse than at the shortest length"
    else:
        text = "by rank tests no measure is shown to be worse than at the shortest length"
    return text if fact.without_text is None else f"{text}; {_without_text(fact.without_text)}"


def _health(verdict: HealthVerdict | None) -> str:
    """How the walk over healthy rounds ended, in front of what else is said."""
    if verdict is None:
        return ""
    health, at = verdict.health, verdict.health.at
    share = percent(health.threshold)
    share += " of the shortest length's healthy share" if health.relative else " of the rounds healthy"
    if at is None:
        return f"every length is shown to have at least {share}; "
    tokens, rounds = f"{at.context_tokens:,} tokens", f"{at.healthy:,} of {amount(at.n, 'rounds')}"
    if health.outcome == "below":
        return f"from {tokens} on the lengths are shown to have less than {share} ({rounds} there); "
    needed = verdict.settling_rounds
    likely = "" if needed is None else f" (about {needed:,} rounds a length are likely to)"
    return f"at {tokens} {rounds} {are(at.healthy)} healthy, which does not settle whether it has {share}{likely}; "


def _without_text(length: WithoutText) -> str:
    return f"at {length.tokens:,} tokens {length.rounds:,} of {length.of_rounds:,} rounds gave no text to measure"


def _author(worse: WorseThanAuthor | None) -> str:
    """All lengths, and the clearest measures of any."""
    if worse is None:
        return ""
    names = [title_of(name) for name in worse.measures]
    more = len(names) - _SHOWN_AUTHOR
    named = listed([*names[:_SHOWN_AUTHOR], f"{more} more"] if more > 0 else names)
    return f"; at {_tokens(worse.lengths)} tokens the writing is worse than the author's elsewhere ({named})"


def _tokens(lengths: Sequence[int]) -> str:
    return listed([f"{tokens:,}" for tokens in lengths])


@say.register
def _same_draws(fact: SameDraws) -> str:
    at = _at(fact.lengths)
    if not fact.every_round:
        return f"{at}some rounds of a length are the same draw: they count as one round"
    return (
        f"{at}all rounds of a length are the same draw (temperature 0, or sampling.seed is set): they count as one "
        "round, and more of them show nothing more; a temperature above 0 without sampling.seed makes them rounds of "
        "their own"
    )


@say.register
def _rounds_without_text(fact: RoundsWithoutText) -> str:
    kinds = ", ".join(f"{tag or 'no reason given'} {n}" for tag, n in fact.tags)
    return (
        f"at {fact.tokens:,} tokens {fact.rounds:,} of {fact.of_rounds:,} answered rounds gave no text to measure "
        f"({kinds}): the tests of the prose leave them out, the score does not"
    )


@say.register
def _nothing_in_reach(fact: NothingInReach) -> str:
    windows = " of the author's windows" if fact.against == "author" else ""
    than = "the author's elsewhere" if fact.against == "author" else "at the shortest length"
    then = "" if fact.enough is None else f"; from {fact.enough:,} rounds on one can"
    return (
        f"{_at(fact.lengths)}{amount(fact.rounds, 'rounds')} against {fact.baseline:,}{windows} can reach "
        f"p = {fact.p:.2g} at best, and {fact.p_holm:.2g} after Holm over {amount(fact.tests, 'tests')}: no "
        f"measure can be shown to be worse than {than}{then}"
    )


def _at(lengths: Sequence[int]) -> str:
    return f"at {_tokens(lengths)} tokens " if lengths else ""


COMPOSITE_TITLES = {COMPOSITE: "Composite", CLASSIC_COMPOSITE: "Classic composite"}
_Z_DIGITS = 2
_NO_WINNER = {
    "no_direction": "neither way is better",
    "one_run": "only one run has it",
    "no_common_length": "no length in common",
    "equal": "the best two have the same mean",
    "one_round": "there are too few rounds to tell",
    "no_variance": "the rounds do not vary, so nothing says how far the means are to be trusted",
    "within_noise": "rounds like these can't tell that from no difference",
}
_RULES = {
    "tool": ("{}", ""),
    "word_list": ("familiar words by {}", "familiar words by an unknown list"),
    "least_length": ("text missing under {} of an answer", "text missing under an unknown share of an answer"),
    "embeddings": ("embeddings by {}", "embeddings by an unnamed model"),
    "any_embeddings": ("embeddings by {}", "no embeddings"),
    "lacking": ("without {}", "with every part"),
}
"""What is said of a rule with its values, and of one without any."""


@say.register
def _no_winner(fact: NoWinner) -> str:
    return _NO_WINNER[fact.why]


@say.register
def _different_rules(fact: DifferentRules) -> str:
    return f"measured by different rules ({'; '.join(', '.join(map(_rule, rules)) for rules in fact.rules)})"


def _rule(rule: Rule) -> str:
    known, unknown = _RULES[rule.kind]
    return known.format(", ".join(rule.values)) if rule.values else unknown


@say.register
def _unequal_lengths(fact: UnequalLengths) -> str:
    lengths = ", ".join(f"{run} {characters:,.0f}" for run, characters in fact.characters)
    return f"the answers are not as long ({lengths} characters on average), on which it depends"


def contest_title(measure: str) -> str:
    """What a measure or composite is called."""
    return COMPOSITE_TITLES.get(measure) or BY_NAME[measure].title


def way_of(worse: int) -> str:
    """Which way is better."""
    return {1: "lower is better", -1: "higher is better"}.get(worse, "neither way is better")


def contest_sentence(contest: WritingContest) -> str:
    """Each run's range, and who wins by how much, or why nobody does."""
    digits = _digits(contest.ranges)
    shown = ", ".join(f"{span.run} {_from_to(span.low, span.high, digits)}" for span in contest.ranges)
    lacking = f"; not measured: {', '.join(contest.missing)}" if contest.missing else ""
    lead_in = f"{contest_title(contest.measure)} ({way_of(contest.worse)}): {shown}{lacking}"
    if not contest.worse:
        return f"{lead_in}."
    reason = "" if contest.reason is None else say(contest.reason)
    if contest.best is None or contest.ci_low is None:
        return f"{lead_in}; no winner: {reason}."
    over = f" over {contest.next_best}" if len(contest.ranges) > 2 else ""
    if reason:
        return f"{lead_in}; no winner: {contest.best} leads{over} {_by(contest, digits)}, and {reason}."
    return f"{lead_in}; {contest.best} wins{over} {_by(contest, digits)}."


def _by(contest: WritingContest, digits: int) -> str:
    """By how much, with the interval, and over how many lengths."""
    difference, low, high = (value or 0.0 for value in (contest.difference, contest.ci_low, contest.ci_high))
    digits = _telling(_Z_DIGITS if contest.scale == "z" else digits, (difference, low))
    unit = " in the author's sd, at equal length," if contest.scale == "z" else ""
    n = len(contest.common_tokens)
    return (
        f"by {difference:.{digits}f} ({100 * contest.confidence:g}% CI {low:.{digits}f} to {high:.{digits}f}){unit} "
        f"over {n} length{'' if n == 1 else 's'}"
    )


def _from_to(low: float, high: float, digits: int) -> str:
    first, last = f"{low:.{digits}f}", f"{high:.{digits}f}"
    if first == last:
        return first
    return f"{first} to {last}" if low < 0 else f"{first}-{last}"


def _digits(ranges: Sequence[WritingRange]) -> int:
    """Decimals by which a measure's figures tell something, the same for all runs."""
    size = max(abs(end) for span in ranges for end in (span.low, span.high))
    return next((digits for digits, least in enumerate((1000.0, 9.995, 0.9995)) if size >= least), 3)


def _telling(digits: int, values: Sequence[float]) -> int:
    """As many decimals more as it takes for what is not 0 not to read as 0."""
    while digits < 6 and any(value and not round(abs(value), digits) for value in values):
        digits += 1
    return digits
