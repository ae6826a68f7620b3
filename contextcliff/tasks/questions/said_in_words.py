"""Whether an answer gives a reference in a script with spaces: in whole words, neither denied nor one of several."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from contextcliff.tasks.questions.squad_scoring import UNSPACED, normalise

_FUNCTION_WORDS = frozenset(
    """
    i you he she it we they me him her us them his hers its our ours your yours my mine their theirs this that these
    those who whom whose which what when where why how and or but nor not no yes if so as at by for from in into of on
    onto out over to under up upon with without than then is am are was were be been being do does did has have had
    can could will would shall should may might must all any both each few more most other some such one none nothing
    """.split()  # noqa: SIM905
)
_NEGATIONS = frozenset(
    """
    no not never neither nor without except unlike cannot isnt wasnt arent werent dont doesnt didnt cant couldnt hasnt
    hadnt wont wouldnt nicht nie kein keine keinen weder ohne pas jamais sans nunca sin tampoco
    """.split()  # noqa: SIM905
)
_DENIALS = re.compile(
    r"(?:(?:is|was|are|were) (?:not|never)|(?:is|was|are|were)nt|(?:ist|war|sind) nicht|(?:nest|nétait) pas"
    r"|no (?:es|era|fue))\b"
)
_INSTEAD = re.compile(r"\b(?:instead of|rather than|other than|apart from|as opposed to)$")
_TURNS = frozenset("but because since although though however until while sondern aber weil mais sino porque".split())  # noqa: SIM905
"""Words behind which an earlier negation has no say."""
_REACH = 3
"""Words before a reference in which a negation denies it."""
_ASKED = 5
"""Words of a question among which a negation is what it asks by: `Which of the keepers was never seen?`"""
_OR = frozenset("or oder ou o nor either".split())  # noqa: SIM905
_AND = frozenset("and und et y e".split())  # noqa: SIM905
_RANGE = frozenset("to and or bis und à et a y".split())  # noqa: SIM905
_SCALES = frozenset("hundred thousand million billion dozen".split())  # noqa: SIM905
_ITEM = 4
"""Words of an entry of a list, at most."""
_EDGES = re.compile(rf"(?<=[{UNSPACED}])(?=[^{UNSPACED}\s])|(?<=[^{UNSPACED}\s])(?=[{UNSPACED}])")
_PAUSE = re.compile(r"[,;:.!?()\[\]、。–][\"'”’»」]*$")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word as SQuAD normalises it."""

    text: str
    pauses: bool
    """Whether a comma, a full stop or the like follows it."""
    is_name: bool
    """Whether it is written with a capital, or is a number."""


def _words(text: str) -> list[_Word]:
    words: list[_Word] = []
    for raw in _EDGES.sub(" ", text).split():
        pauses = _PAUSE.search(raw) is not None
        inside = normalise(raw).strip("“”„‘«»「」『』。、…–")
        if inside:
            words.append(_Word(inside, pauses=pauses, is_name=re.match(r"\W*[^\Wa-z_]", raw) is not None))
        elif pauses and words:
            words[-1] = replace(words[-1], pauses=True)
    return words


def _places(wanted: Sequence[_Word], words: Sequence[_Word]) -> Iterator[int]:
    """Where the wanted words stand in a row."""
    row = [word.text for word in wanted]
    texts = [word.text for word in words]
    yield from (at for at in range(len(texts) - len(row) + 1) if row and texts[at : at + len(row)] == row)


def gives_words(answer: str, reference: str, *, question: str, references: Sequence[str]) -> bool:
    """Whether an answer gives a reference in a script with spaces.

    Where the reference stands in a longer one of `references`, that one's place is looked at: in `two years or more`
    the reference `two` is as doubtful as `two years`.
    """
    wanted, words, asked = map(_words, (reference, answer, question))
    places = list(_places(wanted, words))
    if not places or all(_says_nothing(word.text) for word in wanted):
        return False
    if next(_places(wanted, asked), None) is not None and places[0] != 0:
        return False
    others = [_words(other) for other in references]
    wider = [(len(other), offset, set(_places(other, words))) for other in others for offset in _places(wanted, other)]
    negated = any(word.text in _NEGATIONS for word in asked[:_ASKED])
    entries = {names_only: _entries(words, names_only=names_only) for names_only in (True, False)}
    for place in places:
        spans = [(place - offset, place - offset + size) for size, offset, at in wider if place - offset in at]
        start, end = max(spans, key=lambda span: span[1] - span[0])
        denied = not negated and _is_denied(words, start, end)
        if not denied and not _is_one_of_several(words, start, end, entries):
            return True
    return False


def _says_nothing(word: str) -> bool:
    return word in _FUNCTION_WORDS or (len(word) == 1 and not word.isdigit())


def _is_denied(words: Sequence[_Word], start: int, end: int) -> bool:
    before: list[str] = []
    for place in range(start - 1, max(-1, start - 1 - _REACH), -1):
        word = words[place]
        if word.pauses or (word.text in _TURNS and (place == 0 or words[place - 1].text not in _NEGATIONS)):
            break
        before.insert(0, word.text)
    if any(word in _NEGATIONS for word in before) or _INSTEAD.search(" ".join(before)):
        return True
    if end and words[end - 1].pauses:
        return False
    return _DENIALS.match(" ".join(word.text for word in words[end : end + 2])) is not None


def _is_one_of_several(
    words: Sequence[_Word], start: int, end: int, entries: Mapping[bool, Collection[tuple[str, ...]]]
) -> bool:
    wanted = words[start:end]
    before = words[start - 1].text if start else ""
    after = words[end].text if end < len(words) else ""
    if before in _OR or after in _OR:
        return True
    if all(_DIGITS.fullmatch(word.text) for word in wanted):
        beyond = words[end + 1].text if end + 1 < len(words) else ""
        ahead = words[start - 2].text if start >= 2 else ""
        if after in _SCALES or (after in _RANGE and beyond.isdigit()) or (before in _RANGE and ahead.isdigit()):
            return True
    # Beside a name only names are entries: `Otto, an engineer, built it` is no list.
    return tuple(word.text for word in wanted) in entries[wanted[0].is_name and words[0].is_name]


def _entries(words: Sequence[_Word], *, names_only: bool) -> set[tuple[str, ...]]:
    """The entries of an answer that is a list of short ones as a whole, else none.

    Two entries are a list where `and` joins them; after a comma the second may describe the first.
    """
    entries: list[list[_Word]] = [[]]
    joined = any(word.text in _AND for word in words)
    for word in words:
        if word.text not in _AND:
            entries[-1].append(word)
        if word.pauses or word.text in _AND:
            entries.append([])
    alike = [entry for entry in entries if entry and (entry[0].is_name or not names_only)]
    if len(alike) < (2 if joined else 3) or any(len(entry) > _ITEM for entry in entries):
        return set()
    return {tuple(word.text for word in entry) for entry in alike}
