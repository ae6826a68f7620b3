"""A continuation judged against its author."""

from __future__ import annotations

import math
import statistics
from random import Random

import numpy as np
import pytest

from contextcliff.writing.author_norms import author_windows
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
from contextcliff.writing.measures.readability import dale_chall
from contextcliff.writing.passage import calibrated, classic, judge_prose, with_coherence

POINT = 60_000
PAGE = 4_500


def judged(text: str, document: str, *, point: int = POINT) -> dict[str, float]:
    return judge_prose(
        text,
        prompt=document[:point],
        reference=document[point : point + len(text)],
        document=document,
        language="en",
        word_list=dale_chall(),
    )


def test_a_page_is_told_in_full(story: str) -> None:
    details = judged(story[POINT : POINT + PAGE], story)
    plain = {name for name, measure in BY_NAME.items() if not measure.embeds} - {"shortfall"}
    normed = plain - {"reference_rouge_l"}
    assert set(details) == (
        plain
        | {ORIGINAL + name for name in normed}
        | {prefix + name for prefix in (AUTHOR_MEAN, AUTHOR_STD, Z, ORIGINAL_Z) for name in normed}
        | {COMPOSITE, CLASSIC_COMPOSITE, AUTHOR_DISTANCE}
    )
    assert all(math.isfinite(value) for value in details.values())
    assert all(details[name] == details[ORIGINAL + name] for name in normed)
    assert details["reference_rouge_l"] == 1.0


def test_an_empty_text_has_the_worst_composite_and_nothing_to_compare(story: str) -> None:
    details = judge_prose(
        "", prompt=story, reference=story[:100], document=story, language="en", word_list=dale_chall()
    )
    assert details["continuation_length"] == 0.0
    assert details["original.word_count"] > 10
    assert details[COMPOSITE] == 100.0
    assert not {CLASSIC_COMPOSITE, AUTHOR_DISTANCE} & set(details)
    assert not [key for key in details if key.startswith(Z)]


@pytest.mark.slow
def test_the_authors_own_pages_score_near_nothing(novel: str) -> None:
    pages = [judged(page, novel, point=max(1, novel.index(page))) for page in _pages(novel)]
    assert statistics.mean(page[COMPOSITE] for page in pages) < 4.0
    assert max(page[COMPOSITE] for page in pages) < 20.0
    scores = [score for page in pages for key, score in page.items() if key.startswith(Z)]
    assert sum(abs(score) <= 3.0 for score in scores) > 0.97 * len(scores)
    assert statistics.mean(page[AUTHOR_DISTANCE] for page in pages) == pytest.approx(0.9, abs=0.2)


def _pages(novel: str) -> list[str]:
    return list(author_windows(novel, language="en", characters=PAGE, most=24))


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


def test_coherence_is_added_and_enters_the_composites(story: str) -> None:
    details = judged(story[POINT : POINT + PAGE], story)
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


def test_without_sentences_coherence_changes_nothing(story: str) -> None:
    details = judged(story[POINT : POINT + PAGE], story)
    none = np.empty((0, 4))
    assert with_coherence(details, vectors=none, reference_vectors=none, window_vectors=[]) == details


@pytest.mark.slow
def test_shuffled_words_are_not_seen_without_embeddings(novel: str) -> None:
    """A limit: the measures count words and their neighbours' return, and none knows whether they make sense."""
    words = novel[900_000 : 900_000 + PAGE].split()
    shuffled = " ".join(Random(1).sample(words, len(words)))
    own, mixed = judged(novel[900_000 : 900_000 + PAGE], novel, point=900_000), judged(shuffled, novel, point=900_000)
    assert mixed[AUTHOR_DISTANCE] > own[AUTHOR_DISTANCE]
    assert mixed[COMPOSITE] < 20.0


def test_a_text_that_is_missing_in_part_is_told_and_counts(story: str) -> None:
    page = story[POINT : POINT + PAGE]
    whole, half, none = (
        judge_prose(page, prompt=story[:POINT], reference=page, document=story, language="en",
                    word_list=dale_chall(), shortfall=share)
        for share in (0.0, 0.5, 1.0)
    )  # fmt: skip
    assert [found["shortfall"] for found in (whole, half, none)] == [0.0, 0.5, 1.0]
    assert [round(found["z.shortfall"], 9) for found in (whole, half, none)] == [0.0, 5.0, 10.0]
    quality = 1.0 - whole["composite"] / 100.0
    assert half["composite"] == pytest.approx(100.0 * (1.0 - quality / 2))
    assert none["composite"] == 100.0


@pytest.mark.parametrize("text", ["", "...", "The end.", "Yes. " * 9])
def test_a_text_too_short_to_be_measured_is_the_worst_and_never_the_best(text: str, story: str) -> None:
    details = judge_prose(
        text, prompt=story[:POINT], reference=story[POINT:5000], document=story, language="en", word_list=dale_chall(),
        shortfall=0.0,
    )  # fmt: skip
    assert details[COMPOSITE] == 100.0


def test_where_the_author_has_no_windows_there_is_no_composite(story: str) -> None:
    page = story[POINT : POINT + PAGE]
    details = judge_prose(
        page, prompt="", reference=page, document=page[:500], language="en", word_list=dale_chall(), shortfall=0.0
    )
    assert COMPOSITE not in details
