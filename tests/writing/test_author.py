"""The author: windows of the text, their norms, and how far from them a passage lies."""

from __future__ import annotations

import math
import random
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.text.sentences import sentence_starts
from contextcliff.writing.author_norms import disjoint_windows, windows
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE, Z
from contextcliff.writing.measures.readability import dale_chall
from contextcliff.writing.passage import calibrated, classic, judge_prose, with_coherence
from contextcliff.writing.task.continuation_scoring import author_limit, author_parts, limit_of
from tests.make import known

ANY_Z = st.dictionaries(st.sampled_from(sorted(BY_NAME)), st.floats(-1e6, 1e6), max_size=20)


def test_a_family_is_the_mean_of_its_measures_and_families_are_squared() -> None:
    """Repetition: (1 + 0.5) / 2; readability: 0; rhythm, where down is worse: 0.4."""
    z = {"bigram_repetition_rate": 9.0, "trigram_repetition_rate": 3.5, "cloze_score": -8.0}
    z["sentence_length_variance"] = -3.0
    assert calibrated(z) == pytest.approx(100 * math.sqrt((0.75**2 + 0 + 0.4**2) / 3))


@given(ANY_Z, st.floats(0, 100))
def test_a_worse_measure_never_mends_the_composite(z: dict[str, float], step: float) -> None:
    worse = {name: score + BY_NAME[name].worse * step for name, score in z.items()}
    before, after = calibrated(z), calibrated(worse)
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert after >= before - 1e-9


def test_context_testers_composite() -> None:
    values = {
        "vocabulary_diversity": 0.45,  # 0.5
        "cloze_score": 20.0,  # 0.2
        "adjacent_coherence": 0.6,  # 0.25
        "bigram_repetition_rate": 0.06,  # 0.2
    }
    assert classic(values) == pytest.approx(25 * (0.5 + 0.2 + 0.25 + 0.2))
    assert classic({**values, "mtld": 1.0}) == classic(values)


SENTENCE = "The clerk read it. "


@given(st.integers(1, 400), st.integers(20, 3000), st.integers(1, 70))
def test_windows_begin_and_end_with_sentences_and_are_about_as_long_as_asked(
    sentences: int, characters: int, most: int
) -> None:
    text = SENTENCE * sentences
    starts = [len(SENTENCE) * number for number in range(sentences)]
    found = windows(text, characters=characters, starts=starts, most=most)
    assert len(found) <= most
    assert len(set(found)) == len(found)
    for start, end in found:
        assert start in starts
        assert end in starts or end == len(text)
        assert abs(end - start - characters) <= characters / 4
    if disjoint_windows(text, characters=characters, starts=starts, most=most):
        assert all(end <= start for (_, end), (start, _) in pairwise(found))


STORY = files("contextcliff.datasets").joinpath("texts", "the_tide_clerk.txt").read_text(encoding="utf-8")
LENGTH = 2_000


def test_the_limit_is_the_value_within_which_a_new_one_lies_with_99_percent() -> None:
    assert limit_of([float(k) for k in range(1, 200)]) == pytest.approx(198.0)
    assert limit_of([3.0, 1.0, 2.0]) == 3.0
    assert limit_of([]) is None


@pytest.mark.slow
def test_the_authors_passages_are_within_the_limit_and_loops_are_not() -> None:
    starts, drawn = sentence_starts(STORY, language="en"), random.Random(5)
    limit = known(author_limit(STORY, "en", dale_chall(), LENGTH))
    assert len(author_parts(STORY, "en", dale_chall(), LENGTH)) >= 150

    def composite(text: str, before: int) -> float:
        return judged(text, STORY, point=before)[COMPOSITE]

    places = [drawn.choice([at for at in starts if 1_000 < at < len(STORY) - LENGTH]) for _ in range(100)]
    passages = [STORY[at : at + LENGTH] for at in places]
    assert sum(composite(text, at) <= limit for text, at in zip(passages, places, strict=True)) >= 97
    loops = [text[:150] * (LENGTH // 150) for text in passages[:20]]
    halves = [text[: LENGTH // 2] + text[: LENGTH // 8] * 4 for text in passages[:20]]
    assert all(composite(text, at) > limit for text, at in zip((*loops, *halves), places[:20] * 2, strict=True))


POINT = 60_000
PAGE = 4_500


def judged(text: str, document: str, *, point: int = POINT, shortfall: float = 0.0) -> dict[str, float]:
    texts = {"prompt": document[:point], "reference": document[point : point + len(text)], "document": document}
    return judge_prose(text, **texts, language="en", word_list=dale_chall(), shortfall=shortfall)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("collapse", "least"),
    [("loop of a paragraph", 40.0), ("loop of a sentence", 60.0), ("copy of a page", 38.0), ("flat list", 55.0)],
)
def test_a_collapse_is_far_above_any_page_of_the_authors(novel: str, collapse: str, least: float) -> None:
    texts = {
        "loop of a paragraph": f"{novel[900_000:900_700]}\n\n" * 6,
        "loop of a sentence": "She looked at him, and he looked at her. " * 100,
        "copy of a page": novel[600_000 : 600_000 + PAGE],
        "flat list": " ".join(
            f"{who} {did} the {what}." for who in ("Jo", "Meg", "Amy") for did in ("saw", "liked", "took", "left")
            for what in ("house", "door", "fire", "tree", "dog", "book", "cat", "boy", "hat")
        ),
    }  # fmt: skip
    details = judged(texts[collapse], novel, point=900_000)
    assert details[COMPOSITE] > least
    assert details[COMPOSITE] > 2 * judged(novel[900_000 : 900_000 + PAGE], novel, point=900_000)[COMPOSITE]


def _vectors(seed: int, sentences: int, *, spread: float) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.array([1.0, 1.0, 1.0, 1.0]) + spread * generator.normal(size=(sentences, 4))


def test_coherence_is_added_and_enters_the_composites() -> None:
    details = judged(STORY[POINT : POINT + PAGE], STORY)
    whole = with_coherence(
        details,
        vectors=_vectors(1, 30, spread=5.0),
        reference_vectors=_vectors(2, 30, spread=0.3),
        window_vectors=[_vectors(seed, 30, spread=0.3) for seed in range(10, 20)],
    )
    added = {name for name, measure in BY_NAME.items() if measure.embeds}
    assert added <= set(whole)
    assert whole["z.adjacent_coherence"] < -6
    assert whole["author_mean.adjacent_coherence"] == pytest.approx(whole["original.adjacent_coherence"], abs=0.1)
    assert "z.reference_similarity" not in whole
    assert whole[COMPOSITE] > details[COMPOSITE] + 20
    z = {key.removeprefix(Z): value for key, value in whole.items() if key.startswith(Z)}
    assert whole[COMPOSITE] == calibrated(z)
    assert whole[CLASSIC_COMPOSITE] == classic({name: whole[name] for name in BY_NAME if name in whole})


def test_a_text_that_is_missing_in_part_is_told_and_counts() -> None:
    page = STORY[POINT : POINT + PAGE]
    whole, half, none = (judged(page, STORY, shortfall=share) for share in (0.0, 0.5, 1.0))
    assert [found["shortfall"] for found in (whole, half, none)] == [0.0, 0.5, 1.0]
    assert [round(found["z.shortfall"], 9) for found in (whole, half, none)] == [0.0, 5.0, 10.0]
    quality = 1.0 - whole["composite"] / 100.0
    assert half["composite"] == pytest.approx(100.0 * (1.0 - quality / 2))
    assert none["composite"] == 100.0


def test_a_text_too_short_to_be_measured_is_the_worst_and_without_windows_of_the_author_there_is_no_composite() -> None:
    for text in ("", "...", "The end.", "Yes. " * 9):
        assert judged(text, STORY)[COMPOSITE] == 100.0
    assert COMPOSITE not in judged(STORY[:PAGE], STORY[:500], point=0)
