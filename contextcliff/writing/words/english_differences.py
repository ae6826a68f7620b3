"""What is said of the differences between a candidate's prose and the baseline's, pair by pair, in English."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextcliff.findings import phrases
from contextcliff.reporting.words.english_say import amount
from contextcliff.writing.analysis.paired_measures import MeasureDifference
from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.words.english_writing import contest_title

HEAD = ("measure", "better", "unit", "baseline", "candidate", "difference", "interval", "p worse", "p better", "pairs")
WORDS = ("measure", "better", "unit")
"""Columns of text; the others hold numbers."""
_BETTER = {1: "lower", -1: "higher", 0: "neither"}
_SD = "author's sd"


def differences_sentence(candidate: str, baseline: str, rows: Sequence[MeasureDifference]) -> str:
    """What is shown of the measures of one candidate."""
    tested = [one for one in rows if one.p_worse is not None]
    lead = f"{candidate} against {baseline}, pair by pair: "
    if not tested:
        return f"{lead}no measure can be tested."
    shown = [
        f"{way} in {', '.join(map(_sized, some))}"
        for way in ("worse", "better")
        if (some := [one for one in tested if one.shown == way])
    ]
    rest = sum(one.shown is None for one in tested)
    if not shown:
        return f"{lead}of {amount(rest, 'measures')} tested none is shown to be worse or better."
    more = f"; {rest:,} of {amount(len(tested), 'measures')}: neither is shown" if rest else ""
    return f"{lead}{'; '.join(shown)}{more}."


def cells(one: MeasureDifference) -> tuple[str, ...]:
    """The row of a measure, under `HEAD`."""
    digits = _digits(one)
    name = contest_title(one.measure)
    return (
        f"{name} ({one.shown})" if one.shown else name,
        _BETTER[one.worse],
        _unit(one),
        _number(one.baseline_mean, digits),
        _number(one.candidate_mean, digits),
        _number(one.difference, digits, sign="+"),
        _interval(one, digits),
        _p(one.p_worse_corrected),
        _p(one.p_better_corrected),
        f"{one.n_pairs:,}",
    )


def differences_notes(known: Mapping[str, Sequence[MeasureDifference]], *, confidence: float) -> tuple[str, ...]:
    """How the measures of all candidates were tested, and what of their pairs was left out."""
    rows = [one for each in known.values() for one in each]
    n_tested = sum(one.p_worse is not None for one in rows)
    if not rows:
        return ()
    notes = [
        "the verdict is about healthy rounds; a measure's difference is the mean of the candidate's figure minus the"
        " baseline's over the rounds of both, tested by the exact test of signs and corrected by Holm over"
        f" {amount(n_tested, 'tests')}; each end of an interval holds by itself at"
        f" {phrases.percent(confidence)}, without that correction"
    ]
    for name, each in known.items():
        most = max((one.n_unmeasured for one in each if one.worse), default=0)
        if most:
            notes.append(
                f"{name}: a round that wrote too little lacks measures: their differences leave out up to"
                f" {amount(most, 'pairs')}, the verdict leaves out none"
            )
    return tuple(notes)


def _sized(one: MeasureDifference) -> str:
    title, digits = contest_title(one.measure), _digits(one)
    title = title if title[:2].isupper() else title[0].lower() + title[1:]
    p = phrases.p_value((one.p_worse_corrected if one.shown == "worse" else one.p_better_corrected) or 0.0)
    unit, size = " sd" if one.scale == "z" else "", _number(one.difference, digits, sign="+")
    return f"{title} ({size}{unit}, {p})"


def _unit(one: MeasureDifference) -> str:
    if one.scale == "z":
        return _SD
    known = BY_NAME.get(one.measure)
    return (known.unit if known else "0-100") or phrases.MISSING


def _interval(one: MeasureDifference, digits: int) -> str:
    if one.low is None or one.high is None:
        return phrases.MISSING
    return f"{_number(one.low, digits, sign='+')} to {_number(one.high, digits, sign='+')}"


def _number(value: float, digits: int, *, sign: str = "-") -> str:
    """A figure, and 0 without a sign; `sign` is `+` where others have one in any case."""
    text = f"{value:{sign}.{digits}f}"
    return text[1:] if text[0] in "+-" and not text.strip("+-0.") else text


def _digits(one: MeasureDifference) -> int:
    """Decimals by which its figures tell something."""
    if one.scale == "z":
        return 2
    size = max(abs(one.baseline_mean), abs(one.candidate_mean))
    return next((digits for digits, least in enumerate((1000.0, 9.995, 0.9995)) if size >= least), 3)


def _p(value: float | None) -> str:
    if value is None:
        return phrases.MISSING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
