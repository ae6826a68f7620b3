"""The safe cap in one sentence: what was shown, what stopped it, and what would settle it."""

from __future__ import annotations

import bisect
import math

from contextcliff.analysis import sample_size
from contextcliff.analysis.amounts import amount, are, portion
from contextcliff.analysis.bar import BASELINE_SAMPLES, Bar, RelativeBar, figure
from contextcliff.analysis.bins import Level
from contextcliff.analysis.caps import Walk, evidence_suffices


def reason_of(walk: Walk, bar: Bar, *, threshold: float, confidence: float) -> str:
    """Why the cap is where it is, with the figures. `walk` has at least one length."""
    planned = sum(level.bin.n_samples + level.bin.n_unscored for level in walk.levels)
    if not any(level.scores for level in walk.levels):
        none = "the only sample was not" if planned == 1 else f"none of the {planned:,} samples was"
        return f"{none} scored: nothing can be said of any length"
    stop = walk.stop
    if stop is None:
        return _all_clear(walk, bar, confidence)
    if walk.cleared == 0 and isinstance(bar, RelativeBar):
        return _no_baseline(bar, stop)
    if walk.cleared == 0 and walk.degraded and walk.degraded[0] == 0:
        return _never_good(walk, bar, confidence)
    if walk.verdict == "insufficient_evidence":
        after = _missing(stop, bar, threshold, confidence)
    elif walk.degraded and walk.degraded[0] > walk.cleared:
        after = (
            f"at {_tokens(stop)} the score is {_score(stop, confidence)}, shown neither to clear it nor to be below it"
        )
    else:
        return f"{_cleared(walk, bar, confidence)}; at {_tokens(stop)} the score is {_score(stop, confidence)}"
    sentence = f"{_cleared(walk, bar, confidence)}; {after}"
    if walk.degraded:
        fall = walk.levels[walk.degraded[0]]
        sentence += f"; at {_tokens(fall)} it is below, {_score(fall, confidence)}"
    return sentence


def _all_clear(walk: Walk, bar: Bar, confidence: float) -> str:
    if len(walk.levels) == 1 and isinstance(bar, RelativeBar):
        return f"only one length was tested, {walk.cap_tokens:,} tokens, and nothing to compare it with"
    return f"{_cleared(walk, bar, confidence)}; that is the longest one, and no fall was found"


def _cleared(walk: Walk, bar: Bar, confidence: float) -> str:
    if walk.cap_tokens is None:
        return f"no tested length is shown to clear {bar.words} at {_percent(confidence)} confidence"
    return (
        f"every tested length up to {walk.cap_tokens:,} tokens clears {bar.words} at {_percent(confidence)} confidence"
    )


def _no_baseline(bar: RelativeBar, stop: Level) -> str:
    base, single = bar.baseline, len(bar.members) == 1
    where = (
        f"at the shortest length, {_tokens(base)} tokens,"
        if single
        else f"at the {len(bar.members)} shortest lengths together"
    )
    n = len(base.scores)
    if n == 0:
        return f"{where} {_none_scored(base)}: there is no baseline to compare with"
    if n == base.planned < BASELINE_SAMPLES:
        return f"{where} there {are(n)} only {amount(n, base.noun)}: a baseline needs at least {BASELINE_SAMPLES}"
    if n < BASELINE_SAMPLES:
        return (
            f"{where} only {portion(n, base.planned, base.noun)} {are(n)} scored: a baseline needs at least "
            f"{BASELINE_SAMPLES}"
        )
    if not stop.scores:
        return (
            f"at the shortest length, {_tokens(stop)} tokens, {_none_scored(stop)}: no length is shown to be safe from "
            "the start"
        )
    return (
        f"the score at the shortest length, {_tokens(stop)} tokens, is 0.00: there is no baseline "
        "to compare with; test shorter lengths or an easier task"
    )


def _never_good(walk: Walk, bar: Bar, confidence: float) -> str:
    """The shortest length is degraded. What is said of the others depends on what they show."""
    first = walk.levels[0]
    if len(walk.degraded) == len(walk.levels):
        return (
            f"below {bar.words} at every length tested ({_score(first, confidence)} at the shortest, "
            f"{_tokens(first)} tokens): no length is safe here; test shorter lengths or an easier task"
        )
    recovered = next((level for level in walk.levels if bar.clears(level)), None)
    after = "it is not shown to be below at every longer one"
    if recovered is not None:
        after = f"it clears it at {_tokens(recovered)}, so that the shortest length is not the easiest one here"
    return (
        f"below {bar.words} already at the shortest length, {_tokens(first)} tokens "
        f"({_score(first, confidence)}), though {after}; no length is shown to be safe from the start"
    )


def _missing(stop: Level, bar: Bar, threshold: float, confidence: float) -> str:
    """Why the data at `stop` settle nothing, and how many samples would."""
    fewest = sample_size.fewest_to_clear(threshold, confidence)
    if not stop.scores:
        least = None if fewest is None else fewest_all_right(stop, bar, fewest)
        needs = "" if least is None else f"; at least {_scored(stop, least)} are needed there"
        return f"at {_tokens(stop)} {_none_scored(stop)}{needs}"
    here = f"at {_tokens(stop)} the score is {_score(stop, confidence)}"
    if fewest is None:
        return f"{here}, and no number of samples can show a score of {figure(threshold)}"
    if not bar.could_clear(stop, stop.if_all_right):
        return f"{here}, but {cannot_show(stop, bar.words)}; {_needed(stop, fewest_all_right(stop, bar, fewest))}"
    unscored = _unscored_that_decide(stop, bar)
    if unscored is not None:
        return f"{here}, but {unscored} {bar.words}"
    return here + _advice(stop, bar, confidence)


def cannot_show(stop: Level, threshold: str, *, each: str = "") -> str:
    """That even a perfect model would not clear the threshold with so many samples."""
    perfect = "right" if stop.binary else "as good as can be"
    even_if = f"it is {perfect}" if stop.planned == 1 else f"all are {perfect}"
    return f"{planned_at(stop, each=each)} cannot show {threshold} even if {even_if}"


def planned_at(level: Level, *, each: str = "") -> str:
    """How many samples a length has, and in how many texts where they share some; `each` is said of the samples."""
    where = f" in {amount(level.sharing, level.texts)}" if level.sharing else ""
    return f"{amount(level.planned, level.noun)}{each}{where}"


def _needed(stop: Level, enough: int | None) -> str:
    if enough is None:
        return f"not even {sample_size.MOST:,} {stop.noun} a length could"
    return f"at least {amount(enough, stop.noun)} a length{_in_texts(stop, enough)} are needed"


def fewest_all_right(stop: Level, bar: Bar, independent: int) -> int | None:
    """Fewest samples at `stop` that clear the bar if all are right; None where it takes more than 20,000.

    `independent` is that of a fixed bar and samples that share nothing.
    """
    if stop.sharing:
        size = stop.planned / stop.sharing
        counts = [round(k * size) for k in range(stop.sharing + 1, max(3, int(sample_size.MOST / size)))]
        at = bisect.bisect_left(counts, True, key=lambda m: bar.could_clear(stop, stop.all_right(m)))
        return None if at == len(counts) else counts[at]
    # With a baseline below 1, fewer will do than against a perfect one.
    above = range(stop.planned + 1, independent)
    return next((m for m in above if bar.could_clear(stop, stop.all_right(m))), independent)


def _in_texts(level: Level, samples: int) -> str:
    """In how many texts so many samples lie, if in as many a text as now; nothing where they share none."""
    return f" in {amount(level.texts_for(samples), level.texts)}" if level.sharing else ""


def _scored(level: Level, n: int) -> str:
    return f"{amount(n, f'scored {level.noun}')}{_in_texts(level, n)}"


def _none_scored(level: Level) -> str:
    n = level.planned
    return f"the only {level.noun[:-1]} was not scored" if n == 1 else f"none of {n:,} {level.noun} was scored"


def _unscored_that_decide(stop: Level, bar: Bar) -> str | None:
    """Which unscored samples stop the walk here, as the beginning of a sentence; None where they don't.

    They do where the scored ones alone would clear the bar, and where they could not with these counted against.
    """
    here = _unscored(stop)
    if here is not None and not evidence_suffices(stop, bar):
        return f"{here[0]}, and were {here[1]} wrong it would not clear"
    if not bar.clears_as_scored(stop):
        return None
    base = _unscored(bar.baseline) if isinstance(bar, RelativeBar) else None
    if here is not None and base is not None:
        return (
            f"{here[0]}, and {base[0]} at the baseline: were the former wrong and the latter right it would not clear"
        )
    if here is not None:
        return f"{here[0]}, and were {here[1]} wrong it would not clear"
    return None if base is None else f"{base[0]} at the baseline, and were {base[1]} right it would not clear"


def _unscored(level: Level) -> tuple[str, str] | None:
    """`10 of 50 samples are unscored`, and the pronoun for them; None where all are scored."""
    missing = level.bin.n_unscored
    if not missing:
        return None
    told = portion(missing, missing + level.bin.n_samples, "samples")
    return f"{told} {are(missing)} unscored", "that one" if missing == 1 else "those"


def _advice(stop: Level, bar: Bar, confidence: float) -> str:
    mean, score, n = stop.bin.mean, bar.score, len(stop.scores)
    if mean is None or score is None:
        return ""
    if mean > score:
        where = "at each of the two lengths" if isinstance(bar, RelativeBar) else "at that length"
        settled = _settled_by(stop, bar.samples_to_clear(stop), where)
        return f", above the threshold, but {amount(n, stop.noun)} {are(n)} too few to show it; {settled}"
    rate = sample_size.cautious_rate(stop.scores, score)
    independent = sample_size.to_fall(rate, score, confidence)
    needed = stop.evidence.samples_worth(independent, 0.5 * (1.0 + confidence), most=sample_size.MOST)
    side = "at" if math.isclose(mean, score) else "below"
    settled = _settled_by(stop, needed, "at that length")
    do = "does" if n == 1 else "do"
    return f", {side} the threshold, but {amount(n, stop.noun)} {do} not show that it is degraded; {settled}"


def _settled_by(stop: Level, needed: int | None, where: str) -> str:
    if needed is None:
        return f"so near it, not even {sample_size.MOST:,} scored {stop.noun} {where} are likely to settle it"
    return f"a new run with about {_scored(stop, needed)} {where} is likely to settle it"


def recovered_beyond(walk: Walk, bar: Bar) -> Level | None:
    """The first length beyond the stop that clears the bar when it is tested by itself."""
    beyond = walk.levels[walk.cleared + 1 :]
    if bar.score is None:
        return None
    return next((level for level in beyond if bar.clears(level)), None)


def _tokens(level: Level) -> str:
    return f"{level.bin.median_tokens:,}"


def _score(level: Level, confidence: float) -> str:
    found = level.bin
    if found.mean is None or found.ci_low is None or found.ci_high is None:
        return "unknown"
    return f"{found.mean:.2f} ({_percent(confidence)} CI {found.ci_low:.2f}–{found.ci_high:.2f})"


def _percent(confidence: float) -> str:
    return f"{100.0 * confidence:.6g}%"
