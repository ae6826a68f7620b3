"""What the reader is told of samples that share texts."""

from dataclasses import replace

from contextcliff.records.generation import ScoredSample
from tests.make import analysed, of, right_of, scored_sample, texts


def notes(samples: list[ScoredSample]) -> list[str]:
    said = map(str, analysed(samples, finders=()).notes)
    return [note for note in said if not note.startswith("scores are 0 or 1")]


def test_shared_texts_are_allowed_for_and_no_longer_called_independent() -> None:
    shared, few = notes([*texts(500, *[(5, 5)] * 20), *texts(1_000, *[(5, 5), (1, 5)] * 4)])
    assert shared == (
        "samples of one length share texts (8–20 a length): the intervals and the cap allow for it, with a design "
        "effect of 1.6–3.8"
    )
    assert few.startswith("with fewer than 20 texts at 1 of 2 lengths, how much texts differ is hardly known")


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
