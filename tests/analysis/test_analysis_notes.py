"""What the reader is told beside the numbers."""

from dataclasses import replace
from typing import Any

from contextcliff.records.generation import ScoredSample
from tests.analysis.analysis_samples import analysed, curve, right_of, scored_sample

ONE_TEXT = "all samples are cut from one text, “moby-dick”: the claim is about that text"
BLUEPRINT = (
    "scores are 0 or 1, so their spread follows from their mean: the variance part of the blueprint's rule "
    "restates the mean"
)


def notes(samples: list[ScoredSample], **kwargs: Any) -> tuple[str, ...]:
    return analysed(samples, **kwargs).notes


def test_one_text_and_zeros_and_ones() -> None:
    assert notes(right_of(500, 20, 20)) == (ONE_TEXT, BLUEPRINT)


def test_fractional_scores_need_no_word_on_the_blueprint() -> None:
    assert notes([scored_sample(500, 0.5) for _ in range(5)]) == (ONE_TEXT,)


def test_a_text_each_needs_no_word_on_texts() -> None:
    assert notes([scored_sample(500, 0.5, document=f"d{i}") for i in range(5)]) == ()


def test_texts_that_recur_within_a_length_are_clusters() -> None:
    samples = [scored_sample(500, 0.5, document=f"d{i % 2}") for i in range(6)]
    assert notes(samples) == (
        "the samples are cut from 2 texts, and those of one text are treated as independent: where texts "
        "differ in difficulty, the intervals are too narrow",
    )


def test_unscored_samples_are_counted_by_kind() -> None:
    samples = [
        *right_of(500, 20, 20),
        scored_sample(500, None, failure="oom"),
        *right_of(1_000, 0, 20, unscored=3),
    ]
    assert notes(samples)[0] == "4 of 44 samples are unscored (timeout 3, oom 1)"
    more = [*right_of(500, 38, 38), *samples]
    assert notes(more)[0].endswith("(timeout 3, oom 1); the cap holds even if all of them were wrong")


def test_a_recovery_beyond_a_fall() -> None:
    assert notes(curve({500: (40, 40), 1_000: (10, 40), 2_000: (40, 40)}))[0] == (
        "the observed curve is not monotone: at 2,000 tokens the score (1.00) clears the threshold, though "
        "at 1,000 (0.25) it does not; the cap stays below the first length that does not"
    )


def test_a_recovery_beyond_a_stop_for_lack_of_data_can_be_chance() -> None:
    found = notes(curve({500: (40, 40), 1_000: (34, 40), 2_000: (40, 40)}))[0]
    assert "it does not, which with so few samples can be chance; the cap" in found


def test_samples_that_share_a_draw_are_one_piece_of_evidence() -> None:
    samples = [scored_sample(500, 0.5, document=f"d{i}") for i in range(6)]
    shared = [replace(s, sample=replace(s.sample, item=f"k{i % 4}")) for i, s in enumerate(samples)]
    (note,) = notes(shared)
    assert note.startswith("2 of 6 samples have the prompt and the draw of another one")
    assert note.endswith("they are one piece of evidence together")


def test_a_server_that_counts_otherwise() -> None:
    samples = [scored_sample(1_000, 0.5, measured=m, document=f"d{m}") for m in (1_000, 1_020, 1_030, 950)]
    assert notes(samples) == (
        "for 2 of 4 prompts the server's token count differs by more than 2% from the built length (by up to "
        "5.0%); lengths here are the server's",
    )
