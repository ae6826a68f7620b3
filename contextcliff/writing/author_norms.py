"""The author's norms: measures over windows of the author's own text that are as long as the text that is judged."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from contextcliff.text.sentences import sentence_starts
from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.measures.measured import measure_prose
from contextcliff.writing.measures.readability import WordList
from contextcliff.writing.measures.words import PromptIndex, primary, words_of

MOST_WINDOWS = 64
_FEWEST_DISJOINT = 8
"""Overlapping windows are dependent, but three windows give no usable spread."""
_BEFORE = 50_000
"""Characters before a window that count as its prompt."""
_TOLERANCE = 0.25
"""Largest difference from the asked length, as a share of it: windows end where sentences do."""
SHORTEST = 200
"""Characters of the shortest windows."""
FEWEST_WINDOWS = 4
"""Fewest windows that a standard deviation is computed of."""

Spans = tuple[tuple[int, int], ...]
"""Stretches of a text by character offset, ascending; each begins and ends with a sentence."""


class Norm(NamedTuple):
    """Mean and sample standard deviation of one measure: in its unit, and on the scale of its z-scores (`scaled`)."""

    mean: float
    std: float
    scaled_mean: float
    scaled_std: float


Norms = Mapping[str, Norm]
"""By measure, of those that were taken in four windows or more."""


def windows(text: str, *, characters: int, starts: Sequence[int], most: int = MOST_WINDOWS) -> Spans:
    """Up to `most` stretches of about `characters` characters, evenly over `text`, between the sentences at `starts`.
    They are disjoint. Where fewer than 8 fit, each overlaps the next by about half."""
    disjoint = disjoint_windows(text, characters=characters, starts=starts, most=most)
    return disjoint or _spread(text, characters, starts, room=max(1, characters // 2), most=most)


def disjoint_windows(text: str, *, characters: int, starts: Sequence[int], most: int = MOST_WINDOWS) -> Spans:
    """Those of `windows` where 8 fit beside each other, else none."""
    spans = _spread(text, characters, starts, room=characters, most=most)
    return spans if len(spans) >= min(_FEWEST_DISJOINT, most) else ()


def author_windows(text: str, *, language: str, characters: int, most: int = MOST_WINDOWS) -> tuple[str, ...]:
    spans = windows(text, characters=max(characters, SHORTEST), starts=_starts(text, language), most=most)
    return tuple(text[start:end] for start, end in spans)


@lru_cache(maxsize=1024)
def norms_for(text: str, language: str, word_list: WordList, characters: int) -> Norms:
    """The norms of an author's `text` for texts of `characters` characters (at least 200). Measured at lengths a factor
    of √2 apart and interpolated, so that many lengths take few passes over the text."""
    step = step_of(characters)
    low = math.floor(step)
    shorter, longer = _norms_at(text, language, word_list, low), _norms_at(text, language, word_list, low + 1)
    return _between(shorter, longer, share=step - low) if longer else shorter


def step_of(characters: int) -> float:
    """The place of a length among those at which windows are measured: 2 log2 of it."""
    return 2.0 * math.log2(max(characters, SHORTEST))


def norms_of(windows_measures: Sequence[Mapping[str, float]]) -> Norms:
    norms: dict[str, Norm] = {}
    for name in BY_NAME:
        values = [window[name] for window in windows_measures if name in window]
        if len(values) >= FEWEST_WINDOWS:
            scales = [scaled(name, value) for value in values]
            norms[name] = Norm(
                mean=float(np.mean(values)),
                std=float(np.std(values, ddof=1)),
                scaled_mean=float(np.mean(scales)),
                scaled_std=float(np.std(scales, ddof=1)),
            )
    return norms


def scaled(name: str, value: float) -> float:
    """A measure on the scale of its z-scores: log(1 + value) where it is `logarithmic`."""
    return math.log1p(value) if BY_NAME[name].logarithmic else value


def z_scores(values: Mapping[str, float], norms: Norms) -> dict[str, float]:
    """Distances from the author's mean in standard deviations, each at least its floor."""
    return {
        name: (scaled(name, value) - norm.scaled_mean) / max(norm.scaled_std, BY_NAME[name].floor)
        for name, value in values.items()
        if (norm := norms.get(name)) is not None
    }


@lru_cache(maxsize=16)
def author_z(text: str, language: str, word_list: WordList, characters: int) -> Mapping[str, tuple[float, ...]]:
    """z-scores of the author's disjoint windows of a length, by measure; empty where fewer than eight fit."""
    spans = disjoint_windows(text, characters=max(characters, SHORTEST), starts=_starts(text, language))
    measured = _measured_windows(text, language, word_list, spans)
    norms = norms_of(measured)
    scores = [z_scores(window, norms) for window in measured]
    return {name: tuple(score[name] for score in scores if name in score) for name in norms}


@lru_cache(maxsize=4)
def _starts(text: str, language: str) -> tuple[int, ...]:
    return sentence_starts(text, language=primary(language))


@lru_cache(maxsize=64)
def _norms_at(text: str, language: str, word_list: WordList, step: int) -> Norms:
    return norms_of(measures_at(text, language, word_list, step))


@lru_cache(maxsize=64)
def measures_at(text: str, language: str, word_list: WordList, step: int) -> tuple[Mapping[str, float], ...]:
    spans = windows(text, characters=round(2.0 ** (step / 2)), starts=_starts(text, language))
    return tuple(_measured_windows(text, language, word_list, spans))


def _measured_windows(text: str, language: str, word_list: WordList, spans: Spans) -> list[Mapping[str, float]]:
    measures: list[Mapping[str, float]] = []
    for start, end in spans:
        before = PromptIndex(words_of(text[max(0, start - _BEFORE) : start])) if start else None
        measures.append(measure_prose(text[start:end], language=language, word_list=word_list, prompt=before))
    return measures


def _between(shorter: Norms, longer: Norms, *, share: float) -> Norms:
    """Interpolated; a measure that only one of them has is taken from that one."""
    norms: dict[str, Norm] = {}
    for name in BY_NAME:
        low, high = shorter.get(name, longer.get(name)), longer.get(name, shorter.get(name))
        if low is not None and high is not None:
            norms[name] = Norm(*(start + share * (end - start) for start, end in zip(low, high, strict=True)))
    return norms


def _spread(text: str, characters: int, starts: Sequence[int], *, room: int, most: int) -> Spans:
    fit = (len(text) - characters) // room + 1  # the last window needs its whole length, the others their room
    count = min(most, fit)
    stride = (len(text) - characters) / max(1, count - 1)
    bounds = [*starts, len(text)]
    spans: list[tuple[int, int]] = []
    earliest = 0
    for place in range(count):
        start = bounds[bisect_left(bounds, max(earliest, _nearest(bounds, round(place * stride))))]
        end = _nearest(bounds, start + characters)
        if abs(end - start - characters) <= _TOLERANCE * characters:
            spans.append((start, end))
            earliest = end if room >= characters else start + 1
    return tuple(spans)


def _nearest(bounds: Sequence[int], target: int) -> int:
    right = min(bisect_left(bounds, target), len(bounds) - 1)
    return min(bounds[max(0, right - 1)], bounds[right], key=lambda bound: abs(bound - target))
