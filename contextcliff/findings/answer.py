"""The answer: the safe cap, how sure it is, and of what it is the cap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from contextcliff.analysis.shape import FEWEST_LENGTHS, FEWEST_SCORES
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Code, Finding, Lines, Measurement, Pairs, Shown, Text, tested_lengths
from contextcliff.findings.warnings import EarlyWarnings
from contextcliff.records.amounts import QUANTITIES
from contextcliff.records.analysis import Limit, LimitName, Outcome, SafeCap, ShapeName, Zone, ZoneName
from contextcliff.records.note import Note
from contextcliff.records.report import Report

_OUTCOMES: Mapping[Outcome, str] = {"safe": "good", "below": "bad", "undecided": "doubtful"}
"""The mood of each."""


class AnswerFinding(Finding[None]):
    """The safe cap with its details, and what was tested."""

    key = "answer"
    title = "The answer"

    def short(self, report: Report) -> tuple[Block, ...]:
        cap, run = report.analysis.safe_cap, report.run
        engine = "" if run.simulated else f" · {run.engine}"  # the name says it
        what = Note("{model} · {task} · {dataset} · KV {policy}{engine}", model=run.model, task=run.task,
                    dataset=run.dataset, policy=phrases.kv_policy(run), engine=engine)  # fmt: skip
        command = (Code(text=run.next_command),) if run.next_command else ()
        return (
            Text(text=phrases.headline(report), strong=True, mood=_OUTCOMES[cap.outcome]),
            Pairs(rows=(("Do", _do(report)), ("Reason", cap.reason), ("Run", what))),
            *command,
        )

    def show(self, report: Report) -> tuple[Block, ...]:
        return (Pairs(rows=tuple(_details(report))),)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        # The cap is the first in MLflow's list, and the curve the first chart: their sections are sorted by name.
        yield Measurement(key="safe_cap_tokens", value=report.analysis.safe_cap.tokens)
        for each in tested_lengths(report):
            key = f"answer/{report.analysis.safe_cap.quantity}"
            yield Measurement(key=key, value=each.mean, step=each.asked_tokens)

    def tags(self, report: Report) -> Mapping[str, str]:
        cap = report.analysis.safe_cap
        names = ("outcome", "limited_by", "verdict", "shape", "evidence")
        return {name: value for name in names if (value := getattr(cap, name)) is not None}


def _do(report: Report) -> Note:
    cap, limit = report.analysis.safe_cap, report.analysis.safe_cap.limit
    if cap.tokens is not None:
        if not cap.at_least:
            return Note("keep prompts to {tokens:,} tokens or fewer", tokens=cap.tokens)
        beyond = Note("longer ones are not decided")
        if cap.censored and cap.tokens == cap.ci_low:
            beyond = Note("longer ones were not tested")
        return Note("prompts of up to {tokens:,} tokens are safe; {beyond}", tokens=cap.tokens, beyond=beyond)
    if cap.outcome == "below":
        ways: Mapping[LimitName | None, Note] = {
            "memory": Note("give more memory (model.memory_gib), or test shorter lengths"),
            "latency": Note("allow more time (analysis.latency_slo_ms), or test shorter lengths"),
        }
        easier = Note("use none of the tested lengths; test shorter ones, or an easier task")
        return ways.get(cap.limited_by, easier)
    below = Note(", by the command below") if report.run.next_command else ""
    if limit is None or limit.at_tokens is None:
        ask = Note("ask for longer lengths too (task.lengths)")
        return Note("say what the weights are{below}", below=below) if cap.limited_by == "memory" else ask
    told = {"tokens": limit.at_tokens, "below": below}
    if limit.more is None:
        return Note("get more answers at {tokens:,} tokens{below}", **told)
    return Note("get about {n:more answers} at {tokens:,} tokens{below}", n=limit.more, **told)


def _details(report: Report) -> Iterator[tuple[str, Shown]]:
    cap, bins = report.analysis.safe_cap, report.analysis.lengths
    if cap.quantity == "healthy":
        yield "Tested", healthy_round()
    if cap.shape is not None:
        yield "Shape", _shape(cap, cap.shape)
    elif cap.evidence is not None:
        yield "Shape", Note(
            "not named: that takes {lengths} lengths with {samples} scored samples each, and for a cliff a fall that"
            " the tests show", lengths=FEWEST_LENGTHS, samples=FEWEST_SCORES,
        )  # fmt: skip
    if cap.evidence is not None:
        yield "Evidence", _evidence(cap)
    yield "Threshold", phrases.threshold_name(cap)
    if len(cap.limits) > 1:
        yield "Limits", limits_in_words(cap)
    if cap.censored:
        at = Note(" ({tokens:,} tokens)", tokens=bins[-1].median_tokens) if bins else ""
        yield "Range", Note("no cliff up to the longest test{at}; the true limit may be higher", at=at)
    if cap.ci_high is not None or (cap.ci_low is not None and not cap.censored):
        yield "Crossing", _crossing(cap)


def limits_in_words(cap: SafeCap) -> Note:
    """Every limit that was asked for, and which of them holds first."""
    least = Note("no limit is reached in the tested range")
    if cap.limited_by is not None:
        name = phrases.LIMITS[cap.limited_by]
        leasts: Mapping[Outcome, Note] = {
            "safe": Note("{name} sets the limit", name=name),
            "below": Note("{name} leaves no tested length", name=name),
            "undecided": Note("{name} is undecided", name=name),
        }
        least = leasts[cap.outcome]
    return Note("{limits}: {least}", limits=tuple(map(_limit, cap.limits)), least=least)


def _limit(limit: Limit) -> Note:
    said = Note("undecided") if limit.outcome == "undecided" else Note("none")
    if limit.tokens is not None:
        said = phrases.up_to(limit.tokens, at_least=limit.at_least)
    why = "" if limit.why is None or limit.name == "quality" else Note(" ({why})", why=limit.why)
    return Note("{name} {said}{why}", name=phrases.LIMITS[limit.name], said=said, why=why)


def healthy_round() -> Note:
    """What a healthy round of writing is."""
    return Note(
        "the healthy share, that is the share of healthy rounds; a round is healthy if its text is long enough, is not "
        "in a loop, and is no further from the author (composite of its measures, 0-100) than 99% of the author's own "
        "passages"
    )


_SHAPES: Mapping[ShapeName, Note] = {
    "flat": Note("flat - {curve}, the {what} does not change with length, and is at the threshold or above{but}"),
    "slope": Note(
        "slope - {curve}, the {what} falls with length, over several steps or without reaching the threshold"
    ),
    "cliff": Note("cliff - {curve}, the {what} falls through the threshold in one step{where}"),
    "below": Note("below - {curve}, the {what} is under the threshold at every tested length"),
    "rising": Note("rising - {curve}, the {what} goes up with length"),
}


def _shape(cap: SafeCap, shape: ShapeName) -> Note:
    step, dip = cap.shape_step, cap.dip_tokens
    said: dict[str, object] = {
        "curve": Note("by the curve that fits best (no test)"), "what": QUANTITIES[cap.quantity],
        "where": Note(", between {low:,} and {high:,} tokens", low=step[0], high=step[1]) if step else "",
        "but": "" if dip is None else Note(", but for a dip at {tokens:,} tokens", tokens=dip),
    }  # fmt: skip
    return Note(_SHAPES[shape].template, **said)


def _evidence(cap: SafeCap) -> Note:
    if cap.evidence != "settled":
        n = cap.settling_samples
        likely = "" if n is None else Note("; about {n:,} samples at the length that stopped them are likely to", n=n)
        return Note("unsettled - the tests do not show how the score runs over length{likely}", likely=likely)
    if cap.verdict == "insufficient_evidence":
        return Note("settled - every tested length is shown to be below the threshold")
    if cap.censored or cap.ci_high is None:
        return Note("settled - every tested length is shown to clear the threshold")
    return Note(
        "settled - the {what} is shown to be below the threshold from {tokens:,} tokens on",
        what=QUANTITIES[cap.quantity],
        tokens=cap.ci_high,
    )


def _crossing(cap: SafeCap) -> Note:
    low, high, what = cap.ci_low, cap.ci_high, QUANTITIES[cap.quantity]
    if high is None:
        return Note(
            "no tested length is shown to be below the threshold; a fall can only lie above {low:,} tokens", low=low
        )
    if low is None:
        return Note("the {what} is below the threshold by {high:,} tokens at the latest", what=what, high=high)
    return Note("the {what} crosses the threshold between {low:,} and {high:,} tokens", what=what, low=low, high=high)


_ZONES: Mapping[ZoneName, tuple[str, str]] = {
    "stable": ("[OK]", "good"),
    "transition": ("[!!]", "doubtful"),
    "degraded": ("[XX]", "bad"),
}
"""Mark, which says without colour what a zone is, and mood."""


class ZonesFinding(Finding[None]):
    """From where to where the model is stable, and where it is degraded."""

    key = "zone_table"
    title = "Zones"

    def show(self, report: Report) -> tuple[Block, ...]:
        zones = report.analysis.zones
        if not zones:
            return ()
        warned = report.analysis.finding(EarlyWarnings)
        spread = [each.median_tokens for each in warned.warnings if each.name == "score_spread"] if warned else []
        lines = tuple(Text(text=_range(zone, spread), mood=_ZONES[zone.name][1]) for zone in zones)
        meaning = Note(
            "Stable: every tested length clears the threshold. Degraded: every one is shown to be below it, tested "
            "from the longest down, at {confidence} confidence together. Transition: neither, or untested",
            confidence=phrases.percent(report.analysis.safe_cap.confidence),
        )
        return (Lines(lines=lines), Text(text=meaning))


def _range(zone: Zone, spread: Sequence[int]) -> Note:
    """A zone, with the lengths from which on scores are warned to vary more."""
    mean = "" if zone.mean is None else Note(", mean {mean:.2f}", mean=zone.mean)
    if zone.mean is not None and zone.fall is not None:
        share = f"{abs(zone.fall):.0%}"  # of the other zone's mean
        fall = Note("{share} higher", share=share) if zone.fall < 0.0 else Note("{share} lower", share=share)
        fall = Note("no lower") if share == "0%" else fall
        mean = Note(", mean {mean:.2f} ({fall})", mean=zone.mean, fall=fall)
    varies = any(zone.min_tokens <= tokens <= zone.max_tokens for tokens in spread)
    return Note(
        "{mark} {name:<10} {low:,} - {high:,} tokens{mean}{variance}",
        mark=_ZONES[zone.name][0], name=Note(zone.name), low=zone.min_tokens, high=zone.max_tokens, mean=mean,
        variance=Note(", high variance") if varies else "",
    )  # fmt: skip
