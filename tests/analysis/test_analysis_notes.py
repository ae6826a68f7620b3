"""What the reader is told beside the numbers: which facts, with which figures."""

from dataclasses import replace
from typing import Any

import pytest

from contextcliff.records.cautions import (
    EmptyFrom,
    NotMonotone,
    OneText,
    RecurringTexts,
    RepeatedQuestions,
    ServerCountsDiffer,
    SharedDraws,
    UnknownMarks,
    UnscoredSamples,
    ZeroOrOneScores,
)
from contextcliff.records.fact import Fact
from contextcliff.records.generation import ScoredSample
from tests.analysis.analysis_samples import analysed, curve, right_of, scored_sample
from tests.analysis.repeated_samples import repeated

ONE_TEXT = OneText(document_id="moby-dick")


def notes(samples: list[ScoredSample], **kwargs: Any) -> tuple[Fact, ...]:
    return analysed(samples, finders=(), **kwargs).notes


def test_one_text_and_zeros_and_ones() -> None:
    assert notes(right_of(500, 20, 20)) == (ONE_TEXT, ZeroOrOneScores())


def test_fractional_scores_need_no_word_on_the_blueprint() -> None:
    assert notes([scored_sample(500, 0.5) for _ in range(5)]) == (ONE_TEXT,)


def test_a_text_each_needs_no_word_on_texts() -> None:
    assert notes([scored_sample(500, 0.5, document=f"d{i}") for i in range(5)]) == ()


def test_texts_that_recur_within_a_length_are_clusters() -> None:
    samples = [scored_sample(500, 0.5, document=f"d{i % 2}") for i in range(6)]
    assert notes(samples) == (RecurringTexts(texts=2),)


def test_unscored_samples_are_counted_by_kind() -> None:
    samples = [
        *right_of(500, 20, 20),
        scored_sample(500, None, failure="oom"),
        *right_of(1_000, 0, 20, unscored=3),
    ]
    tags = (("timeout", 3), ("oom", 1))
    assert notes(samples)[0] == UnscoredSamples(n=4, total=44, tags=tags, cap_holds=False)
    more = [*right_of(500, 38, 38), *samples]
    assert notes(more)[0] == UnscoredSamples(n=4, total=82, tags=tags, cap_holds=True)


def test_a_length_from_which_on_every_answer_is_empty_may_be_the_end_of_the_window() -> None:
    def silent(tokens: int, **more: Any) -> ScoredSample:
        sample = scored_sample(tokens, 0.0, **more)
        assert sample.generation is not None
        return replace(sample, generation=replace(sample.generation, text=""))

    spoken = right_of(500, 20, 20)
    beyond = [
        silent(1_000),
        scored_sample(2_000, None, failure="no_tokens"),
        scored_sample(2_000, None, failure="not_sent"),
    ]
    assert EmptyFrom(tokens=1_000) in notes([*spoken, *beyond])
    told = [notes(samples) for samples in (beyond, [*spoken, *beyond, *right_of(4_000, 0, 1)], spoken)]
    assert not any(isinstance(note, EmptyFrom) for each in told for note in each)


def test_a_recovery_beyond_a_fall() -> None:
    assert notes(curve({500: (40, 40), 1_000: (10, 40), 2_000: (40, 40)}))[0] == NotMonotone(
        stop_tokens=1_000, stop_mean=0.25, higher_tokens=2_000, higher_mean=1.0, may_be_chance=False
    )


def test_a_recovery_beyond_a_stop_for_lack_of_data_can_be_chance() -> None:
    note = notes(curve({500: (40, 40), 1_000: (34, 40), 2_000: (40, 40)}))[0]
    assert isinstance(note, NotMonotone)
    assert note.may_be_chance


def test_samples_that_share_a_draw_are_one_piece_of_evidence() -> None:
    samples = [scored_sample(500, 0.5, document=f"d{i}") for i in range(6)]
    shared = [replace(s, sample=replace(s.sample, item=f"k{i % 4}")) for i, s in enumerate(samples)]
    assert notes(shared) == (SharedDraws(n=2, total=6),)


def test_repeated_questions_are_said_once() -> None:
    assert RepeatedQuestions(times=3) in notes(repeated(500, [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]] * 10))


def test_a_server_that_counts_otherwise() -> None:
    samples = [scored_sample(1_000, 0.5, measured=m, document=f"d{m}") for m in (1_000, 1_020, 1_030, 950)]
    assert notes(samples) == (ServerCountsDiffer(n=2, total=4, largest=0.05, tolerance=0.02),)


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
    assert samples[0].generation is not None
    odd = replace(samples[0], generation=replace(samples[0].generation, text=text))
    assert notes([odd, *samples[1:]]) == ((UnknownMarks(mark=mark, n=1, total=3),) if mark else ())
