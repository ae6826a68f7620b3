"""Whether an answer gives an accepted answer among further words: `Otto Lindqvist built it, the story says`.

Words are compared as SQuAD normalises them (lower case, no ASCII punctuation, no English articles), whole and in a
row. What stands in an answer is not always what it says, so a reference does not count

- next to a negation (`not Paris`, `Paris is not`), unless the question has one too;
- as one of several candidates (`Paris or London`, `Paris, London, Rome`), or as the end of a range (`5 to 15`);
- in a clause that refuses (`the text does not say whether it was Otto`);
- where the question names it, unless the answer opens with it (`Which was older, the lamp or the bell?`);
- where it is a single letter or of function words alone (`a`, `he`); `yes` and `no` count at the opening only.

Scripts without spaces have no edges of words: a Japanese reference ends where the script changes (京都 does not stand
in 東京都), and a Chinese one needs a sentence round it. None of this knows what a sentence means: `the daughter of
Otto` contains `Otto`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from unicodedata import combining, normalize

from contextcliff.tasks.answer_texts import is_refusal
from contextcliff.tasks.questions.squad_scoring import UNSPACED, normalise

_FUNCTION_WORDS = frozenset(
    """
    i you he she it we they me him her us them his hers its our ours your yours my mine their theirs this that these
    those who whom whose which what when where why how and or but nor not no yes if so as at by for from in into of on
    onto out over to under up upon with without than then is am are was were be been being do does did has have had
    can could will would shall should may might must all any both each few more most other some such one none nothing
    """.split()  # noqa: SIM905
)
_YES = frozenset("yes no ja nein oui non sí si はい いいえ 是 不是".split())  # noqa: SIM905
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
_OR = frozenset("or oder ou o nor either".split())  # noqa: SIM905
_AND = frozenset("and und et y e".split())  # noqa: SIM905
_RANGE = frozenset("to and or bis und à et a y".split())  # noqa: SIM905
_SCALES = frozenset("hundred thousand million billion dozen percent".split())  # noqa: SIM905
_ITEM = 4
"""Words of an entry of a list, at most."""
_CLAUSES = re.compile(
    r"(?<=[.!?;])\s+|(?<=[。！？；])|\s+(?=(?:but|because|although|though|however|yet)\b)", re.IGNORECASE
)
_MENTIONS = re.compile(r"\bmention", re.IGNORECASE)
_EDGES = re.compile(rf"(?<=[{UNSPACED}])(?=[^{UNSPACED}\s])|(?<=[^{UNSPACED}\s])(?=[{UNSPACED}])")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_PAUSE = re.compile(r"[,;:.!?()\[\]、。–][\"'”’»」]*$")
_DIGITS = re.compile(r"\d+")


def contains_reference(answer: str, references: Sequence[str], *, question: str = "") -> bool:
    """Whether an answer gives one of the references, as a whole or among further words, and does not take it back."""
    return any(_gives(answer, reference, question) for reference in references)


def _gives(answer: str, reference: str, question: str) -> bool:
    said, wanted = map(_plain, (answer, reference))
    if not normalise(wanted):
        return False
    if normalise(said) == normalise(wanted):
        return True
    if normalise(wanted) in _YES:
        return re.match(rf"{re.escape(normalise(wanted))}\s*[,.;:!、。，]", said.casefold()) is not None
    clauses = [clause for clause in _CLAUSES.split(said) if clause]
    told = clauses if is_refusal(wanted) else [clause for clause in clauses if not is_refusal(clause)]
    if len(told) < len(clauses):
        told = [clause for clause in told if not _MENTIONS.search(clause)]
    has_edges = _UNSPACED.search(wanted) is None
    gives = _gives_in_words if has_edges else _gives_in_characters
    named = has_edges and any(True for _ in _places(_words(wanted), _words(_plain(question))))
    if named and not _opens_with(_words(said), _words(wanted)):
        return False
    # A reference may hold the mark at which its sentence is split.
    return gives(said, wanted, question) if told == clauses else any(gives(c, wanted, question) for c in told)


def _plain(text: str) -> str:
    """Compatibility forms resolved, straight apostrophes, a comma for a dash between clauses, single spaces."""
    return " ".join(normalize("NFKC", text).replace("’", "'").replace("—", ", ").split())


# ---------------------------------------------------------------- scripts with spaces


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


def _opens_with(words: Sequence[_Word], wanted: Sequence[_Word]) -> bool:
    return next(_places(wanted, words), None) == 0


def _gives_in_words(answer: str, reference: str, question: str) -> bool:
    wanted, words = _words(reference), _words(answer)
    if all(_says_nothing(word.text) for word in wanted):
        return False
    negated = any(word.text in _NEGATIONS for word in _words(_plain(question)))
    return any(
        not (not negated and _is_denied(words, at, at + len(wanted))) and not _is_one_of_several(words, at, wanted)
        for at in _places(wanted, words)
    )


def _says_nothing(word: str) -> bool:
    return word in _FUNCTION_WORDS or (len(word) == 1 and not word.isdigit() and not _UNSPACED.match(word))


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


def _is_one_of_several(words: Sequence[_Word], start: int, wanted: Sequence[_Word]) -> bool:
    end = start + len(wanted)
    before = words[start - 1].text if start else ""
    after = words[end].text if end < len(words) else ""
    if before in _OR or after in _OR:
        return True
    if all(_DIGITS.fullmatch(word.text) for word in wanted):
        beyond = words[end + 1].text if end + 1 < len(words) else ""
        ahead = words[start - 2].text if start >= 2 else ""
        if after in _SCALES or (after in _RANGE and beyond.isdigit()) or (before in _RANGE and ahead.isdigit()):
            return True
    return _is_entry_of_list(words, wanted)


def _is_entry_of_list(words: Sequence[_Word], wanted: Sequence[_Word]) -> bool:
    """Whether the whole answer is a list of short entries, and the reference no more than one of them.

    Two entries are a list where `and` joins them; after a comma the second may describe the first. Beside a name only
    names are entries: `Otto, an engineer, built it` is no list.
    """
    entries: list[list[_Word]] = [[]]
    joined = any(word.text in _AND for word in words)
    for word in words:
        if word.text not in _AND:
            entries[-1].append(word)
        if word.pauses or word.text in _AND:
            entries.append([])
    beside_a_name = wanted[0].is_name and words[0].is_name
    alike = [entry for entry in entries if entry and (entry[0].is_name or not beside_a_name)]
    texts = [[word.text for word in entry] for entry in alike]
    return (
        (len(alike) > 2 or (len(alike) == 2 and joined))
        and [word.text for word in wanted] in texts
        and all(len(entry) <= _ITEM for entry in entries)
    )


# ---------------------------------------------------------------- scripts without spaces

_HAN = re.compile(r"[々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HIRAGANA = re.compile(r"[\u3041-\u309f]")
_KATAKANA = re.compile(r"[\u30a0-\u30ff\u31f0-\u31ff]")
_DENIED_BEHIND = re.compile(
    r"以外|とは(?:限|言え|いえ)|(?:也|都)?不是|(?:では|じゃ|で)な[いく]|[^、。]*(?<!違い)(?<!しれ)(?:ない|なかった|ません(?:でした)?)"
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
_SENTENCE = 3
"""Chinese characters beside a reference that make a sentence of a run of them, and no longer name."""


def _gives_in_characters(answer: str, reference: str, question: str) -> bool:
    said, wanted = ("".join(normalise(text).split()).rstrip("。") for text in (answer, reference))
    if len(wanted) == 1 and _HIRAGANA.match(wanted):
        return False
    asked = "".join(normalise(_plain(question)).split())
    if wanted in asked and not said.startswith(wanted):
        return False
    negated = _NEGATED.search(asked) is not None
    entries = [entry for entry in _LISTED.split(_POLITE.sub("", said)) if entry]
    if len(entries) > 1 and wanted in entries and not any(_HIRAGANA.search(entry) for entry in entries):
        return False
    return any(
        _has_edges(said, at, at + len(wanted))
        and (negated or not (_DENIED_BEHIND.match(said[at + len(wanted) :]) or _DENIED_AHEAD.search(said[:at])))
        and not _OTHERS_BEHIND.match(said[at + len(wanted) :])
        and not _OTHERS_AHEAD.search(said[:at])
        for at in _character_places(wanted, said)
    )


def _character_places(wanted: str, said: str) -> Iterator[int]:
    at = said.find(wanted)
    while at >= 0:
        yield at
        at = said.find(wanted, at + 1)


def _has_edges(said: str, start: int, end: int) -> bool:
    """Whether the script changes at both ends of this part; between two hiragana there is no telling."""
    if combining(said[end : end + 1] or " "):
        return False
    ahead, behind = said[start - 1 : start], said[end : end + 1]
    if _is_edge(ahead, said[start]) and _is_edge(said[end - 1], behind):
        return True
    # Chinese is written in one script: a longer run of it is a sentence, a shorter one may be a name.
    is_chinese = _HIRAGANA.search(said) is None and _KATAKANA.search(said) is None
    return is_chinese and end - start > 1 and len(said) >= end - start + _SENTENCE


def _is_edge(one: str, other: str) -> bool:
    if not one or not other:
        return True
    if any(script.match(one) and script.match(other) for script in (_HAN, _KATAKANA)):
        return False
    return not (one.isascii() and other.isascii() and one.isalnum() and other.isalnum())
