"""What each of the harder tasks asks for, and what its answers are worth."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.records.sample import Words
from contextcliff.tasks.needles.aggregation import score_count
from contextcliff.tasks.needles.niah_semantic import needle_set
from contextcliff.tasks.needles.planting import word_file
from contextcliff.tasks.repeat import score_copy
from contextcliff.tasks.task import ScoringContext
from tests.tasks.made_tasks import shipped
from tests.tasks.needles import built, prompt, said


def test_ten_needles_from_depth_0_40_stand_at_0_40_0_46_and_so_on_to_0_94() -> None:
    (sample,) = built(shipped("niah_multi", lengths=[2_900], depths=[0.4], trials=1, count=10)).samples
    text = prompt(sample).user
    haystack = text.index("\n\n") + 2, text.rindex("\n\n")
    places = [(text.index(number) - haystack[0]) / (haystack[1] - haystack[0]) for number in sample.answers]
    assert places == pytest.approx([0.40 + 0.06 * i for i in range(10)], abs=0.02)


def test_several_needles_score_the_share_found_and_say_which() -> None:
    task = shipped("niah_multi", lengths=[600], trials=1, count=4)
    sample = built(task).samples[0]
    score = task.score(
        sample, said(f"They are {sample.answers[2]} and {sample.answers[0]}, and 1234567."), ScoringContext()
    )
    assert (score.value, score.failure) == (0.5, "partial")
    assert score.prediction == f"{sample.answers[0]}; {sample.answers[2]}"


def test_a_packed_row_asks_for_every_needle_of_one_and_the_same_context() -> None:
    task = shipped("niah_multikey", lengths=[900], trials=2, distractors=3)
    samples = built(task).samples
    for trial in (0, 1):
        row = [sample for sample in samples if sample.trial == trial]
        contexts = {prompt(sample).user.rsplit("\n\n", 1)[0] for sample in row}
        assert len(contexts) == len({sample.cluster for sample in row}) == 1
        assert len({sample.question for sample in row}) == len(row) == 5
        assert all(
            f"magic {sample.question.split()[5]} number is: {sample.answers[0]}" in min(contexts) for sample in row
        )
        assert all(len(sample.reference.distractors) == 7 for sample in row)
    assert len({sample.cluster for sample in samples}) == 2


def test_distractors_of_a_semantic_needle_are_of_its_topic_and_about_others() -> None:
    task = shipped("niah_semantic", lengths=[900], trials=2, distractors=3)
    for sample in built(task).samples:
        topic = [item for item in needle_set() if item.topic == sample.metadata["topic"]]
        hidden = " ".join(piece.text for piece in sample.recipe.user[1:-1] if isinstance(piece, Words))
        frames = [item.needle.split("{name}") for item in topic]
        assert sum(all(part.strip() in hidden for part in frame) for frame in frames) == 4
        assert sample.answers[0] not in sample.reference.distractors
        assert {*sample.answers, *sample.reference.distractors} <= set(word_file("names.json"))


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(1, 8), st.integers(1, 3), st.sampled_from(["forward", "backward", "shuffled"]))
def test_following_a_chain_from_the_question_leads_to_the_answer(hops: int, chains: int, order: str) -> None:
    task = shipped(
        "tracing", lengths=[1_500], depths=[0.3], trials=1, hops=hops, chains=chains, order=order, distances=[0.1]
    )
    (sample,) = built(task).samples
    text = prompt(sample).user
    name, steps = sample.question.removesuffix("?").split()[-1], 0
    while True:
        told = text.split(f"The value of {name} is ")[1].split(".")[0]
        if told.isdigit():
            break
        name, steps = told.split()[-1], steps + 1
    assert (told, steps) == (sample.answers[0], hops)
    assert len(sample.reference.distractors) == chains - 1
    distance = sample.metadata["evidence_distance_tokens"]
    assert isinstance(distance, int)
    assert 90 <= distance <= 210  # a tenth of the text, at sentence starts


def test_the_trials_of_a_cell_take_the_distances_in_turn() -> None:
    samples = built(shipped("tracing", lengths=[2_500], depths=[0.0], trials=4, distances=[0.02, 0.3])).samples
    near, far, *rest = [sample.metadata["evidence_distance_tokens"] for sample in samples]
    assert isinstance(near, int)
    assert isinstance(far, int)
    assert far > 8 * near
    assert [float(distance) > 300 for distance in rest] == [False, True]


@pytest.mark.parametrize("mode", ["count", "most_frequent"])
def test_what_is_counted_is_what_stands_in_the_text(mode: str) -> None:
    for sample in built(shipped("aggregation", lengths=[900], trials=20, mode=mode)).samples:
        announced = [part.split(".")[0] for part in prompt(sample).user.split("The watchword of this hour is ")[1:]]
        counts = {word: announced.count(word) for word in announced}
        if mode == "count":
            asked = next(word for word in counts if word in sample.question)
            assert sample.answers == (str(counts[asked]),)
        else:
            ranked = sorted(counts.values())
            assert counts[sample.answers[0]] == ranked[-1] >= ranked[-2] + 2


def test_a_count_is_right_in_digits_or_letters() -> None:
    expected = {
        "4": (1.0, None),
        "Four times.": (1.0, None),
        "At hours 1 and 2 and later: 4": (1.0, None),
        "4.0": (1.0, None),
        "٤": (1.0, None),
        "４回": (1.0, None),
        "4.5": (0.0, "missing"),
        "14": (0.0, "miscount"),
        "5": (0.0, "miscount"),
        "often": (0.0, "missing"),
        "I don't know": (0.0, "refusal"),
        "": (0.0, "empty"),
    }
    found = {answer: score_count(said(answer), expected="4") for answer in expected}
    assert {key: (score.value, score.failure) for key, score in found.items()} == expected


LIST = "1. plum\n2. plums\n3. plum\n4. plum\nOdd line: 2"


@pytest.mark.parametrize(
    ("answer", "cut_off", "value", "tag"),
    [
        (LIST, False, 1.0, None),
        (LIST.replace("Odd line: 2", "**Odd Line:** 2."), False, 1.0, None),
        (LIST.replace("1", "１").replace("2", "٢"), False, 1.0, None),
        (LIST.replace("4. plum\n", ""), False, 0.75, "miscopied"),
        (LIST.replace(": 2", ": 3"), False, 0.0, "wrong_place"),
        (LIST.replace("plums", "plum"), False, 0.0, "odd_lost"),
        ("1. plum\n2. plums", True, 0.0, "incomplete"),
        ("1. plum\n2. plums", False, 0.0, "no_place"),
        ("Odd line: 2", False, 0.0, "odd_lost"),
    ],
)
def test_a_copy_is_worth_its_lines_where_the_odd_one_is_named(
    answer: str, cut_off: bool, value: float, tag: str | None
) -> None:
    score = score_copy(said(answer, "length" if cut_off else "stop"), expected=LIST)
    assert (score.value, score.failure) == (value, tag)
