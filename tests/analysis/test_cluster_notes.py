"""What the reader is told of samples that share texts."""

from dataclasses import replace

import pytest

from contextcliff.records.cautions import (
    FewSharedTexts,
    OneText,
    OneTextALength,
    RecurringTexts,
    SharedDraws,
    SharedTexts,
    ZeroOrOneScores,
)
from contextcliff.records.fact import Fact
from contextcliff.records.generation import ScoredSample
from tests.analysis.analysis_samples import analysed, right_of, scored_sample
from tests.analysis.clustered_samples import of, texts


def notes(samples: list[ScoredSample]) -> list[Fact]:
    return [note for note in analysed(samples, finders=()).notes if not isinstance(note, ZeroOrOneScores)]


def test_shared_texts_are_allowed_for_and_no_longer_called_independent() -> None:
    (note,) = notes([*texts(500, *[(5, 5)] * 10), *texts(1_000, *[(5, 5), (1, 5)] * 4)])
    assert isinstance(note, SharedTexts)
    assert (note.shared_by, note.texts) == ("texts", (8, 10))
    assert note.design_effect == pytest.approx((1.6, 3.8), abs=0.05)


def test_few_texts_make_intervals_wide_and_rough() -> None:
    shared, few = notes([*texts(500, *[(5, 5)] * 7), *texts(1_000, *[(5, 5)] * 8)])
    assert isinstance(shared, SharedTexts)
    assert shared.texts == (7, 8)
    assert few == FewSharedTexts(shared_by="texts", fewest=8, n_lengths=1, of_lengths=2)


def test_contexts_cut_from_one_text_are_still_a_claim_about_that_text() -> None:
    samples = [replace(s, sample=replace(s.sample, document_id="moby-dick")) for s in texts(500, *[(5, 5)] * 8)]
    first, second = notes(samples)
    assert first == OneText(document_id="moby-dick")
    assert isinstance(second, SharedTexts)
    assert (second.shared_by, second.texts) == ("contexts", (8, 8))


def test_texts_that_recur_beyond_the_shared_contexts_are_still_called_independent() -> None:
    """Eight contexts of two texts."""
    samples = [
        replace(s, sample=replace(s.sample, document_id=f"d{int(s.sample.cluster[5:]) % 2}"))
        for s in texts(500, *[(5, 5)] * 8)
    ]
    assert notes(samples)[0] == RecurringTexts(texts=2)


def test_a_length_whose_samples_all_share_one_context_is_a_claim_about_that_context() -> None:
    samples = [
        *of("a", right_of(500, 20, 20)),
        *of("b", right_of(1_000, 20, 20)),
        *[scored_sample(2_000, 1.0, document=f"d{i}") for i in range(20)],
    ]
    assert notes(samples)[-1] == OneTextALength(n_lengths=2, of_lengths=3, shared_by="texts")


def test_shared_draws_are_noted_beside_shared_texts() -> None:
    samples = [replace(s, sample=replace(s.sample, item="same")) for s in texts(500, *[(5, 5)] * 8)]
    assert SharedDraws(n=39, total=40) in notes(samples)
