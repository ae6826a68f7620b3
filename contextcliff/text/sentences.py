"""Where sentences begin, so that a text starts and a needle goes in between two of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import east_asian_width

_TITLES = frozenset(["Mr", "Mrs", "Ms", "Messrs", "Dr", "Prof", "Rev", "Capt", "Lt", "Sgt", "Mme", "Mlle"])
_NEVER_LAST = _TITLES | {"e.g", "i.e", "viz", "cf", "vs"}
"""What no sentence ends with; `sentencex` has not all of them, and ends one at `Mr.` before `Will`."""
_WORD = re.compile(r"((?:\w+\.)*\w+)\.\Z")
_WORD_BEHIND = re.compile(r"""(?:\S*(?:--|[—–]))?["'“‘«(\[_*]*((?:\w+\.)+)""")
_UNSPACED = re.compile(r"\S+\Z")
_DASH = re.compile(r"""["'“‘«(\[_*]*(?:--|[—–―]|-\s)""")
_ATTACHED = re.compile(r"""["'”’»«“)\]}_*」』】〉》、。，．：；！？.,;:!?…]""")
_CLOSING = re.compile(r"""[,;:!?)\]}」』】〉》、。，．：；！？]|["'”’»_*]+(?=[\s—,;]|\Z)""")
"""What closes a sentence or goes on with it: hard by the one before, and after a blank, where it can't open one."""
_FIRST_LETTER = re.compile(r"[\W_]{0,8}([^\W_])")
_LOOKED_BACK = 60
_LOOKED_AHEAD = 60


def sentence_starts(text: str, *, language: str = "en") -> tuple[int, ...]:
    """Character offsets at which sentences begin, ascending; the first is 0.

    Paragraph breaks are boundaries too. Splitting is `sentencex`'s (Wikimedia), which knows the abbreviations of the
    language, given as an ISO 639-1 code; what `goes_on` is left out.
    """
    from sentencex import get_sentence_boundaries  # a compiled module: not for `--help`

    starts = [
        boundary["start_index"]
        for boundary in get_sentence_boundaries(language, text)
        if not boundary["is_paragraph_break"] and boundary["text"].strip()
    ]
    kept = (at for at in starts if _blank_lines(text, at) or not goes_on(text, at, language=language))
    return tuple(dict.fromkeys([0, *kept]))


def goes_on(text: str, place: int, *, language: str = "en") -> bool:
    """Whether a sentence goes on at a place that a splitter takes for the beginning of one.

    It does before a lower-case word, a closing quotation mark or sign, and a dash (but for one that opens a line with a
    capital: speech, or an item of a list), and after an abbreviation, also one behind a quotation mark or dash.
    """
    end, start = _gap(text, place)
    if end == 0 or start == len(text):
        return False
    gap = text[end:start]
    if not gap and (_ATTACHED.match(text, start) or _is_inside_word(text, start)):
        return True
    letter = _FIRST_LETTER.match(text, start)
    if letter is not None and letter[1].islower():
        return True
    if _CLOSING.match(text, start) or ("\n" not in gap and _DASH.match(text, start)):
        return True
    return text[end - 1] == "." and _is_abbreviated(text, end, start, language)


def parts_sentences(text: str, place: int, *, language: str = "en") -> bool:
    """Whether one sentence ends before a place and another begins after it for certain, also where a paragraph does.

    A line that opens with a dash may be speech, or who is quoted in the line before.
    """
    _, start = _gap(text, place)
    return not goes_on(text, place, language=language) and _DASH.match(text, start) is None


def nearest_start(starts: Sequence[int], target: int, *, before: int) -> int:
    """The sentence start closest to `target` among those before `before`; the earlier of two as close."""
    last = bisect_left(starts, before) - 1
    if last < 0:
        raise ValueError(f"no sentence starts before character {before}")
    right = min(bisect_left(starts, target), last)
    left = max(0, right - 1)
    return min(starts[left], starts[right], key=lambda start: (abs(start - target), start))


def _gap(text: str, place: int) -> tuple[int, int]:
    """The end of what stands before the blanks around a place, and the beginning of what stands after them."""
    end = start = place
    while end > 0 and text[end - 1].isspace():
        end -= 1
    while start < len(text) and text[start].isspace():
        start += 1
    return end, start


def _blank_lines(text: str, place: int) -> bool:
    end, start = _gap(text, place)
    return text.count("\n", end, start) > 1


def _is_inside_word(text: str, place: int) -> bool:
    """Whether a full stop is one of a word's own: `U.S.`, `7.Bg5`."""
    return text[place - 1] == "." and text[place].isalnum() and east_asian_width(text[place]) not in "WF"


def _is_abbreviated(text: str, end: int, start: int, language: str) -> bool:
    """Whether the word before `end` is an abbreviation that the sentence goes on after.

    `sentencex` looks words up from blank to blank, and so misses those behind a quotation mark, bracket or dash: it is
    asked again without that.
    """
    before = text[max(0, end - _LOOKED_BACK) : end]
    word, unspaced = _WORD.search(before), _UNSPACED.search(before)
    if word is None or unspaced is None:
        return False
    if word[1] in _NEVER_LAST:
        return True
    behind = _WORD_BEHIND.fullmatch(unspaced[0])
    if behind is None or behind.start(1) == 0:
        return False
    return _is_joined(behind[1], text[start : start + _LOOKED_AHEAD].split("\n", 1)[0], language)


@lru_cache(maxsize=4096)
def _is_joined(word: str, following: str, language: str) -> bool:
    from sentencex import get_sentence_boundaries

    before = f"{_NEUTRAL} {word} "
    found = get_sentence_boundaries(language, before + following)
    return all(boundary["start_index"] != len(before) for boundary in found)


_NEUTRAL = "0"
"""Stands before a word that is looked up: a word of no language."""
