"""The finding in one sentence, and what the rounds can't show."""

import dataclasses
import random

import pytest

from contextcliff.records.generation import ScoredSample
from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.measures.readability import dale_chall
from contextcliff.writing.passage import judge_prose
from contextcliff.writing.phrases import in_sentence
from contextcliff.writing.prose_findings import Writing
from tests.writing.written_rounds import rounds_of, writing, written

MEASURED = ("vocabulary_diversity", "mtld", "cloze_score")


def warnings_of(found: Writing) -> tuple[str, ...]:
    """What the rounds can't show, as it is said."""
    return tuple(map(str, found.warnings))


def steady(lengths: list[int], rounds: int, *, score: float = 0.7, spread: float = 0.03) -> list[ScoredSample]:
    """A run in which nothing changes with length."""
    rng = random.Random(11)
    return [
        written(
            length,
            {name: rng.gauss(0.0, 1.0) for name in MEASURED},
            trial=trial,
            score=min(1.0, max(0.0, rng.gauss(score, spread))),
        )
        for length in lengths
        for trial in range(rounds)
    ]


def collapsed(length: int, rounds: int = 10) -> list[ScoredSample]:
    """Rounds that are worse by every measure."""
    return [
        written(length, {"vocabulary_diversity": -9.0 - k, "mtld": -9.0 - k, "cloze_score": 9.0 + k}, trial=k)
        for k in range(rounds)
    ]


def test_a_degradation_is_named_with_its_measures_and_lengths() -> None:
    found = writing([*steady([1_024, 2_048], 10), *collapsed(4_096), *collapsed(8_192)])
    # One of the 184,756 choices of ten in twenty, in nine tests.
    assert str(found.verdict) == (
        "by rank tests the writing is worse at 4,096 tokens than at the shortest length: cloze score (p = 4.9e-05 "
        "after Holm, effect 1.00), vocabulary diversity (p = 4.9e-05 after Holm, effect 1.00), MTLD (p = 4.9e-05 after "
        "Holm, effect 1.00); also at 8,192 tokens"
    )


def unwritten(length: int, rounds: int) -> list[ScoredSample]:
    """Empty answers, judged as they are: there is no text, and all of it is missing."""
    details = judge_prose(
        "", prompt="It was late.", reference="", document="It was late. " * 40, language="en", word_list=dale_chall(),
        shortfall=1.0,
    )  # fmt: skip
    assert details["shortfall"] == 1.0
    return [written(length, details, trial=trial, score=0.0, failure="empty") for trial in range(rounds)]


def test_rounds_without_text_are_no_health() -> None:
    found = writing([*steady([1_024], 5), *unwritten(2_048, 5)])
    assert str(found.verdict) == (
        "no measure could be compared with the shortest length; at 2,048 tokens 5 of 5 rounds gave no text to measure"
    )
    assert (
        "at 2,048 tokens 5 of 5 answered rounds gave no text to measure (empty 5): the tests of the prose leave them "
        "out, the score does not"
    ) in warnings_of(found)


def test_where_every_round_says_how_much_is_missing_empty_ones_are_a_degradation_too() -> None:
    whole = [written(1_024, {"mtld": 70.0 + k, "shortfall": 0.0, "z.shortfall": 0.0}, trial=k) for k in range(5)]
    found = writing([*whole, *unwritten(2_048, 5)])
    assert str(found.verdict) == (
        "by rank tests the writing is worse at 2,048 tokens than at the shortest length: missing text (p = 0.004 after "
        "Holm, effect 1.00); at 2,048 tokens 5 of 5 rounds gave no text to measure"
    )
    (test,) = found.tests
    assert test.scale == "z"
    assert test.shift == pytest.approx(10.0)


NAMES = ("cloze_score", "mtld", "bigram_repetition_rate", "word_entropy")


def looping(lengths: list[int], *, measures: int) -> list[ScoredSample]:
    """As bad at every length, and worse than any window of the author's."""
    return [
        written(
            length,
            {
                key: value
                for place, name in enumerate(NAMES[:measures])
                for sign in (BY_NAME[name].worse,)
                for key, value in (
                    (name, sign * 50.0),
                    (f"z.{name}", sign * (9.0 - place + 0.1 * trial)),
                    (f"original.{name}", sign * 10.0),
                )
            },
            trial=trial,
            score=0.7,
        )
        for length in lengths
        for trial in range(8)
    ]


def windows_of_author() -> dict[str, list[float]]:
    return {name: [0.1 * place for place in range(-10, 10)] for name in NAMES}


@pytest.mark.parametrize(
    ("lengths", "measures", "said"),
    [
        (
            [2_048, 4_096, 8_192],
            4,
            "by rank tests no measure is shown to be worse than at the shortest length; at 2,048, 4,096 and 8,192 "
            "tokens the writing is worse than the author's elsewhere (cloze score, MTLD and 2 more)",
        ),
        (
            [2_048],
            1,
            "only one length was tested: there is nothing to compare its writing with; at 2,048 tokens the writing is "
            "worse than the author's elsewhere (cloze score)",
        ),
    ],
)
def test_a_model_that_loops_at_every_length_is_worse_than_the_author(
    lengths: list[int], measures: int, said: str
) -> None:
    scored = looping(lengths, measures=measures)
    assert str(writing(scored, author=windows_of_author()).verdict) == said
    assert "author" not in str(writing(scored).verdict)


def test_a_degradation_with_length_and_one_against_the_author_are_both_told() -> None:
    collapsed_at = [
        dataclasses.replace(s, details={k: v * (3.0 if "orig" not in k else 1.0) for k, v in s.details.items()})
        for s in looping([4_096], measures=2)
    ]
    found = str(writing([*looping([2_048], measures=2), *collapsed_at], author=windows_of_author()).verdict)
    assert found.startswith(
        "by rank tests the writing is worse at 4,096 tokens than at the shortest length: cloze score"
    )
    assert found.endswith(
        "; at 2,048 and 4,096 tokens the writing is worse than the author's elsewhere (cloze score and MTLD)"
    )


def test_the_confidence_stands_in_the_record() -> None:
    assert writing(steady([1_024, 2_048], 3), confidence=0.9).confidence == 0.9


def test_one_length_and_no_round_are_said_as_such() -> None:
    assert str(writing(steady([1_024], 3)).verdict) == (
        "only one length was tested: there is nothing to compare its writing with"
    )
    unanswered = [written(length, {}, score=None) for length in (1_024, 2_048)]
    assert str(writing(unanswered).verdict) == "no round was answered: nothing can be said of the writing"
    assert str(writing([]).verdict) == "no round was answered: nothing can be said of the writing"


def test_three_rounds_against_three_can_show_nothing_and_it_is_said() -> None:
    found = writing([*steady([1_024, 2_048], 3), *collapsed(4_096, 3)])
    assert not any(test.degraded for test in found.tests)
    # 20 choices, 6 tests; five against five have 252 choices, four against four 70: 6/70 is above 5%.
    assert warnings_of(found) == (
        "3 rounds against 3 can reach p = 0.05 at best, and 0.3 after Holm over 6 tests: no measure can be shown to be "
        "worse than at the shortest length; from 5 rounds on one can",
    )


def test_the_corrected_p_value_is_never_shown_above_one() -> None:
    measures = {name: [0.1, 0.2, 0.3] for name in (*MEASURED, "word_entropy", "avg_word_length", "long_word_ratio")}
    scored = [found for length in (512, 1_024, 2_048, 4_096, 8_192) for found in rounds_of(length, **measures)]
    (warning,) = warnings_of(writing(scored))
    assert "p = 0.05 at best, and 1 after Holm over 24 tests" in warning


@pytest.mark.parametrize("rounds", [4, 5])
def test_the_number_of_rounds_that_is_named_is_the_first_that_can_show_it(rounds: int) -> None:
    found = writing([*steady([1_024, 2_048], rounds), *collapsed(4_096, rounds)])
    assert any(test.degraded for test in found.tests) is (rounds == 5)
    assert bool(found.warnings) is (rounds == 4)


def test_only_the_lengths_with_too_few_rounds_are_named() -> None:
    found = writing([*steady([1_024, 2_048], 10), *collapsed(4_096, 1)])
    (warning,) = warnings_of(found)
    assert warning.startswith("at 4,096 tokens 1 round against 10 can reach p = 0.091 at best")


def test_few_windows_of_the_author_are_said_as_such() -> None:
    details = {"cloze_score": 60.0, "z.cloze_score": 5.0, "author_mean.cloze_score": 30.0}
    found = writing([written(1_024, details)], author={"cloze_score": [0.0] * 8})
    assert warnings_of(found) == (
        "1 round against 8 of the author's windows can reach p = 0.11 at best, and 0.11 after Holm over 1 test: no "
        "measure can be shown to be worse than the author's elsewhere; from 2 rounds on one can",
    )


def test_at_temperature_zero_or_a_fixed_seed_all_rounds_are_one_and_it_is_said() -> None:
    scored = [
        written(length, {"mtld": 70.0 - place}, trial=trial, item=f"greedy {length}")
        for place, length in enumerate((1_024, 2_048))
        for trial in range(3)
    ]
    found = writing(scored)
    same, reach = warnings_of(found)
    assert same == (
        "all rounds of a length are the same draw (temperature 0, or sampling.seed is set): they count as one round, "
        "and more of them show nothing more; a temperature above 0 without sampling.seed makes them rounds of their own"
    )
    assert reach.startswith("1 round against 1 can reach p = 0.5 at best, and 0.5 after Holm over 1 test")
    assert found.settling_rounds is None
    assert str(found.verdict) == (
        "the rounds are too few for a rank test to show any measure to be worse than at the shortest length"
    )


def test_titles_keep_their_abbreviations() -> None:
    assert [in_sentence(name) for name in ("mtld", "cloze_score", "reference_rouge_l")] == [
        "MTLD",
        "cloze score",
        "ROUGE-L with the original",
    ]
