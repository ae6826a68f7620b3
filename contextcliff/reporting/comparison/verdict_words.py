"""What is said of a candidate that was compared with the baseline, pair by pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from contextcliff.findings import phrases
from contextcliff.records.amounts import Quantity
from contextcliff.records.comparison import CandidateVerdict, Difference, DirectionTest, PairedDecision
from contextcliff.reporting.comparison.comparison import DecidedRun

_SENTENCES: Mapping[CandidateVerdict, str] = {
    "worse": "{name} is worse than {baseline}{where}: {size}",
    "better": "{name} is better than {baseline}{where}: {size}",
    "not_worse": "{name} is not worse than {baseline} by {margin} or more: {size}",
    "unknown": "{name}: can't tell whether it is worse than {baseline} by {margin}: {size}{more}",
}
_SIZES: Mapping[Quantity, str] = {"score": "on average", "healthy": "in the share of healthy rounds"}
WORDS: Mapping[CandidateVerdict, str] = {
    "worse": "worse",
    "better": "better",
    "not_worse": "not worse",
    "unknown": "can't tell",
}


def points(share: float) -> str:
    """A difference of mean scores in points of a hundred, with its sign."""
    shown = f"{100.0 * share:+.1f}"
    return "0.0" if shown in ("+0.0", "-0.0") else shown


def interval(difference: Difference) -> str:
    """Both ends, in points."""
    return f"{points(difference.low)} to {points(difference.high)}"


def answer(decided: DecidedRun, *, baseline: str) -> str:
    """The verdict in a sentence."""
    decision = decided.decision
    if decision is None:
        return f"{decided.run.name}: no verdict against {baseline}, {decided.why_none}"
    shift = decision.better if decision.verdict == "better" else decision.worse
    overall, of_what = decision.overall, _SIZES[decision.quantity]
    return _SENTENCES[decision.verdict].format(
        name=decided.run.name,
        baseline=baseline,
        where=_where(shift),
        margin=f"{100.0 * decision.margin:g} points",
        size=f"{points(overall.mean)} points {of_what} ({interval(overall)}), {_pairs(decision)}",
        more=_more(decision),
    )


def gate_line(decided: Sequence[DecidedRun], *, baseline: str, on_unknown: bool) -> str | None:
    """Why a release gate is closed, in one line; None where it is open.

    `on_unknown`: a candidate of which nothing can be told closes it too.
    """
    closing = ("worse", "unknown") if on_unknown else ("worse",)
    closed = [_closed(each) for each in decided if (each.decision.verdict if each.decision else "unknown") in closing]
    key = "action.gate_on_unknown=true" if on_unknown else "action.gate=true"
    return f"{key}: against {baseline}: {'; '.join(closed)}" if closed else None


def _closed(decided: DecidedRun) -> str:
    decision = decided.decision
    if decision is None:
        return f"{decided.run.name} has no verdict, {decided.why_none}"
    if decision.verdict == "unknown":
        return f"{decided.run.name} may be worse, {points(decision.overall.mean)} points ({interval(decision.overall)})"
    p = phrases.p_value(decision.worse.p_of_all)
    return f"{decided.run.name} is worse, {points(decision.overall.mean)} points ({interval(decision.overall)}), {p}"


def method_notes(decided: Sequence[DecidedRun]) -> Iterator[str]:
    """What the figures of the verdicts mean."""
    decisions = [each.decision for each in decided if each.decision is not None]
    if not decisions:
        return
    first = decisions[0]
    level = phrases.percent(first.confidence)
    yield (
        f"a difference is the candidate's {phrases.MEANS[first.quantity]} minus the baseline's, in points of a hundred,"
        f" over samples that both were asked; each end of its interval holds by itself at {level}"
    )
    several = f", corrected for {len(decisions)} candidates by Holm" if len(decisions) > 1 else ""
    if any(each.sequential for each in decisions):
        yield (
            "a search chose how many samples a length got, so bets on pairs decide: p is 1 divided by their e-value,"
            f" and holds whenever a run stopped{several}"
        )
    if not all(each.sequential for each in decisions):
        yield (
            "p is that of the exact test of signs toward worse, over all lengths and, corrected by Holm, at each: twice"
            f" the smaller{several}"
        )


def matching_notes(decided: DecidedRun) -> Iterator[str]:
    """What is no part of the comparison, with counts."""
    decision = decided.decision
    if decision is None:
        return
    left_out = [
        f"{count:,} {what}"
        for count, what in (
            (decision.only_baseline, "only the baseline was asked"),
            (decision.only_candidate, "only it was asked"),
            (decision.other_prompt, "have another prompt under the same id"),
        )
        if count
    ]
    if left_out:
        yield f"{decided.run.name}: samples that are no pairs: {', '.join(left_out)}"
    if decision.n_unscored:
        yield (
            f"{decided.run.name}: {decision.n_unscored:,} pairs lack a score and are left out of the tests; if all of"
            f" them told against it, the lower end would be {points(decision.worst_low)} points"
        )
    if decision.overall.n_units < decision.overall.n_pairs:
        yield (
            f"{decided.run.name}: its {decision.overall.n_pairs:,} pairs share texts or questions and are"
            f" {decision.overall.n_units:,} independent pieces of evidence"
        )


def _where(shift: DirectionTest) -> str:
    return f" (shown at {', '.join(f'{tokens:,}' for tokens in shift.lengths)} tokens)" if shift.lengths else ""


def _pairs(decision: PairedDecision) -> str:
    return f"{decision.overall.n_pairs:,} pairs"


def _more(decision: PairedDecision) -> str:
    return "" if decision.more_pairs is None else f"; about {decision.more_pairs:,} more are likely to show it"
