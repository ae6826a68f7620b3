"""Where sentences begin: contexts start there, and needles are inserted there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import east_asian_width

_TITLES = frozenset(["Mr", "Mrs", "Ms", "Messrs", "Dr", "Prof", "Rev", "Capt", "Lt", "Sgt", "Mme", "Mlle"])
_NEVER_LAST = _TITLES | {"e.g", "i.e", "viz", "cf", "vs"}
"""Abbreviations that never end a sentence. `sentencex` lacks some of them, and splits `Mr.` from `Will`."""
_WORD = re.compile(r"((?:\w+\.)*\w+)\.\Z")
_MARK = re.compile(r"""["“”„«»‹›‘‚(){}_—–―]|-(?=-)|(?<=-)-|\[(?!\d)|(?<!\d)\]|(?<!\w)['’]|['’](?!\w)""")
"""A quotation mark, bracket or dash: `sentencex` never splits between two that it takes for a pair, and finds no
abbreviation beside one. No apostrophe inside a word, and no reference (`[12]`)."""
_WIDE_BLANK = re.compile(r"[^\S\n\r\t ](?=\.)")
"""`sentencex` panics at one between a capital and a full stop."""
_BEHIND = re.compile(r"""(?:["“”„«»‹›‘’'(\[{_)\]}—–―-]*(?=\n)|["“”„«»‹›‘’'(\[{_)\]}]*(?:\s+[»›”)\]}]+(?=\s))?)\s*""")
"""What belongs to the sentence before, of the marks and blanks between two: marks without a blank before them (dashes
at the end of a line alone), and closing ones with a blank on each side, as in French."""
_DASH = re.compile(r"""["'“‘«(\[_*]*(?:--|[—–―]|-\s)""")
_ATTACHED = re.compile(r"""["'”’»«“)\]}_*」』】〉》、。，．：；！？.,;:!?…]""")
_CLOSING = re.compile(r"""[,;:!?)\]}」』】〉》、。，．：；！？]|["'”’»_*]+(?=[\s—,;]|\Z)""")
"""What continues or closes the sentence before it: directly after it (`_ATTACHED`), and after a blank (`_CLOSING`)."""
_FIRST_LETTER = re.compile(r"[\W_]{0,8}([^\W_])")
ENDS = (".", "!", "?", "。", "！", "？", "」")
"""With what a sentence ends."""
_TEXTS = 4
"""Texts whose sentences are kept in memory: the jobs of a sweep begin with the same ones."""
_CHARACTERS_BEFORE = 60
"""Of a place, in which an abbreviation is looked for."""


@lru_cache(maxsize=_TEXTS)
def sentence_starts(text: str, *, language: str = "en") -> tuple[int, ...]:
    """Character offsets at which sentences begin, ascending; the first is 0.

    `language` is an ISO 639-1 code. `sentencex` (Wikimedia) splits, by the abbreviations of the language and at
    paragraph breaks; places where `goes_on` says that the sentence continues are left out. Quotation marks, brackets
    and dashes are blanks to it, but for those of Japanese, whose sentences are quoted whole."""
    from sentencex import get_sentence_boundaries  # imported late, since `--help` does not need this compiled module

    blind = _WIDE_BLANK.sub(" ", text)
    if language != "ja":
        blind = _MARK.sub(" ", blind)
    starts = [
        boundary["start_index"]
        for boundary in get_sentence_boundaries(language, blind)
        if not boundary["is_paragraph_break"] and boundary["text"].strip()
    ]
    if language != "ja":
        starts = [_with_its_marks(text, *_gap(blind, at)) for at in starts]
    # A blank line ends a sentence, whatever stands after it.
    kept = (at for at in starts if text.count("\n", *_gap(text, at)) > 1 or not goes_on(text, at))
    return tuple(dict.fromkeys([0, *kept]))


def goes_on(text: str, place: int) -> bool:
    """Whether a sentence continues at a place where a splitter begins a new one.

    It continues before a lower-case word, closing punctuation and a dash, unless the dash opens a line with a capital
    after it (speech, or an item of a list). It also continues after a title and a few other abbreviations."""
    end, start = _gap(text, place)
    if end == 0 or start == len(text):
        return False
    gap = text[end:start]
    # A full stop with a letter or digit at once behind it is inside a word: `U.S.`, `7.Bg5`.
    is_in_word = text[start - 1] == "." and text[start].isalnum() and east_asian_width(text[start]) not in "WF"
    if not gap and (is_in_word or _ATTACHED.match(text, start)):
        return True
    letter = _FIRST_LETTER.match(text, start)
    if letter is not None and letter[1].islower():
        return True
    if _CLOSING.match(text, start) or ("\n" not in gap and _DASH.match(text, start)):
        return True
    word = _WORD.search(text[max(0, end - _CHARACTERS_BEFORE) : end])
    return word is not None and word[1] in _NEVER_LAST


def parts_sentences(text: str, place: int) -> bool:
    """Whether it is certain that one sentence ends before a place and another begins after it. It is not before a dash,
    which can open speech as well as the name of who is quoted in the line before."""
    _, start = _gap(text, place)
    return not goes_on(text, place) and _DASH.match(text, start) is None


def nearest_start(starts: Sequence[int], target: int, *, before: int) -> int:
    """The sentence start before `before` closest to `target`, the earlier of two. Raises `ValueError` without one."""
    last = bisect_left(starts, before) - 1
    if last < 0:
        raise ValueError(f"no sentence starts before character {before}")
    right = min(bisect_left(starts, target), last)
    left = max(0, right - 1)
    return min(starts[left], starts[right], key=lambda start: (abs(start - target), start))


def _gap(text: str, place: int) -> tuple[int, int]:
    """Where the blanks around a place begin and where they end."""
    end = start = place
    while end > 0 and text[end - 1].isspace():
        end -= 1
    while start < len(text) and text[start].isspace():
        start += 1
    return end, start


def _with_its_marks(text: str, end: int, start: int) -> int:
    """Where a sentence begins whose first word is at `start`, with the marks before it; another ends at `end`."""
    behind = _BEHIND.match(text, end, start)
    return behind.end() if end and behind is not None else 0
