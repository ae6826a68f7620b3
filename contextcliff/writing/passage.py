"""A continuation judged: its measures, the original's, the author's, and how far apart they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextcliff.writing.author_norms import Norms, norms_for, norms_of, z_scores
from contextcliff.writing.composite import author_distance, calibrated, classic, with_shortfall
from contextcliff.writing.measures.coherence import Vectors, coherence, reference_similarity
from contextcliff.writing.measures.measure import (
    AUTHOR_DISTANCE,
    AUTHOR_MEAN,
    AUTHOR_STD,
    BY_NAME,
    CLASSIC_COMPOSITE,
    COMPOSITE,
    ORIGINAL,
    ORIGINAL_Z,
    Z,
)
from contextcliff.writing.measures.measured import SIZES, measure_prose
from contextcliff.writing.measures.readability import WordList

_SHORTFALL = "shortfall"
_WORST = 100.0


def judge_prose(
    text: str,
    *,
    prompt: str,
    reference: str,
    document: str,
    language: str,
    word_list: WordList,
    shortfall: float | None = None,
) -> dict[str, float]:
    """The details of one continuation's score, by the keys that `measures` names.

    `prompt` is the author's text before the continuation point, `reference` the author's own next words, as many as
    `text` has, `document` all of the author's text. `shortfall` is the share of the least length that `text` lacks
    (None: no least length is set). Measures that cannot be taken are absent. A text that is too short to be measured
    has no z-scores, and the worst composite; where the author's windows are too few there is no composite.
    """
    values = measure_prose(text, language=language, word_list=word_list, prompt=prompt, reference=reference)
    original = measure_prose(reference, language=language, word_list=word_list, prompt=prompt)
    details = {**values, **_prefixed(ORIGINAL, original)}
    missing = {} if shortfall is None else _missing(shortfall)
    if values.keys() <= SIZES:
        return {**details, **missing, COMPOSITE: _WORST}
    norms = norms_for(document, language, word_list, len(text.strip()))
    return _composed({**details, **_against(values, original, norms), **missing})


def with_coherence(
    details: Mapping[str, float], *, vectors: Vectors, reference_vectors: Vectors, window_vectors: Sequence[Vectors]
) -> dict[str, float]:
    """The details with the measures of sentence embeddings added, and the composites computed again.

    `vectors` are the sentences of the continuation, `reference_vectors` those of the original, `window_vectors` those
    of each of the author's windows (`author_norms.author_windows`), whose coherence is the norm. Each array has shape
    (sentences, dimensions).
    """
    values, original = coherence(vectors), coherence(reference_vectors)
    norms = norms_of([coherence(window) for window in window_vectors])
    similarity = reference_similarity(vectors, reference_vectors)
    return _composed(
        {
            **details,
            **values,
            **({} if similarity is None else {"reference_similarity": similarity}),
            **_prefixed(ORIGINAL, original),
            **_against(values, original, norms),
        }
    )


def _missing(shortfall: float) -> dict[str, float]:
    """The details of a shortfall; the author's text has none."""
    return {
        _SHORTFALL: shortfall,
        f"{ORIGINAL}{_SHORTFALL}": 0.0,
        f"{AUTHOR_MEAN}{_SHORTFALL}": 0.0,
        f"{AUTHOR_STD}{_SHORTFALL}": 0.0,
        f"{Z}{_SHORTFALL}": shortfall / BY_NAME[_SHORTFALL].floor,
        f"{ORIGINAL_Z}{_SHORTFALL}": 0.0,
    }


def _against(values: Mapping[str, float], original: Mapping[str, float], norms: Norms) -> dict[str, float]:
    return {
        **_prefixed(AUTHOR_MEAN, {name: norm.mean for name, norm in norms.of.items()}),
        **_prefixed(AUTHOR_STD, {name: norm.std for name, norm in norms.of.items()}),
        **_prefixed(Z, z_scores(values, norms)),
        **_prefixed(ORIGINAL_Z, z_scores(original, norms)),
    }


def _composed(details: Mapping[str, float]) -> dict[str, float]:
    z = {key.removeprefix(Z): value for key, value in details.items() if key.startswith(Z)}
    values = {name: details[name] for name in BY_NAME if name in details}
    prose = calibrated(z)
    composites = {
        COMPOSITE: None if prose is None else with_shortfall(prose, details.get(_SHORTFALL, 0.0)),
        CLASSIC_COMPOSITE: classic(values),
        AUTHOR_DISTANCE: author_distance(z),
    }
    return {**details, **{name: value for name, value in composites.items() if value is not None}}


def _prefixed(prefix: str, values: Mapping[str, float]) -> dict[str, float]:
    return {f"{prefix}{name}": value for name, value in values.items()}
