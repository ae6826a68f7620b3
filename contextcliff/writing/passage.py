"""A continuation judged: its measures, the original's, the author's, how far apart they are, and one composite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import get_args

from contextcliff.writing.author_norms import Norms, norms_for, norms_of, z_scores
from contextcliff.writing.measures import measure as keys
from contextcliff.writing.measures.measured import SIZES, Vectors, coherence, measure_prose, reference_similarity
from contextcliff.writing.measures.readability import WordList

_SHORTFALL = "shortfall"
_WORST = 100.0


def judge_prose(
    text: str, *, prompt: str, reference: str, document: str, language: str, word_list: WordList, shortfall: float
) -> dict[str, float]:
    """The details of one continuation's score, by the keys that `measures` names.

    `reference` are the author's own next words, as many as `text` has, `shortfall` is the share of the least length
    that `text` lacks. What cannot be measured is absent. A text too short to be measured has the worst composite; where
    the author's windows are too few there is none."""
    values = measure_prose(text, language=language, word_list=word_list, prompt=prompt, reference=reference)
    original = measure_prose(reference, language=language, word_list=word_list, prompt=prompt)
    details = {**values, **_prefixed(keys.ORIGINAL, original)}
    prefixes = (keys.ORIGINAL, keys.AUTHOR_MEAN, keys.AUTHOR_STD, keys.Z, keys.ORIGINAL_Z)
    missing = {_SHORTFALL: shortfall, **{prefix + _SHORTFALL: 0.0 for prefix in prefixes}}
    missing[keys.Z + _SHORTFALL] = shortfall / keys.BY_NAME[_SHORTFALL].floor
    if values.keys() <= SIZES:
        return {**details, **missing, keys.COMPOSITE: _WORST}
    norms = norms_for(document, language, word_list, len(text.strip()))
    return _composed({**details, **_against(values, original, norms), **missing})


def with_coherence(
    details: Mapping[str, float], *, vectors: Vectors, reference_vectors: Vectors, window_vectors: Sequence[Vectors]
) -> dict[str, float]:
    """The details with the measures of sentence embeddings added, and the composites computed again.

    `reference_vectors` are the sentences of the original, `window_vectors` those of each of the author's windows, whose
    coherence is the norm. Each array has shape (sentences, dimensions)."""
    values, original = coherence(vectors), coherence(reference_vectors)
    norms = norms_of([coherence(window) for window in window_vectors])
    similarity = reference_similarity(vectors, reference_vectors)
    return _composed(
        {
            **details,
            **values,
            **({} if similarity is None else {"reference_similarity": similarity}),
            **_prefixed(keys.ORIGINAL, original),
            **_against(values, original, norms),
        }
    )


def _against(values: Mapping[str, float], original: Mapping[str, float], norms: Norms) -> dict[str, float]:
    return {
        **_prefixed(keys.AUTHOR_MEAN, {name: norm.mean for name, norm in norms.items()}),
        **_prefixed(keys.AUTHOR_STD, {name: norm.std for name, norm in norms.items()}),
        **_prefixed(keys.Z, z_scores(values, norms)),
        **_prefixed(keys.ORIGINAL_Z, z_scores(original, norms)),
    }


def _composed(details: Mapping[str, float]) -> dict[str, float]:
    z = {key.removeprefix(keys.Z): value for key, value in details.items() if key.startswith(keys.Z)}
    values = {name: details[name] for name in keys.BY_NAME if name in details}
    prose, shortfall = calibrated(z), details.get(_SHORTFALL, 0.0)
    composites = {
        # What is missing of the text counts as 100.
        keys.COMPOSITE: None if prose is None else 100.0 * (1.0 - (1.0 - shortfall) * (1.0 - prose / 100.0)),
        keys.CLASSIC_COMPOSITE: classic(values),
        keys.AUTHOR_DISTANCE: author_distance(z),
    }
    return {**details, **{name: value for name, value in composites.items() if value is not None}}


def _prefixed(prefix: str, values: Mapping[str, float]) -> dict[str, float]:
    return {f"{prefix}{name}": value for name, value in values.items()}


_FREE, _FULL = 1.0, 6.0
"""Standard deviations toward worse up to which a measure adds nothing, and from which on it adds its whole part."""
_MOST = 10.0
"""Largest z-score that counts in the distance: larger ones depend on the measure's floor more than on the text."""


def calibrated(z: Mapping[str, float]) -> float | None:
    """The composite by the author's own windows, from z-scores by measure; None where no family is measured.

    A measure's part goes from 0 at one standard deviation toward worse to 1 at six, a family's part is the mean of its
    measures', and the composite is 100 times the root mean square of the families' parts. So families count alike,
    however many measures they have, and one bad family shows among good ones."""
    parts = parts_of(z)
    return composed(list(parts.values())) if parts else None


def parts_of(z: Mapping[str, float]) -> dict[keys.Family, float]:
    """The part of each measured family in the composite, 0-1."""
    shares: dict[keys.Family, list[float]] = {family: [] for family in get_args(keys.Family)}
    for name, score in z.items():
        measure = keys.BY_NAME[name]
        if measure.family is not None:
            shares[measure.family].append(_clip((measure.worse * score - _FREE) / (_FULL - _FREE)))
    return {family: sum(own) / len(own) for family, own in shares.items() if own}


def composed(parts: Sequence[float]) -> float:
    return 100.0 * math.sqrt(sum(part**2 for part in parts) / len(parts))


def classic(values: Mapping[str, float]) -> float | None:
    """Context-Tester's composite, the mean of four parts from best to worst; None where no part is measured. A part
    that is not measured is left out; Context-Tester takes missing embeddings for a coherence of 0."""
    parts = [
        (values.get("vocabulary_diversity"), 0.6, 0.3),
        (values.get("cloze_score"), 15.0, 40.0),
        (values.get("adjacent_coherence"), 0.7, 0.3),
        (values.get("bigram_repetition_rate"), 0.0, 0.3),
    ]
    shares = [_clip((value - best) / (worst - best)) for value, best, worst in parts if value is not None]
    return 100.0 * sum(shares) / len(shares) if shares else None


def author_distance(z: Mapping[str, float]) -> float | None:
    """Root mean square of all z-scores, each at most 10: about 1 for the author."""
    return math.sqrt(sum(min(abs(score), _MOST) ** 2 for score in z.values()) / len(z)) if z else None


def _clip(share: float) -> float:
    return min(1.0, max(0.0, share))
