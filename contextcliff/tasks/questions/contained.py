"""Whether an answer gives an accepted answer among further words: `Otto Lindqvist built it, the story says`.

Answer and reference are compared as SQuAD normalises them (lower case, no ASCII punctuation, no English articles), the
words of the reference whole and in a row. A reference does not count

- right behind a negation or before one (`not Paris`, `Paris is not`), unless the question asks by one;
- beside an `or` (`Paris or London`);
- in a clause that refuses (`the text does not say whether it was Otto`);
- where the question names it, unless the answer opens with it (`Which was older, the lamp or the bell?`);
- where it is a single letter or a function word (`a`, `he`); `yes` and `no` count at the opening only.

None of this knows what a sentence means: `the daughter of Otto` contains `Otto`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from contextcliff.tasks.questions.squad_scoring import UNSPACED, has_unspaced, normalise
from contextcliff.tasks.values import is_refusal

_YES = frozenset("yes no ja nein oui non sí si はい いいえ 是 不是".split())  # noqa: SIM905
_FUNCTION_WORDS = frozenset(
    """
    i you he she it we they me him her us them his hers its our ours your yours my mine their theirs this that these
    those who whom whose what which when where why how and or but nor not so as at by for from in into of on onto out
    over to under up upon with then than is am are was were be been being do does did has have had can could will would
    all any both each few more most other some such one none nothing
    """.split()  # noqa: SIM905
)
_CLAUSES = re.compile(
    r"(?<=[.!?;])\s+|(?<=[。！？；])|\s+(?=(?:but|because|although|though|however|yet)\b)", re.IGNORECASE
)
_MENTIONS = re.compile(r"\bmention", re.IGNORECASE)
_ABBREVIATED = re.compile(r"\b(Mrs?|Ms|Dr|Prof|St|Rev|Capt|Col|Gen|Lt|Sgt|Hon|Jr|Sr|[A-Z])\.(?=\s)")
"""Words whose full stop ends no sentence."""
_MARKS = str.maketrans({"’": "'", "—": ", ", "–": "-"} | dict.fromkeys("“”„‘«»「」『』…", " "))
_NOT = r"no|not|never|neither|nor|without|except|cannot|(?:is|was|are|were|do|does|did|has|had|wo|could|would)nt"
_NEGATION = re.compile(rf"\b(?:{_NOT})\b|ない|なかった|ません|不")
_AROUND = 64
"""Characters on either side in which an answer is taken back."""
_ASKED = 5
"""Words of a question among which a negation is what it asks by: `Which of the keepers was never seen?`"""
_TAKEN_BACK_AHEAD = re.compile(
    rf"\b(?:(?:{_NOT}|instead of|rather than|other than|nicht|kein\w*|pas|nunca)(?: because of| \w+)?"
    r"|or|oder|ou) $|(?:不是|并非|並非|または|あるいは|或|还是)$"
)
_TAKEN_BACK_BEHIND = re.compile(
    r" (?:(?:is|was|are|were) ?(?:not|nt|never)|or|oder|ou)\b"
    r"|以外|(?:では|じゃ)な|[^、。]{0,20}(?<!違い)(?<!しれ)(?:ない|なかった|ません(?:でした)?)(?:[、。]|$)"
    r"|か、?(?=[\u30a0-\u30ff\u4e00-\u9fff])|または|あるいは|或|还是|不是"
)
_EDGES = re.compile(rf"(?<=[{UNSPACED}])(?=[^{UNSPACED}\s])|(?<=[^{UNSPACED}\s])(?=[{UNSPACED}])")
_HIRAGANA = re.compile(r"[\u3041-\u309f]")
_SCRIPTS = tuple(map(re.compile, (r"[々〇\u3400-\u9fff]{2}", r"[\u30a0-\u30ff]{2}", r"(?a:\w){2}")))
"""Two characters of one script, between which no Japanese word ends."""


def contains_reference(answer: str, references: Sequence[str], *, question: str = "") -> bool:
    """Whether an answer gives one of the references, as a whole or among further words, and does not take it back."""
    said, asked = _plain(answer), normalise(_plain(question))
    accepted = {reference: normalise(reference) for reference in map(_plain, references)}
    # In `two years or more` the reference `two` is as doubtful as `two years`.
    longer = [words for words in accepted.values() if words in normalise(said)]
    return any(
        _gives(said, reference, asked)
        for reference, words in accepted.items()
        if not any(words in other for other in longer if other != words)
    )


def _gives(said: str, reference: str, asked: str) -> bool:
    wanted = normalise(reference)
    if not wanted or normalise(said) == wanted:
        return bool(wanted)
    if wanted in _YES:
        return re.match(rf"{re.escape(wanted)}\s*[,.;:!、。，]", said.casefold()) is not None
    if all(word in _FUNCTION_WORDS or re.fullmatch("[a-z]", word) for word in wanted.split()):
        return False
    clauses = [said] if is_refusal(reference) else _told(said)
    return any(_stands(normalise(clause), wanted, asked) for clause in clauses)


def _stands(clause: str, wanted: str, asked: str) -> bool:
    """Whether a clause has the wanted words in a row, or characters up to where the script changes."""
    unspaced = has_unspaced(wanted)
    if unspaced:
        clause, wanted, asked = ("".join(text.split()) for text in (clause, wanted, asked))
    else:
        clause, wanted, asked = (f" {_EDGES.sub(' ', text)} " for text in (clause, wanted, asked))
    if wanted in asked and not clause.startswith(wanted):
        return False
    negated = _NEGATION.search(" ".join(asked.split()[:_ASKED])) is not None
    may_be_inside = not unspaced or not _HIRAGANA.search(clause)
    for found in re.finditer(re.escape(wanted), clause):
        start, end = found.span()
        first, behind_from = (start, end) if unspaced else (start + 1, end - 1)
        ahead, behind = clause[max(0, first - _AROUND) : first], clause[behind_from : behind_from + _AROUND]
        is_whole = may_be_inside or _has_edges(clause, start, end)
        if is_whole and (negated or not (_TAKEN_BACK_AHEAD.search(ahead) or _TAKEN_BACK_BEHIND.match(behind))):
            return True
    return False


def _has_edges(said: str, start: int, end: int) -> bool:
    edges = (said[start - 1 : start + 1] if start else "", said[end - 1 : end + 1])
    return not any(script.fullmatch(edge) for edge in edges for script in _SCRIPTS)


def _told(said: str) -> list[str]:
    """The answer, or the clauses of it that don't refuse, where one does."""
    clauses = [clause for clause in _CLAUSES.split(said) if clause]
    told = [clause for clause in clauses if not is_refusal(clause)]
    if len(told) == len(clauses):
        return [said]  # whole, since a reference may hold the mark at which sentences are split
    return [clause for clause in told if not _MENTIONS.search(clause)]


def _plain(text: str) -> str:
    """Compatibility forms resolved, straight apostrophes, no quotation marks, a comma for a dash, single spaces."""
    plain = normalize("NFKC", text).translate(_MARKS)
    return _ABBREVIATED.sub(r"\1", " ".join(plain.split()))
