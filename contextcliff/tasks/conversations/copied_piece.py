"""What a piece that was to be repeated is worth: the share of it that stands in the answer, behind the word asked for.

As the grader that is published with OpenAI's MRCR has it (Python's difflib, its defaults included): 0 where the answer
doesn't begin with the word, else the ratio of matching blocks between what follows and the piece.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from contextcliff.records.generation import Score
from contextcliff.tasks.answer_texts import is_refusal
from contextcliff.text.tokens import PLAIN_USER

_TIMES_THE_PIECE = 8
"""Of an answer that is longer, the beginning alone is compared, since the time grows with both lengths."""
_WHOLE = 0.95
"""A ratio that a slip or two leave."""
_HALF = 0.5
_BLANKS_BEFORE_TURN = re.compile(rf"(?<!\s)(\s++){re.escape(PLAIN_USER)}")


def score_copied(answer: str, *, prefix: str, piece: str, others: Sequence[str], cut_off: bool) -> Score:
    """The ratio for `piece`, and a tag where it is below 0.95; `others` are pieces that the same was asked of.

    Tags, the first that holds: `empty` · `refusal` · `no_prefix` (both without the word) · `wrong_needle` (another of
    these pieces is nearer, by half of it or more) · `incomplete` (cut off by the token limit) · `partial` (half or
    more) · `missing`.
    Blanks before the answer don't count, and a base model's answer ends where it goes on with the user's next words.
    """
    text = _own_turn(answer).lstrip()
    if not text.startswith(prefix):
        said = text.strip()
        failure = "empty" if not said else "refusal" if is_refusal(said) else "no_prefix"
        return Score(value=0.0, prediction=said, failure=failure)
    copied = text.removeprefix(prefix)
    value = copied_ratio(copied, piece)
    return Score(value=value, prediction=text.strip(), failure=_tag(copied, value, others, cut_off=cut_off))


def _own_turn(answer: str) -> str:
    for blanks in _BLANKS_BEFORE_TURN.finditer(answer):
        if (line_end := answer.find("\n", blanks.start(1), blanks.end(1))) >= 0:
            return answer[:line_end]
    return answer


def _tag(copied: str, value: float, others: Sequence[str], *, cut_off: bool) -> str | None:
    if value >= _WHOLE:
        return None
    nearest = max((copied_ratio(copied, other) for other in others), default=0.0)
    if nearest > value and nearest >= _HALF:
        return "wrong_needle"
    if cut_off:
        return "incomplete"
    return "partial" if value >= _HALF else "missing"


def copied_ratio(copied: str, piece: str) -> float:
    """`difflib`'s ratio of an answer and a piece, 0–1: twice the characters in matching blocks, over both lengths.

    Beyond eight times the piece only the lengths count; there the ratio is below 0.25 whatever follows.
    """
    most = _TIMES_THE_PIECE * len(piece)
    compared = copied[:most]
    ratio = SequenceMatcher(None, compared, piece).ratio()
    if len(copied) <= most:
        return ratio
    return ratio * (len(compared) + len(piece)) / (len(copied) + len(piece))
