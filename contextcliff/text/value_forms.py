"""What is drawn to be hidden and found again: numbers, UUIDs and coined words, and how each is found in a text."""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from unicodedata import category

from contextcliff.text.words import as_typed

_DIGITS = 7
_LETTERS = 5
# A number as it is written: its digits in a row or in groups of three, and what follows a decimal sign. A comma between
# two rows of four digits or more separates two numbers, and one point before three digits is a decimal sign.
_NUMBER = re.compile(
    r"""(?:(?<![\d.,٫٬]) | (?<=\d{4},)(?=\d{4}))
    (?P<whole>\d{1,3}(?P<mark>[,'’٬_ ])\d{3}(?:(?P=mark)\d{3})*(?!\d) | \d{1,3}(?:\.\d{3}){2,}(?!\d) | \d+)
    (?:(?<=\d{4}),(?=\d{4}) | [.,٫](?P<part>\d+))?""",
    re.VERBOSE,
)
_LATEX_MARK = re.compile(r"\{([,.])\}|\\[,;:! ]")
_UUID = re.compile(r"(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-z])")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ONSETS = tuple("b br d dr f fl g gl k kr l m n p pl r s sk t tr v z".split())  # noqa: SIM905
_RIMES = tuple("a an ar e el en i im in o ol on or u um un".split())  # noqa: SIM905


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueForm:
    """A kind of value.

    `draw` makes one. `found` lists the values of this kind that stand in an answer, whole: 1234567 does not stand
    in 12345678. `telling` is whether any value of this kind in an answer must have been taken for the needle's, as
    a seven-digit number must and a word need not."""

    draw: Callable[[random.Random], str]
    found: Callable[[str], list[str]]
    telling: bool
    tokens: int = 24
    """Room for it in an answer, with what stands around it."""


def numbers(text: str) -> list[str]:
    """The whole numbers of a text, in order, without marks between their digits; 5.0 is whole, 5.1 is left out."""
    bare = "".join(" " if category(sign) == "No" else sign for sign in text)  # ① before it, or a footnote's ² behind
    typed = _LATEX_MARK.sub(lambda mark: mark[1] or " ", as_typed(bare))
    found = (match for match in _NUMBER.finditer(typed) if not (match["part"] or "").strip("0"))
    return [re.sub(r"\D", "", match["whole"]) for match in found]


def _words(text: str) -> list[str]:
    return [word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(as_typed(text))]


NUMBER = ValueForm(draw=lambda rng: str(rng.randrange(10 ** (_DIGITS - 1), 10**_DIGITS)), found=numbers, telling=True)
UUID = ValueForm(
    draw=lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    found=lambda text: _UUID.findall(as_typed(text).lower()),
    telling=True,
    tokens=48,
)
WORD = ValueForm(
    draw=lambda rng: "".join(rng.choice(_ONSETS) + rng.choice(_RIMES) for _ in range(3)), found=_words, telling=False
)
LETTERS = ValueForm(
    draw=lambda rng: "".join(rng.choice(ascii_uppercase) for _ in range(_LETTERS)), found=_words, telling=False
)
FORMS: Mapping[str, ValueForm] = {"number": NUMBER, "uuid": UUID, "word": WORD}
