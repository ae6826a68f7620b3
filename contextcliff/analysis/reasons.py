"""The safe cap in one sentence: what was shown, what stopped it, and what would settle it."""

from __future__ import annotations

import bisect
import math
from dataclasses import replace

from contextcliff.analysis import sample_size
from contextcliff.analysis.bar import BASELINE_SAMPLES, Bar, RelativeBar, figure
from contextcliff.analysis.bins import Level
from contextcliff.analysis.caps import Walk, evidence_suffices


def reason_of(walk: Walk, bar: Bar, *, threshold: float, confidence: float) -> str:
    """Why the cap is where it is, with the figures. `walk` has at least one length."""
    planned = sum(level.planned for level in walk.levels)
    if not any(level.scores for level in walk.levels):
        return f"none of the {planned:,} samples was scored: nothing can be said of any length"
    stop = walk.stop
    if stop is None:
        return _all_clear(walk, bar, confidence)
    if walk.cleared == 0 and isinstance(bar, RelativeBar):
        return _no_baseline(stop)
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


def _no_baseline(first: Level) -> str:
    n = len(first.scores)
    if n < BASELINE_SAMPLES:
        return (
            f"at the shortest length, {_tokens(first)} tokens, only {n} of {first.planned} samples are "
            f"scored: a baseline needs at least {BASELINE_SAMPLES}"
        )
    return (
        f"the score at the shortest length, {_tokens(first)} tokens, is 0.00: there is no baseline "
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
    n = len(stop.scores)
    if not stop.scores:
        needs = "" if fewest is None else f"; at least {fewest:,} scored samples are needed there"
        return f"at {_tokens(stop)} none of {stop.planned} samples was scored{needs}"
    here = f"at {_tokens(stop)} the score is {_score(stop, confidence)}"
    if fewest is None:
        return f"{here}, and no number of samples can show a score of {figure(threshold)}"
    if not bar.could_clear(stop, stop.all_right(n)):
        enough = _fewest_all_right(stop, bar, fewest)
        return (
            f"{here}, but even {n} of {n} right cannot show {bar.words}; "
            f"at least {enough:,} samples a length{_in_texts(stop, enough)} are needed"
        )
    if not evidence_suffices(stop, bar) or _clears_without_unscored(stop, bar):
        return (
            f"{here}, but {stop.unscored} of {stop.planned} samples are unscored, and were those wrong "
            f"it would not clear {bar.words}"
        )
    return here + _advice(stop, bar, confidence)


def _fewest_all_right(stop: Level, bar: Bar, fewest: int) -> int:
    """Fewest samples at `stop` that clear the bar if all are right. `fewest` is that of a fixed bar, independent."""
    if stop.clusters:
        size = stop.planned / len(stop.clusters)
        counts = [round(k * size) for k in range(len(stop.clusters), max(1, int(sample_size.MOST / size)))]
        at = bisect.bisect_left(counts, True, key=lambda m: bar.could_clear(stop, stop.all_right(m)))
        return counts[min(at, len(counts) - 1)]
    # With a baseline below 1, fewer will do than against a perfect one.
    above = range(len(stop.scores) + 1, fewest)
    return next((m for m in above if bar.could_clear(stop, stop.all_right(m))), fewest)


def _in_texts(level: Level, samples: int) -> str:
    """In how many texts so many samples lie, if in as many a text as now; nothing where they share none."""
    if not level.clusters:
        return ""
    return f" in {max(2, round(samples * len(level.clusters) / level.planned)):,} texts"


def _clears_without_unscored(level: Level, bar: Bar) -> bool:
    """Whether the scored samples alone would do, on 0/1 scores."""
    if not level.unscored:
        return False
    rounded = tuple(sorted(float(score == 1.0) for score in level.scores))
    return bar.could_clear(level, replace(level.evidence, scores=rounded))


def _advice(stop: Level, bar: Bar, confidence: float) -> str:
    mean, score = stop.bin.mean, bar.score
    if mean is None or score is None:
        return ""
    if mean > score:
        needed = bar.samples_to_clear(stop)
        where = "at each of the two lengths" if isinstance(bar, RelativeBar) else "at that length"
        return (
            f", above the threshold, but {len(stop.scores)} samples are too few to show it; "
            f"{_settled_by(stop, needed, where)}"
        )
    rate = sample_size.cautious_rate(stop.scores, score)
    independent = sample_size.to_fall(rate, score, confidence)
    needed = stop.evidence.samples_worth(independent, 0.5 * (1.0 + confidence), most=sample_size.MOST)
    side = "at" if math.isclose(mean, score) else "below"
    return (
        f", {side} the threshold, but {len(stop.scores)} samples do not show that it is degraded; "
        f"{_settled_by(stop, needed, 'at that length')}"
    )


def _settled_by(stop: Level, needed: int | None, where: str) -> str:
    if needed is None:
        return f"not even {sample_size.MOST:,} scored samples {where} are likely to settle it"
    samples = f"{needed:,} scored samples{_in_texts(stop, needed)} {where}"
    return f"a new run with about {samples} is likely to settle it"


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
