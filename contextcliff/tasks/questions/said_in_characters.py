"""Whether an answer gives a reference in a script without spaces, which has no edges of words.

A Japanese reference ends where the script changes (京都 does not stand in 東京都), and a Chinese one needs a sentence
round it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import combining

from contextcliff.tasks.questions.squad_scoring import normalise

_HAN = re.compile(r"[々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HIRAGANA = re.compile(r"[\u3041-\u309f]")
_KATAKANA = re.compile(r"[\u30a0-\u30ff\u31f0-\u31ff]")
_DENIED_BEHIND = re.compile(
    r"以外|とは(?:限|言え|いえ)|(?:也|都)?不是|(?:では|じゃ|で)な[いく]|[^、。]{0,40}(?<!違い)(?<!しれ)(?:ない|なかった|ません(?:でした)?)"
    r"(?:です|よ)?(?:[、。]|$)"
)
_NEGATED = re.compile(r"ない|なかった|ません|なく|不")
_DENIED_AHEAD = re.compile(r"(?:不是|并非|並非|不在|没有|沒有)$")
_OTHERS_BEHIND = re.compile(
    r"(?:か、?(?=[\u30a0-\u30ff\u4e00-\u9fff])|または|もしくは|あるいは|或いは|或者|还是|還是|或)"
)
_OTHERS_AHEAD = re.compile(
    r"(?:(?<=[\u30a0-\u30ff\u4e00-\u9fff])か|または|もしくは|あるいは|或いは|或者|还是|還是|或)、?$"
)
_LISTED = re.compile(r"[、，,・]|と|や|及び|および|和")
_POLITE = re.compile(r"(?:です|だ|である)?[。.]?$")
_AROUND = 64
"""Characters on either side that are read: more than the longest of the patterns takes."""
_SENTENCE = 3
"""Chinese characters beside a reference that make a sentence of a run of them, and no longer name."""


def gives_characters(answer: str, reference: str, *, question: str) -> bool:
    """Whether an answer gives a reference that has characters of a script without spaces."""
    said, wanted = ("".join(normalise(text).split()).rstrip("。") for text in (answer, reference))
    if len(wanted) == 1 and _HIRAGANA.match(wanted):
        return False
    asked = "".join(normalise(question).split())
    if wanted in asked and not said.startswith(wanted):
        return False
    negated = _NEGATED.search(asked) is not None
    entries = [entry for entry in _LISTED.split(_POLITE.sub("", said)) if entry]
    if len(entries) > 1 and wanted in entries and not any(_HIRAGANA.search(entry) for entry in entries):
        return False
    # Chinese is written in one script: a longer run of it is a sentence, a shorter one may be a name.
    is_chinese = _HIRAGANA.search(said) is None and _KATAKANA.search(said) is None
    may_be_inside = is_chinese and len(wanted) > 1 and len(said) >= len(wanted) + _SENTENCE
    for start in _character_places(wanted, said):
        end = start + len(wanted)
        ahead, behind = said[max(0, start - _AROUND) : start], said[end : end + _AROUND]
        denied = not negated and (_DENIED_BEHIND.match(behind) or _DENIED_AHEAD.search(ahead))
        one_of_several = _OTHERS_BEHIND.match(behind) or _OTHERS_AHEAD.search(ahead)
        if _has_edges(ahead, wanted, behind, may_be_inside=may_be_inside) and not denied and not one_of_several:
            return True
    return False


def _character_places(wanted: str, said: str) -> Iterator[int]:
    at = said.find(wanted)
    while at >= 0:
        yield at
        at = said.find(wanted, at + 1)


def _has_edges(ahead: str, wanted: str, behind: str, *, may_be_inside: bool) -> bool:
    """Whether the script changes at both ends of `wanted`; between two hiragana there is no telling."""
    if combining(behind[:1] or " "):
        return False
    return may_be_inside or (_is_edge(ahead[-1:], wanted[0]) and _is_edge(wanted[-1], behind[:1]))


def _is_edge(one: str, other: str) -> bool:
    if not one or not other:
        return True
    if any(script.match(one) and script.match(other) for script in (_HAN, _KATAKANA)):
        return False
    return not (one.isascii() and other.isascii() and one.isalnum() and other.isalnum())
