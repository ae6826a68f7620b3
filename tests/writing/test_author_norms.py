"""The author's norms: windows of the author's own text."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.text.sentences import sentence_starts
from contextcliff.writing.author_norms import (
    Norm,
    Norms,
    author_z,
    norms_for,
    norms_of,
    windows,
    z_scores,
)
from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.measures.readability import dale_chall

SENTENCE = "The clerk read it. "


def test_windows_are_disjoint_and_spread_over_the_whole_text(story: str) -> None:
    found = windows(story, characters=2000, starts=sentence_starts(story), most=20)
    assert not found.overlapping
    assert len(found.spans) == 20
    assert all(end <= start for (_, end), (start, _) in zip(found.spans, found.spans[1:], strict=False))
    assert found.spans[0][0] == 0
    assert found.spans[-1][1] > 0.97 * len(story)


@given(st.integers(1, 400), st.integers(20, 3000), st.integers(1, 70))
def test_windows_begin_and_end_with_sentences_and_are_about_as_long_as_asked(
    sentences: int, characters: int, most: int
) -> None:
    text = SENTENCE * sentences
    starts = [len(SENTENCE) * number for number in range(sentences)]
    found = windows(text, characters=characters, starts=starts, most=most)
    assert len(found.spans) <= most
    assert len(set(found.spans)) == len(found.spans)
    for start, end in found.spans:
        assert start in starts
        assert end in starts or end == len(text)
        assert abs(end - start - characters) <= characters / 4
    if not found.overlapping:
        assert all(end <= start for (_, end), (start, _) in zip(found.spans, found.spans[1:], strict=False))


def test_few_windows_overlap_by_half_and_say_so() -> None:
    text = SENTENCE * 100
    found = windows(text, characters=380, starts=range(0, len(text), len(SENTENCE)))
    assert found.overlapping
    assert found.spans == tuple((start, start + 380) for start in range(0, 1521, 190))


def test_a_text_that_is_too_short_has_no_windows() -> None:
    assert windows("He ran.", characters=100, starts=[0]).spans == ()
    assert norms_for("He ran.", "en", dale_chall(), 100) == Norms(of={})


def test_norms_are_means_and_deviations_on_both_scales() -> None:
    found = [{"mtld": value, "cloze_score": 2 * value} for value in (60.0, 70.0, 80.0, 90.0)]
    norms = norms_of(found)
    logs = [math.log1p(value) for value in (60.0, 70.0, 80.0, 90.0)]
    mtld = norms.of["mtld"]
    assert (mtld.mean, mtld.std) == pytest.approx((75.0, statistics.stdev((60, 70, 80, 90))))
    assert (mtld.scaled_mean, mtld.scaled_std) == pytest.approx((statistics.mean(logs), statistics.stdev(logs)))
    assert norms.of["cloze_score"].scaled_mean == norms.of["cloze_score"].mean == 150.0


def test_a_measure_of_three_windows_has_no_norm() -> None:
    assert norms_of([{"mtld": 1.0}] * 3 + [{}] * 5).of == {}


def test_z_scores_are_on_the_measures_scale_and_by_its_floor_at_least() -> None:
    norm = Norm(mean=1.0, std=0.0, scaled_mean=1.0, scaled_std=0.0)
    wide = Norm(mean=70.0, std=10.0, scaled_mean=math.log1p(70.0), scaled_std=0.5)
    norms = Norms(of={"copied_share": norm, "mtld": wide})
    found = z_scores({"copied_share": 1.1, "mtld": math.expm1(1.0) * 71.0 + 70.0, "cloze_score": 30.0}, norms)
    assert found == {"copied_share": pytest.approx(0.1 / BY_NAME["copied_share"].floor), "mtld": pytest.approx(2.0)}


@pytest.mark.slow
def test_norms_are_interpolated_between_lengths(story: str) -> None:
    def diversity(characters: int) -> float:
        return norms_for(story, "en", dale_chall(), characters).of["vocabulary_diversity"].mean

    # 2048 is on the grid, 2896 the next length of it; halfway in the logarithm lies 2435.
    assert diversity(2435) == pytest.approx((diversity(2048) + diversity(2896)) / 2, abs=1e-4)
    assert diversity(2048) > diversity(2435) > diversity(4096)


def test_the_first_window_has_nothing_to_copy_from_and_likeness_has_no_norm(story: str) -> None:
    found = norms_for(story, "en", dale_chall(), 4096)
    assert {"copied_share", "longest_copy_words"} <= set(found.of)
    assert "reference_rouge_l" not in found.of
    taken = {name for name, measure in BY_NAME.items() if not measure.embeds}
    assert set(found.of) == taken - {"reference_rouge_l", "shortfall"}


def test_a_text_under_the_shortest_length_is_held_against_it(story: str) -> None:
    assert norms_for(story, "en", dale_chall(), 5) == norms_for(story, "en", dale_chall(), 200)


def test_the_authors_own_scores_lie_round_zero(story: str) -> None:
    scores = author_z(story, "en", dale_chall(), 2000)
    for name in ("cloze_score", "word_entropy", "compression_ratio"):
        assert statistics.mean(scores[name]) == pytest.approx(0.0, abs=1e-9)
        assert 0.5 < statistics.stdev(scores[name]) < 1.0 + 1e-9  # less than 1: the floor of its deviation
    # The first window has no text before it to be copied from.
    assert len(scores["copied_share"]) == len(scores["cloze_score"]) - 1


def test_windows_that_overlap_are_not_tested_against(story: str) -> None:
    starts = sentence_starts(story)
    assert windows(story, characters=16_384, starts=starts).overlapping
    assert author_z(story, "en", dale_chall(), 16_384) == {}
    assert author_z("He ran.", "en", dale_chall(), 500) == {}


def test_a_japanese_author_has_norms_too() -> None:
    text = "".join(f"{number}日目の朝、彼は港へ行った。雨は降らなかった。" for number in range(400))
    found = norms_for(text, "ja", dale_chall(), 500)
    assert {"compression_ratio", "language_drift", "comma_density"} <= set(found.of)


@given(characters=st.integers(300, 6_000), factor=st.floats(1.5, 4.0), start=st.integers(0, 50_000))
@settings(max_examples=40, deadline=None)
def test_a_text_half_as_long_again_as_a_window_has_four_of_them(
    story: str, characters: int, factor: float, start: int
) -> None:
    text = story[start : start + round(characters * factor)]
    if len(text) < 1.5 * characters:
        return
    found = windows(text, characters=characters, starts=sentence_starts(text)).spans
    # A window goes from sentence to sentence: of very short ones some find no end near theirs.
    assert len(found) >= (4 if characters >= 1_500 else 1)
