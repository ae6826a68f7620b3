"""Every measure of a text: by hand, against other libraries, and by laws."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from scipy import stats

from contextcliff.writing.measures import readability as reading
from contextcliff.writing.measures import words as counted
from contextcliff.writing.measures.drift import language_drift
from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.measures.measured import coherence, measure_prose, reference_similarity
from contextcliff.writing.measures.readability import dale_chall
from contextcliff.writing.measures.words import COPIED_RUN, prose_of

ENGLISH = (
    "The rain had stopped before they reached the harbour, and the clerk was waiting for them at the gate. He had the "
    "ledger under his arm and would not say a word about the missing page until the door was shut behind them all. "
)
FRENCH = (
    "La pluie avait cessé avant leur arrivée au port, et le greffier les attendait devant la grille. Il tenait le "
    "registre sous le bras et ne voulait rien dire de la page perdue avant que la porte ne fût fermée derrière eux. "
)
JAPANESE = "雨は港に着く前に止んでいた。書記は門のところで彼らを待っていた。" * 10
SCENE = "he ran and he ran and he fell".split()
WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=60)
HALF = math.sqrt(0.5)


def fresh(count: int, *, start: int = 0) -> list[str]:
    return [f"w{number}" for number in range(start, start + count)]


FIGURES: Sequence[tuple[Callable[..., float | None], Sequence[tuple[tuple[object, ...], float | None]]]] = (
    (counted.vocabulary_diversity, [((["he", "ran", "and", "he"],), 0.75), (([],), None)]),
    # A hundred words are needed.
    (counted.unique_word_ratio, [((["so"] * 99,), None), ((["so"] * 100,), 0.01)]),
    # In bits.
    (counted.entropy, [(("aabb",), 1.0), (("abcdefgh",), 3.0), (("aab",), math.log2(3) - 2 / 3), (("",), None)]),
    (counted.mtld, [
        # 1, 1, 2/3 < 0.72: a factor is full at every third word, read either way.
        ((["a", "b"] * 30,), 60 / 20),
        # 49 different words, then one again: 0.02 / 0.28 of a factor is spent.
        (([*fresh(49), "w0"],), 50 / (0.02 / 0.28)),
        # Fifty words are needed, and one that repeats.
        ((["a", "b"] * 24,), None), ((fresh(80),), None),
    ]),
    (counted.repetition_rate, [
        # he-ran, ran-and and and-he come twice, he-fell once: 7, of which 4 different.
        ((SCENE, 2), 3 / 7),
        # he-ran-and, ran-and-he twice, and-he-ran, and-he-fell: 6, of which 4 different.
        ((SCENE, 3), 2 / 6),
        ((["so"] * 2, 2), None), ((["so"] * 3, 2), 0.5), ((["so"] * 3, 3), 0.0),
    ]),
    (counted.long_range_repetition, [
        # 160 words have 57 4-grams from word 100 on; the phrase of 5 words brings 2 of them back.
        (([*fresh(150), *fresh(5, start=20), *fresh(5, start=900)],), 2 / 57),
        # What comes back at once is not far.
        (([*fresh(150), *fresh(10, start=140)],), 0.0),
        # A loop of 40 words comes round 100 words later at its fourth turn, word 120 of the 197 4-grams.
        ((fresh(40) * 5,), 77 / 97), ((fresh(100) * 2,), 1.0), ((["so"] * 149,), None),
    ]),
    (counted.compression_ratio, [
        (("naïve " * 50,), 350 / len(zlib.compress(("naïve " * 50).encode(), 9))), (("",), None),
    ]),
    (counted.copied_share, [
        # Seven words of the prompt in a row are chance, and eight are copied.
        (([*fresh(7, start=10), "x"], counted.PromptIndex(fresh(50))), 0.0),
        (([*fresh(8, start=10), "x"], counted.PromptIndex(fresh(50))), 8 / 9),
        ((["b"] * 20, counted.PromptIndex([])), 0.0), (([], counted.PromptIndex(["a"])), None),
    ]),
    (counted.rouge_l, [((["a", "b", "c"], ["a", "x", "c", "y"]), 4 / 7), (([], ["a"]), None), ((["a"], []), None)]),
    (reading.cloze_score, [((0.0, 0.0), 64.0), ((0.1, 20.0), 64 - 9.5 - 13.8)]),
    (language_drift, [
        ((prose_of(ENGLISH * 3),), 0.0), ((prose_of(FRENCH * 3, language="fr"),), 0.0),
        ((prose_of(JAPANESE, language="ja"),), 0.0), ((prose_of(FRENCH * 2),), 1.0),
        ((prose_of(ENGLISH * 2, language="ja"),), 1.0),
        # A last stretch goes with the one before.
        ((prose_of(ENGLISH + "Non, merci."),), 0.0),
        # Under 200 characters, and in an unknown language, nothing is measured.
        ((prose_of(FRENCH[:150]),), None), ((prose_of(""),), None), ((prose_of(ENGLISH, language="tlh"),), None),
    ]),
    (reference_similarity, [
        ((np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 0.0]])), HALF),
        ((np.empty((0, 2)), np.ones((1, 2))), None), ((np.array([[1.0, 0.0], [-1.0, 0.0]]), np.ones((1, 2))), None),
    ]),
)  # fmt: skip


@pytest.mark.parametrize(("measure", "texts"), FIGURES, ids=lambda each: getattr(each, "__name__", ""))
def test_a_measure_by_hand(
    measure: Callable[..., float | None], texts: Sequence[tuple[tuple[object, ...], float | None]]
) -> None:
    for text, expected in texts:
        assert measure(*text) == (expected if expected is None else pytest.approx(expected))


COHERENCE = ("adjacent_coherence", "global_coherence", "local_coherence_3sent", "coherence_variance")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (counted.sentence_lengths(()), {}),
        (counted.sentence_lengths((5,)), {"avg_sentence_length": 5.0}),
        # Without a spread there is no shape.
        (counted.sentence_lengths((5,) * 5), {"avg_sentence_length": 5.0, "sentence_length_variance": 0.0}),
        (counted.sentence_lengths((2, 4, 9)), {
            "avg_sentence_length": 5.0, "sentence_length_variance": 13.0,
            "sentence_length_skewness": stats.skew((2, 4, 9), bias=False),
        }),
        (counted.punctuation(prose_of("Well, well, well; who is it? Go!")), {
            "comma_density": 1.0, "semicolon_density": 0.5, "question_density": 0.5, "exclamation_density": 0.5,
        }),
        (counted.punctuation(prose_of("はい、そう，です。本当？", language="ja")), {
            "comma_density": 1.0, "semicolon_density": 0.0, "question_density": 0.5, "exclamation_density": 0.0,
        }),
        (counted.punctuation(prose_of("...")), {}),
        # `Smith` and `magnificent` are not on the list; eight words in two sentences.
        (reading.readability(prose_of("Mr. Smith walked to a magnificent house. Stop!"), dale_chall()), {
            "pct_unfamiliar_words": 2 / 8, "cloze_score": 64 - 95 / 4 - 0.69 * 4,
            "avg_syllables_per_word": (2 + 1 + 1 + 1 + 1 + 4 + 1 + 1) / 8, "function_word_ratio": 2 / 8,
        }),
        (reading.readability(prose_of("Der Hund läuft.", language="de"), dale_chall()), {}),
        (reading.readability(prose_of("... !"), dale_chall()), {}),
        # Without apostrophes and hyphens.
        (reading.word_lengths(prose_of("Don't well-known wonder")),
         {"avg_word_length": 19 / 3, "long_word_ratio": 1 / 3}),
        # Right, up-right, up: neighbours at 45°, the ends at 90°; the centroid points up-right.
        (coherence(np.array([[2.0, 0.0], [3.0, 3.0], [0.0, 2.0]])),
         dict(zip(COHERENCE, (HALF, (1 + 2 * HALF) / 3, 2 * HALF / 3, 0.0), strict=True))),
        # Neighbours at 0° and 90°.
        (coherence(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])),
         dict(zip(COHERENCE, (0.5, math.sqrt(5) / 3, 1 / 3, 0.5), strict=True))),
        (coherence(np.empty((0, 4))), {}),
        (coherence(np.ones((1, 4))), {}),
        (coherence(np.ones((2, 4))), {"adjacent_coherence": 1.0, "global_coherence": 1.0}),
        # Opposite sentences have no centroid, and where one has no direction nothing is measured.
        (coherence(np.array([[1.0, 0.0], [-1.0, 0.0]])), {"adjacent_coherence": -1.0}),
        *((coherence(np.array([[1.0, 1.0], [bad, bad], [1.0, 0.0]])), {}) for bad in (0.0, np.nan, np.inf)),
    ],
)  # fmt: skip
def test_measures_that_come_together_by_hand(found: dict[str, float | None], expected: dict[str, float]) -> None:
    assert {name: value for name, value in found.items() if value is not None} == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "sentences", "words"),
    [
        ("Mr. Smith walked. He ran!", ("Mr. Smith walked.", "He ran!"), "mr smith walked he ran"),
        (
            "“Stop!” “I won’t.” The door shut.",
            ("“Stop!”", "“I won’t.”", "The door shut."),
            "stop i won't the door shut",
        ),
        ("“Stop!” she cried. He did.", ("“Stop!” she cried.", "He did."), "stop she cried he did"),
        ("CHAPTER I\n\nIt was late", ("CHAPTER I", "It was late"), "chapter i it was late"),
        ("He left.\n\n* * *\n\n1868.\n\nShe stayed.", ("He left.", "She stayed."), "he left she stayed"),
    ],
)
def test_sentences_and_their_words(text: str, sentences: tuple[str, ...], words: str) -> None:
    assert (prose_of(text).sentences, prose_of(text).words) == (sentences, tuple(words.split()))


def test_a_word_is_letters_with_apostrophes_and_hyphens_inside() -> None:
    expected = {
        "Don’t": ["don't"],
        "a well-known, far\u2010off place": ["a", "well-known", "far-off", "place"],
        "long--and so—on": ["long", "and", "so", "on"],
        "'go!' (go) _go_": ["go", "go", "go"],
        "1,868 miles at 3.5": ["1,868", "miles", "at", "3.5"],
        "cafe\u0301 naïve ÉTÉ": ["café", "naïve", "été"],
        "हिन्दी भाषा": ["हिन्दी", "भाषा"],
        "exam\u00adple": ["example"],
        "She smiled. \ud83d": ["she", "smiled"],
        "… — !": [],
    }
    assert {text: counted.words_of(text) for text in expected} == expected


@given(st.text(max_size=200))
@example("\u02bc")  # an apostrophe that is a letter to Unicode
def test_every_word_belongs_to_a_sentence_and_every_sentence_to_the_text(text: str) -> None:
    prose = prose_of(text)
    assert sum(prose.words_per_sentence) == len(prose.words)
    assert len(prose.words_per_sentence) == len(prose.sentences)
    assert all(sentence in prose.text for sentence in prose.sentences)
    assert all(count > 0 for count in prose.words_per_sentence)


@pytest.mark.parametrize(
    ("score", "level"),
    [
        (80, "1"), (57.1, "1"), (57, "2"), (54, "2"), (53, "3"), (50, "3"), (49, "4"), (45, "4"), (44, "5-6"),
        (40, "5-6"), (39, "7-8"), (34, "7-8"), (33, "9-10"), (28, "9-10"), (27, "11-12"), (22, "11-12"), (21, "13-15"),
        (16, "13-15"), (15, "16+"), (-20, "16+"),
    ],
)  # fmt: skip
def test_reading_levels_are_those_of_chall_and_dales_table(score: float, level: str) -> None:
    assert reading.reading_level(score) == level


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("a", 1), ("very", 2), ("walked", 1), ("wanted", 2), ("table", 2), ("beautiful", 3), ("mrs", 2),
        ("don't", 1), ("didn't", 2), ("won't", 1), ("going", 2), ("crying", 2), ("intriguing", 3), ("king", 1),
        ("mother-in-law", 4), ("hmm", 1), ("1868", 1), ("beth's", 1),
    ],
)  # fmt: skip
def test_syllables_are_counted(word: str, count: int) -> None:
    assert reading.syllables(word) == count


def test_every_form_of_a_listed_word_is_familiar_and_names_and_rare_words_are_not() -> None:
    listed = """
    walk walked walking boys happier happiest carries went children wolves mother's boys don't mustn't o'clock
    sadly gently happily 1868 1,000 old-fashioned tea-table mr
    """
    assert [word for word in listed.split() if not reading.is_familiar(word, dale_chall().words)] == []
    rare = "beth beth's magnificent palatial tea-urn ephemerally"
    assert [word for word in rare.split() if reading.is_familiar(word, dale_chall().words)] == []


def test_the_default_list_is_dale_and_challs_as_textstat_publishes_it_with_its_licence() -> None:
    published = files("textstat").joinpath("resources", "en", "easy_words.txt")
    assert dale_chall().words == reading.word_list_of(published.read_text(encoding="utf-8"), "textstat").words
    assert (dale_chall().name, len(dale_chall().words)) == ("dale-chall", 2941)
    licence = files("contextcliff.writing").joinpath("word_lists", "dale_chall_license.txt").read_text("utf-8")
    assert licence.startswith("MIT License")


@given(WORDS, st.integers(1, 20))
def test_the_window_slides_over_every_word(words: list[str], window: int) -> None:
    ratios = [len(set(words[start : start + window])) / window for start in range(len(words) - window + 1)]
    expected = pytest.approx(sum(ratios) / len(ratios)) if ratios else None
    assert counted.unique_word_ratio(words, window=window) == expected


COPIES = st.lists(st.sampled_from("ab"), max_size=40) | st.lists(st.sampled_from("abcdef"), max_size=40)


def runs(words: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


@given(COPIES, COPIES, st.integers(1, 20))
def test_the_index_finds_what_a_naive_search_finds(words: list[str], prompt: list[str], run: int) -> None:
    index = counted.PromptIndex(prompt)
    assert index.copied_runs(words, run) == [each in runs(prompt, run) for each in runs(words, run)]
    longest = max((n for n in range(1, len(words) + 1) if set(runs(words, n)) & set(runs(prompt, n))), default=0)
    assert index.longest(words) == longest
    starts = [start for start, each in enumerate(runs(words, COPIED_RUN)) if each in runs(prompt, COPIED_RUN)]
    copied = {place for start in starts for place in range(start, start + COPIED_RUN)}
    assert counted.copied_share(words, index) == (pytest.approx(len(copied) / len(words)) if words else None)


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=40), st.lists(st.sampled_from("abcde"), min_size=1))
def test_rouge_l_is_googles(words: list[str], reference: list[str]) -> None:
    expected = RougeScorer(["rougeL"]).score(" ".join(reference), " ".join(words))["rougeL"].fmeasure
    assert counted.rouge_l(words, reference) == pytest.approx(expected)


def test_drift_is_a_share_of_characters_and_no_page_of_a_novel_drifts(story: str, novel: str) -> None:
    assert language_drift(prose_of(ENGLISH + FRENCH + FRENCH)) == pytest.approx(2 / 3, abs=0.02)
    assert language_drift(prose_of(story)) == 0.0
    assert language_drift(prose_of(novel[:200_000])) == 0.0


WITHOUT_EMBEDDINGS = {name for name, measure in BY_NAME.items() if not measure.embeds} - {"shortfall"}


def measured(text: str, language: str = "en", **compared: str) -> dict[str, float]:
    return measure_prose(text, language=language, word_list=dale_chall(), **compared)


@pytest.mark.parametrize(
    ("text", "size"),
    [("... !!! ...", (11, 0, 0)), ("!" * 300, (300, 0, 0)), ("Mr. Smith walked. He ran!", (25, 5, 2)), (" \n\n", (0,))],
)
def test_under_twenty_words_a_text_has_its_size_and_no_other_measure(text: str, size: tuple[int, ...]) -> None:
    names = ("continuation_length", "word_count", "sentence_count")
    assert measured(text, prompt="a b", reference="c") == dict(zip(names, map(float, size), strict=False))


def test_japanese_has_no_measure_of_words_and_german_none_of_english() -> None:
    text = "今日は晴れ、明日は雨。彼は「行こう！」と言った。" * 20
    assert set(measured(text, "ja", prompt=text, reference=text)) == {
        *("char_entropy", "compression_ratio", "comma_density", "semicolon_density", "question_density"),
        *("exclamation_density", "language_drift", "continuation_length", "sentence_count"),
    }
    german = measured("Der Regen hatte aufgehört, ehe sie den Hafen erreichten. Er schwieg.", "de")
    assert {"cloze_score", "pct_unfamiliar_words", "avg_syllables_per_word", "function_word_ratio"}.isdisjoint(german)
    assert german["word_count"] == 11.0


@given(st.text(max_size=300), st.text(max_size=100), st.sampled_from(["en", "de", "ja", "ar", "xx"]))
def test_every_measure_of_any_text_is_finite(text: str, other: str, language: str) -> None:
    found = measured(text, language, prompt=other, reference=other)
    assert set(found) <= WITHOUT_EMBEDDINGS
    assert all(math.isfinite(value) for value in found.values())
