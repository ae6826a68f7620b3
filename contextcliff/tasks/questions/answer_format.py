"""What a reply says: the answer that it holds, in the form that was asked for.

`json`: an object with the key `answer`, a string or a number. A reply that is one JSON value has to be that object.
Around it there may be a code fence or sentences, as models like them, where it is the only object of the reply: of two,
neither is the answer. Further keys are ignored; an object with the same key twice is not accepted.

`plain`: the first line that says something, without quotes, emphasis, list marks and a leading `Answer:`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import normalize

from contextcliff.tasks.values import plain

Format = Literal["json", "plain"]
MAX_REPLY_CHARACTERS = 32_768
"""A longer reply is no answer: JSON is not looked for in it, and of plain text the rest is left unread."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """The answer of a reply. `answer` is empty where the reply says nothing, and None where there is a `problem`."""

    answer: str | None = None
    problem: str | None = None


def parse_answer(reply: str, *, format: Format, whole: bool = False) -> Parsed:
    """Take the answer out of a reply. With `whole`, plain text is taken with all its lines (a summary has several)."""
    text = reply.strip("\ufeff \t\r\n")
    if format == "json":
        return _from_json(text)
    return Parsed(answer=_whole_text(text[:MAX_REPLY_CHARACTERS]) if whole else _line(text[:MAX_REPLY_CHARACTERS]))


# ---------------------------------------------------------------- JSON


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    by_key = dict(pairs)
    if len(by_key) < len(pairs):
        raise ValueError("a key stands twice")
    return by_key


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


# Numbers stay as they were written: 1.50 is not 1.5, and a thousand digits are no work.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_each_key_once, parse_int=str, parse_float=str, parse_constant=_no_constant
)
# What begins like an object was meant as one: the search ends at the first that fails, so that it is linear.
_OBJECT = re.compile(r'\{\s*["}]')
_STRAIGHT_QUOTES = str.maketrans("“”„‟＂", '"""""')
_TYPOGRAPHIC_OBJECT = re.compile(r"\{\s*[“”„‟＂]")


def _from_json(text: str) -> Parsed:
    if not text:
        return Parsed(problem="is empty")
    if len(text) > MAX_REPLY_CHARACTERS:
        return Parsed(problem=f"is longer than {MAX_REPLY_CHARACTERS:,} characters")
    if _TYPOGRAPHIC_OBJECT.search(text) and not _OBJECT.search(text):
        text = text.translate(_STRAIGHT_QUOTES)
    try:
        return _answer_of(_DECODER.decode(text))
    except (ValueError, RecursionError):
        return _from_only_object(text)


def _from_only_object(text: str) -> Parsed:
    objects: list[object] = []
    place = 0
    while match := _OBJECT.search(text, place):
        try:
            value, place = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            return Parsed(problem="holds an object that is not JSON")
        objects.append(value)
    if len(objects) != 1:
        return Parsed(problem=f"holds {len(objects)} JSON objects" if objects else "holds no JSON object")
    return _answer_of(objects[0])


def _answer_of(value: object) -> Parsed:
    if not isinstance(value, dict):
        return Parsed(problem="is JSON, but no object")
    if "answer" not in value:
        return Parsed(problem='lacks the key "answer"')
    answer = value["answer"]
    if not isinstance(answer, str):
        return Parsed(problem='"answer" is neither a string nor a number')
    # Half a surrogate pair, escaped, is valid JSON and could not be written to a file.
    return Parsed(answer=answer.encode("utf-8", "replace").decode().strip())


# ---------------------------------------------------------------- plain text

_LIST_MARK = re.compile(r"(?:#{1,6}|>|[-*•])\s+")
_NAME = r"(?:the\s|my\s)?(?:final\s|short\s|correct\s|best\s)?answer"
_ANNOUNCED = re.compile(
    rf"""(?P<mark>[*_]{{0,3}})
        (?:{_NAME}(?:\ is)? | antwort | réponse | respuesta | 答え | 解答 | 回答 | 答案 | 正解)\s*
        (?:(?P=mark)\s*[:：] | [:：]\s*(?P=mark))""",
    re.IGNORECASE | re.VERBOSE,
)
_ANSWER_IS = re.compile(
    rf"""(?:{_NAME}\sis | (?:die\s)?antwort\s(?:ist|lautet) | (?:la\s)?réponse\sest | (?:la\s)?respuesta\ses)\s+(?=\S)
        | (?:答え|解答|回答|答案|正解)\s?(?:は|是|为|為)[、,，\s]*(?=\S)""",
    re.IGNORECASE | re.VERBOSE,
)
_EMPTY_LINE = re.compile(r"[-*_=#\s]*|(?:`{3,}|~{3,})\s*\w*\s*")
_PAIRS = (
    ("```", "```"), ("**", "**"), ("__", "__"), ("*", "*"), ("_", "_"), ("`", "`"), ('"', '"'), ("'", "'"),
    ("“", "”"), ("„", "“"), ("‘", "’"), ("«", "»"), ("「", "」"), ("『", "』"),
)  # fmt: skip
_LAYERS = 8
"""So many layers of dress are taken off a line."""


def _line(text: str) -> str:
    """The first line that says something; one that only announces ("The answer is:") gives way to what follows."""
    announced = ""
    for line in text.splitlines():
        bare = "" if _EMPTY_LINE.fullmatch(line) else _bare(line)
        if bare and not bare.endswith((":", "：")):
            return bare
        announced = announced or bare
    return announced


def _whole_text(text: str) -> str:
    kept = "\n".join(line.strip() for line in text.splitlines() if not _EMPTY_LINE.fullmatch(line))
    return _bare(kept)


def _bare(text: str) -> str:
    for _ in range(_LAYERS):
        before = text
        text = _unwrapped(text.strip())
        for start in (_LIST_MARK, _ANNOUNCED, _ANSWER_IS):
            if opening := start.match(text):
                text = text[opening.end() :]
        if text == before:
            break
    return text.removesuffix("。")  # SQuAD's normalisation drops only the full stops of ASCII


def _unwrapped(text: str) -> str:
    for start, end in _PAIRS:
        if len(text) > len(start) + len(end) and text.startswith(start) and text.endswith(end):
            inner = text[len(start) : -len(end)]
            # "A" and "B" begins and ends with a quote, and is not quoted
            return text if start in inner or end in inner else inner
    return text


# ---------------------------------------------------------------- multiple choice

_LETTER = re.compile(r"[(\[]?([A-Z])(?:[)\].:：、]{1,2}\s*|\s+[-–—]\s+|$)(.*)", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(
    r"^(?:the\s)?(?:correct\s|right\s|best\s)?(?:option|choice|answer)\s(?:is\s)?(?=[(\[]?[A-Z]\b)", re.IGNORECASE
)
_SECOND_LETTER = re.compile(r"\([A-Z]\)|(?:^|\s)(?:or|and|oder|und|ou|et|o|y)\s+\(?[A-Z]\b(?!\s+[a-z])")


def chosen_letter(answer: str, choices: Sequence[str]) -> str | None:
    """Which of the choices (26 at most) an answer takes, by its letter; None where that isn't one of them, or several.

    A letter stands alone, in brackets, or before its text (`B`, `(B)`, `B. text`); without one, the answer has to be
    the full text of exactly one choice. A letter with the text of another choice takes neither.
    """
    said = _bare(normalize("NFKC", answer))
    said = _NAMED.sub("", said, count=1)
    texts = dict(zip(LETTERS, map(_comparable, choices), strict=False))
    letter = _LETTER.fullmatch(said)
    if letter is None or letter[1].upper() not in texts:
        return _only_letter(texts, said)
    if _only_letter(texts, said) not in (None, letter[1].upper()) and letter[2]:
        return _only_letter(texts, said)  # a choice that itself begins like "A. Lincoln"
    own, rest = letter[1].upper(), _comparable(letter[2])
    if rest in ("", texts[own]):
        return own
    return None if rest in texts.values() or _SECOND_LETTER.search(letter[2]) else own


def _only_letter(texts: dict[str, str], said: str) -> str | None:
    whole = _comparable(said)
    same = [letter for letter, text in texts.items() if text and whole in (text, f"{letter.lower()} {text}")]
    return same[0] if len(same) == 1 else None


def _comparable(text: str) -> str:
    return plain(text).rstrip(".。 ")
