"""What the reader is told of samples that share texts."""

from dataclasses import replace

from contextcliff.records.generation import ScoredSample
from tests.analysis.analysis_samples import analysed, right_of, scored_sample
from tests.analysis.clustered_samples import of, texts


def notes(samples: list[ScoredSample]) -> list[str]:
    said = map(str, analysed(samples, finders=()).notes)
    return [note for note in said if not note.startswith("scores are 0 or 1")]


def test_shared_texts_are_allowed_for_and_no_longer_called_independent() -> None:
    (note,) = notes([*texts(500, *[(5, 5)] * 10), *texts(1_000, *[(5, 5), (1, 5)] * 4)])
    assert note == (
        "samples of one length share texts (8–10 a length): the intervals and the cap allow for it, with a design "
        "effect of 1.6–3.8"
    )


def test_few_texts_make_intervals_wide_and_rough() -> None:
    shared, few = notes([*texts(500, *[(5, 5)] * 7), *texts(1_000, *[(5, 5)] * 8)])
    assert shared.startswith("samples of one length share texts (7–8 a length)")
    assert few == (
        "with fewer than 8 texts at 1 of 2 lengths, how much texts differ is hardly known, and the intervals there are "
        "wide and rough: more texts help more than more samples of each"
    )


def test_contexts_cut_from_one_text_are_still_a_claim_about_that_text() -> None:
    samples = [replace(s, sample=replace(s.sample, document_id="moby-dick")) for s in texts(500, *[(5, 5)] * 8)]
    first, second = notes(samples)
    assert "all samples are cut from one text, “moby-dick”" in first
    assert second.startswith("samples of one length share contexts (8 a length)")


def test_texts_that_recur_beyond_the_shared_contexts_are_still_called_independent() -> None:
    """Eight contexts of two texts."""
    samples = [
        replace(s, sample=replace(s.sample, document_id=f"d{int(s.sample.cluster[5:]) % 2}"))
        for s in texts(500, *[(5, 5)] * 8)
    ]
    assert notes(samples)[0].startswith("the samples are cut from 2 texts, and those of one text are treated as indep")


def test_a_length_whose_samples_all_share_one_context_is_a_claim_about_that_context() -> None:
    samples = [
        *of("a", right_of(500, 20, 20)),
        *of("b", right_of(1_000, 20, 20)),
        *[scored_sample(2_000, 1.0, document=f"d{i}") for i in range(20)],
    ]
    assert notes(samples)[-1] == "at 2 of 3 lengths all samples share one text: the claim there is about that text"


def test_shared_draws_are_noted_beside_shared_texts() -> None:
    samples = [replace(s, sample=replace(s.sample, item="same")) for s in texts(500, *[(5, 5)] * 8)]
    assert any(note.startswith("39 of 40 samples have the prompt and the draw") for note in notes(samples))
