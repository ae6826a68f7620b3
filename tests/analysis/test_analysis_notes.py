"""What the reader is told beside the numbers."""

from dataclasses import replace
from typing import Any

import pytest

from contextcliff.records.generation import ScoredSample
from tests.make import analysed, curve, known, right_of, scored_sample

ONE_TEXT = "all samples are cut from one text, “moby-dick”: the claim is about that text"


def notes(samples: list[ScoredSample]) -> list[str]:
    return [str(note) for note in analysed(samples, finders=()).notes]


def test_one_text_and_zeros_and_ones() -> None:
    assert notes(right_of(500, 20, 20)) == [
        ONE_TEXT,
        "scores are 0 or 1, so their spread follows from their mean and says nothing more",
    ]


def test_unscored_samples_are_counted_by_kind() -> None:
    samples = [*right_of(500, 20, 20), scored_sample(500, None, failure="oom"), *right_of(1_000, 0, 20, unscored=3)]
    assert notes(samples)[0] == "4 of 44 samples are unscored (timeout 3, oom 1)"
    more = [*right_of(500, 38, 38), *samples]
    assert notes(more)[0] == (
        "4 of 82 samples are unscored (timeout 3, oom 1); the cap holds even if all of them were wrong"
    )
    silent = [*right_of(500, 38, 38), scored_sample(1_000, None, failure="no_tokens")]
    assert notes(silent)[0] == (
        "1 of 39 samples is unscored (no_tokens 1); the cap holds even if it was wrong; the engine generated nothing: "
        "see the server's log and its window"
    )


def test_a_length_from_which_on_every_answer_is_empty_may_be_the_end_of_the_window() -> None:
    def silent(tokens: int, **more: Any) -> ScoredSample:
        sample = scored_sample(tokens, 0.0, **more)
        return replace(sample, generation=replace(known(sample.generation), text=""))

    spoken = right_of(500, 20, 20)
    beyond = [
        silent(1_000),
        scored_sample(2_000, None, failure="no_tokens"),
        scored_sample(2_000, None, failure="not_sent"),
    ]
    is_empty = "every answer from 1,000 tokens on is empty: is that the end of the server's window?"
    assert is_empty in notes([*spoken, *beyond])
    told = [notes(samples) for samples in (beyond, [*spoken, *beyond, *right_of(4_000, 0, 1)], spoken)]
    assert not any("is empty" in note for each in told for note in each)


def test_a_recovery_is_told_beyond_a_fall_that_is_shown_and_not_beyond_a_lack_of_data() -> None:
    assert notes(curve({500: (40, 40), 1_000: (10, 40), 2_000: (40, 40)}))[0] == (
        "the observed curve is not monotone: at 2,000 tokens the score (1.00) clears the threshold, though at 1,000 "
        "(0.25) it does not; the cap stays below the first length that does not"
    )
    assert not any("monotone" in note for note in notes(curve({500: (40, 40), 1_000: (34, 40), 2_000: (40, 40)})))


def test_samples_that_share_a_draw_are_one_piece_of_evidence() -> None:
    samples = [scored_sample(500, 0.5, document=f"d{i}") for i in range(6)]
    shared = [replace(s, sample=replace(s.sample, item=f"k{i % 4}")) for i, s in enumerate(samples)]
    assert notes(shared) == [
        "2 of 6 samples have the prompt and the draw of another one (temperature 0, or sampling.seed is set): they are "
        "one piece of evidence together"
    ]


def test_a_server_that_counts_otherwise() -> None:
    samples = [scored_sample(1_000, 0.5, measured=m, document=f"d{m}") for m in (1_000, 1_020, 1_030, 950)]
    assert notes(samples) == [
        "for 2 of 4 prompts the server's token count differs by more than 2% from the built length (by up to 5.0%); "
        "lengths here are the server's"
    ]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("<ponder>I see 7.</ponder>42", "<ponder>"),
        ("\n<|start_of_thinking|>I see 7.", "<|start_of_thinking|>"),
        ("[Chain-of-thought] I see 7.", "[Chain-of-thought]"),
        ("<inner_monologue>", "<inner_monologue>"),
        ("thought\nI see 7.", "thought"),
        ("42 <ponder>later</ponder>", None),
        ("I think <42>", None),
        ("<b>42</b>", None),
        ("thought it was 42", None),
    ],
)
def test_answers_that_begin_like_reasoning_are_counted(text: str, mark: str | None) -> None:
    samples = [scored_sample(500, 0.5, document=f"d{number}") for number in range(3)]
    odd = replace(samples[0], generation=replace(known(samples[0].generation), text=text))
    said = [note.partition(",")[0] for note in notes([odd, *samples[1:]])]
    assert said == ([f"1 of 3 answers began with “{mark}” or its like"] if mark else [])
