"""What an answer is worth in which one value was asked for, or several."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from contextcliff.records.generation import Score
from contextcliff.tasks.answer_texts import is_refusal
from contextcliff.text.value_forms import ValueForm


def score_value(
    answer: str,
    *,
    expected: str,
    form: ValueForm,
    cut_off: bool,
    distractors: Collection[str] = (),
    foreign: Collection[str] = (),
    question: str = "",
    may_hedge: bool = False,
) -> Score:
    """Look for a value in an answer: 1 where it stands there whole and no distractor beside it, else 0 with a tag.

    With `may_hedge` a distractor beside it is allowed. Values of the question that an answer repeats are not counted.

    Tags, the first that holds: `empty` · `hedged` (the value and a distractor) · `wrong_needle` (a value that stands
    in the same context, or another sample's) · `hallucination` (a value of the needle's look that nobody hid) ·
    `incomplete` (cut off by the token limit) · `refusal` · `missing` (none of these: no such value in the answer).
    """
    text = answer.strip()
    wanted = expected.casefold()
    repeated = frozenset(form.found(question)) - {wanted} if form.telling else frozenset()
    values = [value for value in form.found(text) if value not in repeated]
    beside = _folded(frozenset(distractors))
    wrong = [value for value in values if value != wanted and value in beside]
    if wanted in values and (may_hedge or not wrong):
        return Score(value=1.0, prediction=expected, failure=None)
    alike = [value for value in values if value != wanted and form.telling and len(value) == len(wanted)]
    elsewhere = _folded(frozenset(foreign))
    mixed_up = wrong or [value for value in values if value != wanted and value in elsewhere]
    prediction = next(iter([*mixed_up, *alike]), text)
    if not text:
        failure = "empty"
    elif wanted in values:
        failure = "hedged"
    elif mixed_up:
        failure = "wrong_needle"
    elif alike:
        failure = "hallucination"
    else:
        failure = tag_without_value(text, cut_off=cut_off)
    return Score(value=0.0, prediction=prediction, failure=failure)


def score_share(answer: str, *, expected: Sequence[str], stands: Callable[[str, str], bool], cut_off: bool) -> Score:
    """The share of the expected values that stand in an answer, whatever else does; the prediction lists which.

    This is RULER's `string_match_all`, but for what `stands` (value, answer) counts: there it is any substring.
    Below 1 the tag is `partial`, and where nothing was found that of `tag_without_value`.
    """
    text = answer.strip()
    named = [wanted for wanted in expected if stands(wanted, text)]
    value = len(named) / len(expected)
    if value == 1.0:
        return Score(value=1.0, prediction="; ".join(named), failure=None)
    failure = "partial" if named else tag_without_value(text, cut_off=cut_off)
    return Score(value=value, prediction="; ".join(named) or text, failure=failure)


@lru_cache(maxsize=8)
def _folded(values: frozenset[str]) -> frozenset[str]:
    """Of ten thousand samples each is compared with the answers of all."""
    return frozenset(value.casefold() for value in values)


def tag_without_value(text: str, *, cut_off: bool) -> str:
    """Why an answer holds nothing of what was asked: `empty`, `incomplete`, `refusal` or `missing`."""
    if not text:
        return "empty"
    if cut_off:
        return "incomplete"
    return "refusal" if is_refusal(text) else "missing"
