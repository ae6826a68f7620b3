"""What an answer is worth in which values are asked for, what stands in it in any script, and whether it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.resources import files
from unicodedata import east_asian_width, normalize

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.tasks.task import ScoringContext
from contextcliff.text.value_forms import ValueForm
from contextcliff.text.words import as_typed


def score_value(
    sample: Sample, generation: Generation, context: ScoringContext, form: ValueForm, *, may_hedge: bool = False
) -> Score:
    """Look for the one value asked for: 1 where it stands whole in the answer and no distractor beside it, else 0.

    With `may_hedge` a distractor beside it is allowed. Values of the question that an answer repeats are not counted.

    Tags, the first that holds: `empty` · `hedged` (the value and a distractor) · `wrong_needle` (a value that stands
    in the same context, or another sample's) · `hallucination` (a value of the needle's look that nobody hid) ·
    `incomplete` (cut off by the token limit) · `refusal` · `missing` (none of these: no such value in the answer)."""
    text, expected = generation.text.strip(), sample.answers[0]
    wanted = expected.casefold()
    repeated = frozenset(form.found(sample.question)) - {wanted} if form.telling else frozenset()
    values = [value for value in form.found(text) if value not in repeated]
    others = [value for value in values if value != wanted]
    beside, elsewhere = _folded(frozenset(sample.reference.distractors)), _folded(context.foreign_answers)
    wrong = [value for value in others if value in beside]
    if wanted in values and (may_hedge or not wrong):
        return Score(value=1.0, prediction=expected, failure=None)
    mixed_up = wrong or [value for value in others if value in elsewhere]
    alike = [value for value in others if form.telling and len(value) == len(wanted)]
    if not text:
        failure = "empty"
    elif wanted in values:
        failure = "hedged"
    elif mixed_up:
        failure = "wrong_needle"
    else:
        failure = "hallucination" if alike else tag_without_value(generation)
    return Score(value=0.0, prediction=next(iter([*mixed_up, *alike]), text), failure=failure)


def score_share(sample: Sample, generation: Generation, stands: Callable[[str, str], bool]) -> Score:
    """The share of the accepted answers that stand in what is said, whatever else does; the prediction lists which.

    This is RULER's `string_match_all`, but for what `stands` (value, answer) counts: there it is any substring.
    Below 1 the tag is `partial`, and where nothing was found that of `tag_without_value`."""
    text = generation.text.strip()
    named = [wanted for wanted in sample.answers if stands(wanted, text)]
    value = len(named) / len(sample.answers)
    failure = None if value == 1.0 else "partial" if named else tag_without_value(generation)
    return Score(value=value, prediction="; ".join(named) or text, failure=failure)


def tag_without_value(generation: Generation) -> str:
    """Why an answer holds nothing of what was asked: `empty`, `incomplete`, `refusal` or `missing`."""
    text = generation.text.strip()
    if not text:
        return "empty"
    if generation.finish_reason == "length":
        return "incomplete"
    return "refusal" if is_refusal(text) else "missing"


@lru_cache(maxsize=8)
def _folded(values: frozenset[str]) -> frozenset[str]:
    """Of ten thousand samples each is compared with the answers of all."""
    return frozenset(value.casefold() for value in values)


def plain(text: str) -> str:
    """A text as it is compared: `as_typed`, lower case, single spaces, straight apostrophes."""
    return " ".join(as_typed(text).casefold().replace("’", "'").split())


def stands_in(phrase: str, answer: str) -> bool:
    """Whether `phrase` stands whole in `answer`: no letter or digit may touch it where its script sets spaces. A phrase
    without any sign stands nowhere."""
    wanted, text = plain(phrase), plain(answer)
    if not wanted:
        return False
    place = text.find(wanted)
    while place >= 0:
        end = place + len(wanted)
        if _is_free(text[place - 1 : place], wanted[0]) and _is_free(text[end : end + 1], wanted[-1]):
            return True
        place = text.find(wanted, place + 1)
    return False


def _is_free(neighbour: str, edge: str) -> bool:
    return not neighbour.isalnum() or east_asian_width(edge) in "WF" or not edge.isalnum()


@cache
def _refusal() -> re.Pattern[str]:
    lines = files("contextcliff.tasks").joinpath("refusals.txt").read_text(encoding="utf-8").splitlines()
    return re.compile("|".join(line for line in lines if not line.startswith("#")), re.IGNORECASE)


def is_refusal(answer: str) -> bool:
    """Whether an answer says that the text doesn't tell, or that the model won't.

    In English, German, French, Spanish, Japanese and Chinese, by the phrases of `refusals.txt`. A phrase can be part of
    a true answer ("the sender is unknown"): ask only of an answer that is wrong."""
    return _refusal().search(normalize("NFC", answer.strip()).replace("’", "'")) is not None
