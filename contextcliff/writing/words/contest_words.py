"""A measure over several runs in one sentence: each one's range, and who is ahead."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.reporting.words.english_say import say
from contextcliff.writing.analysis.contest import NoWinner, WritingContest, WritingRange
from contextcliff.writing.analysis.measuring_rules import DifferentRules, Rule, UnequalLengths
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE

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
