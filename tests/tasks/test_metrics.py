"""What decides an answer to a question: the metric of short and of long answers, and a scorer of the user's own."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from contextcliff.errors import ConfigError
from contextcliff.tasks.questions.qa_scoring import OwnMetric, refuse_metric, score_by, settled


@pytest.mark.parametrize(
    ("references", "metric"),
    [
        (("Otto Lindqvist",), "contains"),
        (("the very last day of the month of May",), "f1"),  # seven words without its articles
        (("the day of the first of May",), "contains"),  # six without its two articles
        (("in 1817", "it was in the year 1817 of the king"), "f1"),  # each accepted answer has to be short
        (("東京都千代田区丸の内一丁目九番一号",), "contains"),
        (("灯台守の日記に書かれていた三番目の船の名前であるはず",), "f1"),
    ],
)
def test_short_accepted_answers_are_looked_for_and_long_ones_compared(references: tuple[str, ...], metric: str) -> None:
    assert settled("auto", references) == metric
    assert settled("em", references) == "em"


def test_a_scorer_of_ones_own_is_called_with_the_answer_and_all_references() -> None:
    own = OwnMetric("mine.scorer", lambda *given: 0.25 if given == ("said", ("one", "two")) else 0.0)
    assert score_by(own, "said", ["one", "two"], contains=True) == 0.25
    assert (str(own), settled(own, ("one",)), deepcopy(own)) == ("mine.scorer", own, own)
    refuse_metric(own)


@pytest.mark.parametrize("returned", [1.5, -0.1, float("nan"), "1", None, [1.0], 1j])
def test_a_scorer_that_returns_no_number_from_0_to_1_is_named_with_the_answer(returned: Any) -> None:
    with pytest.raises(ConfigError, match=r"^task\.metric=mine\.scorer: .* the answer 'said'.* from 0 to 1$"):
        OwnMetric("mine.scorer", lambda *_: returned)("said", ("one",))


def test_a_scorer_that_raises_is_named_in_one_line() -> None:
    def scorer(prediction: str, references: tuple[str, ...]) -> float:
        raise KeyError("a\nb")

    with pytest.raises(ConfigError) as error:
        OwnMetric("mine.scorer", scorer)("said\nso", ("one",))
    assert "\n" not in str(error.value)
    assert "KeyError" in str(error.value)


@pytest.mark.parametrize("metric", ["bleu", 3, ["f1"], {"a": 1}])
def test_a_metric_that_is_not_there_is_refused_with_those_that_are(metric: object) -> None:
    with pytest.raises(ValueError, match=r"is unknown; choose one of auto, contains, f1, em, rouge_l, judge, or a "):
        refuse_metric(metric)
