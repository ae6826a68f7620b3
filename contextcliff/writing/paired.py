"""Does a candidate write worse than the baseline? Every measure over the rounds that both were asked, pair by pair.

The verdict rests on whether rounds are healthy; this says in what they differ. Differences are of z-scores where both
rounds have one, tested by the exact test of signs over all lengths, as the verdict is, and Holm corrects for all
measures of all candidates at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from contextcliff.analysis.paired import unit_names, units_of
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Heading, Table, Text, columns
from contextcliff.records.comparison import ScoredPair
from contextcliff.records.note import Note
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.pairs import p_better, p_worse, shift_interval
from contextcliff.statistics.ranks import holm, is_significant
from contextcliff.writing.contest import RAW_ALWAYS, WORSE_UP, WritingSide, different_rules, unequal_lengths
from contextcliff.writing.measures.measure import BY_NAME, Z
from contextcliff.writing.phrases import digits_of, in_sentence, title
from contextcliff.writing.prose_findings import Scale


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureDifference:
    """One measure of a candidate against the baseline, over the pairs in which both rounds have it."""

    measure: str
    worse: int
    """1 up, -1 down, 0 neither, and nothing is tested."""
    scale: Scale
    baseline_mean: float
    candidate_mean: float
    difference: float
    low: float | None
    high: float | None
    """Each end holds by itself; None where so few units rule out nothing, or where no unit differs."""
    n_pairs: int
    n_units: int
    """Independent pieces of evidence: rounds of one draw are one."""
    n_unmeasured: int
    """Pairs of answered rounds of which one lacks the measure, mostly since it wrote too little."""
    p_worse: float | None
    p_better: float | None
    p_worse_corrected: float | None
    """For all tested measures of all candidates (Holm)."""
    p_better_corrected: float | None
    shown: Literal["worse", "better"] | None
    """At the confidence, after the correction."""
    reason: Note | None
    """Why it isn't tested, though one way is worse."""


Differences = Mapping[str, Sequence[MeasureDifference]]
"""By the candidate's name."""


def measure_differences(
    baseline: WritingSide, candidates: Iterable[tuple[WritingSide, Sequence[ScoredPair]]], *, confidence: float
) -> Differences:
    """Both composites and every measure that some pair of a candidate with the baseline has, in the order of tables."""
    known: dict[str, list[MeasureDifference]] = {}
    for candidate, pairs in candidates:
        found = (_difference(measure, baseline, candidate, pairs, confidence=confidence) for measure in WORSE_UP)
        known[candidate.name] = [one for one in found if one is not None]
    rows = [one for each in known.values() for one in each]
    worse = iter(holm([one.p_worse for one in rows if one.p_worse is not None]))
    better = iter(holm([one.p_better for one in rows if one.p_better is not None]))
    return {
        name: [
            one if one.p_worse is None else _corrected(one, next(worse), next(better), confidence=confidence)
            for one in each
        ]
        for name, each in known.items()
    }


def _corrected(one: MeasureDifference, worse: float, better: float, *, confidence: float) -> MeasureDifference:
    shown: Literal["worse", "better"] | None = "worse" if is_significant(worse, confidence) else None
    if shown is None and is_significant(better, confidence):
        shown = "better"
    return replace(one, p_worse_corrected=worse, p_better_corrected=better, shown=shown)


def _difference(
    measure: str, baseline: WritingSide, candidate: WritingSide, pairs: Sequence[ScoredPair], *, confidence: float
) -> MeasureDifference | None:
    answered = [pair for pair in pairs if pair.is_scored]
    having = _with_figures(answered, measure)
    if not having:
        return None
    scaled = _with_figures(having, Z + measure)
    scale: Scale = "z" if len(scaled) == len(having) and measure not in RAW_ALWAYS else "raw"
    key = Z + measure if scale == "z" else measure
    before = [pair.baseline_figures[key] for pair in having]
    after = [pair.candidate_figures[key] for pair in having]
    differences = [own - base for base, own in zip(before, after, strict=True)]
    largest = max(map(abs, differences)) or 1.0
    shares = (
        replace(pair, baseline=0.0, candidate=each / largest) for pair, each in zip(having, differences, strict=True)
    )
    units = units_of(shares, unit_names(pairs))
    low, high = (None if end is None else end * largest for end in shift_interval(units, confidence))
    worse, reason, sides = WORSE_UP[measure], None, (baseline, candidate)
    if worse:
        reason = different_rules(measure, sides)
    if worse and reason is None and scale == "raw":
        reason = unequal_lengths(measure, sides, sorted({pair.context_tokens for pair in having}))
    tested = units.mirrored() if worse > 0 else units
    is_tested = worse != 0 and reason is None
    return MeasureDifference(
        measure=measure,
        worse=worse,
        scale=scale,
        baseline_mean=mean_of(before),
        candidate_mean=mean_of(after),
        difference=math.fsum(differences) / len(differences),
        low=low,
        high=high,
        n_pairs=len(having),
        n_units=len(units.units),
        n_unmeasured=len(answered) - len(having),
        p_worse=p_worse(tested) if is_tested else None,
        p_better=p_better(tested) if is_tested else None,
        p_worse_corrected=None,
        p_better_corrected=None,
        shown=None,
        reason=reason,
    )


def _with_figures(pairs: Iterable[ScoredPair], key: str) -> list[ScoredPair]:
    return [pair for pair in pairs if key in pair.baseline_figures and key in pair.candidate_figures]


_BETTER = {1: "lower", -1: "higher", 0: "neither"}


def differences_sentence(candidate: str, baseline: str, rows: Sequence[MeasureDifference]) -> str:
    tested = [one for one in rows if one.p_worse is not None]
    shown = [
        Note("{way} in {measures}", way=way, measures=[_sized(one) for one in some])
        for way in ("worse", "better")
        if (some := [one for one in tested if one.shown == way])
    ]
    rest = sum(one.shown is None for one in tested)
    if not tested:
        said = Note("no measure can be tested")
    elif not shown:
        said = Note("of {n:measures} tested none is shown to be worse or better", n=rest)
    else:
        more = Note("; {rest:,} of {n:measures}: neither is shown", rest=rest, n=len(tested)) if rest else ""
        said = Note("{shown}{more}", shown="; ".join(map(str, shown)), more=more)
    return f"{candidate} against {baseline}, pair by pair: {said}."


def differences_notes(known: Differences, *, confidence: float) -> tuple[str, ...]:
    """How the measures of all candidates were tested, and what of their pairs was left out."""
    rows = [one for each in known.values() for one in each]
    if not rows:
        return ()
    notes = [
        Note(
            "the verdict is about healthy rounds; a measure's difference is the mean of the candidate's figure minus"
            " the baseline's over the rounds of both, tested by the exact test of signs and corrected by Holm over"
            " {n:tests}; each end of an interval holds by itself at {confidence}, without that correction",
            n=sum(one.p_worse is not None for one in rows),
            confidence=phrases.percent(confidence),
        )
    ]
    for name, each in known.items():
        most = max((one.n_unmeasured for one in each if one.worse), default=0)
        if most:
            notes.append(
                Note(
                    "{name}: a round that wrote too little lacks measures: their differences leave out up to {n:pairs},"
                    " the verdict leaves out none",
                    name=name,
                    n=most,
                )
            )
    return tuple(map(str, notes))


def difference_blocks(known: Differences, *, baseline: str) -> tuple[Block, ...]:
    return tuple(block for name, rows in known.items() if rows for block in _of_candidate(name, rows, baseline))


def _of_candidate(name: str, rows: Sequence[MeasureDifference], baseline: str) -> tuple[Block, ...]:
    table = columns(
        rows,
        ("measure", lambda one: f"{title(one.measure)} ({one.shown})" if one.shown else title(one.measure)),
        ("better", lambda one: _BETTER[one.worse]),
        ("unit", _unit),
        ("baseline", lambda one: _number(one.baseline_mean, one)),
        ("candidate", lambda one: _number(one.candidate_mean, one)),
        ("difference", lambda one: _number(one.difference, one, sign="+")),
        ("interval", _interval),
        ("p worse", lambda one: phrases.p_cell(one.p_worse_corrected)),
        ("p better", lambda one: phrases.p_cell(one.p_better_corrected)),
        ("pairs", lambda one: f"{one.n_pairs:,}"),
        words=("measure", "better", "unit"),
    )
    reasons = dict.fromkeys(str(one.reason) for one in rows if one.reason is not None)
    return (
        Heading(text=f"{name} against {baseline}, pair by pair"),
        Text(text=differences_sentence(name, baseline, rows)),
        Table(columns=table),
        *(Text(text=f"Not tested where {reason}.") for reason in reasons),
    )


def difference_data(known: Differences) -> list[dict[str, object]]:
    """The rows in `comparison.json`."""
    return [
        {"candidate": name, **asdict(one), "reason": str(one.reason or "")}
        for name, rows in known.items()
        for one in rows
    ]


def _sized(one: MeasureDifference) -> str:
    p = phrases.p_value((one.p_worse_corrected if one.shown == "worse" else one.p_better_corrected) or 0.0)
    unit, size = " sd" if one.scale == "z" else "", _number(one.difference, one, sign="+")
    return f"{in_sentence(one.measure)} ({size}{unit}, {p})"


def _unit(one: MeasureDifference) -> str:
    if one.scale == "z":
        return "author's sd"
    known = BY_NAME.get(one.measure)
    return (known.unit if known else "0-100") or phrases.MISSING


def _interval(one: MeasureDifference) -> str:
    if one.low is None or one.high is None:
        return phrases.MISSING
    return f"{_number(one.low, one, sign='+')} to {_number(one.high, one, sign='+')}"


def _number(value: float, one: MeasureDifference, *, sign: str = "-") -> str:
    """A figure with the decimals that tell something, and 0 without a sign."""
    digits = 2 if one.scale == "z" else digits_of(max(abs(one.baseline_mean), abs(one.candidate_mean)))
    text = f"{value:{sign}.{digits}f}"
    return text[1:] if text[0] in "+-" and not text.strip("+-0.") else text
