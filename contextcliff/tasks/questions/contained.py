"""Whether an answer gives an accepted answer among further words: `Otto Lindqvist built it, the story says`.

Words are compared as SQuAD normalises them (lower case, no ASCII punctuation, no English articles), whole and in a
row. What stands in an answer is not always what it says, so a reference does not count

- next to a negation (`not Paris`, `Paris is not`), unless the question asks by one (`Who did not come?`);
- as one of several candidates (`Paris or London`, `Paris, London, Rome`), or as the end of a range (`5 to 15`);
- in a clause that refuses (`the text does not say whether it was Otto`);
- where the question names it, unless the answer opens with it (`Which was older, the lamp or the bell?`);
- where it is a single letter or of function words alone (`a`, `he`); `yes` and `no` count at the opening only.

None of this knows what a sentence means: `the daughter of Otto` contains `Otto`. `said_in_words.py` looks into scripts
with spaces, `said_in_characters.py` into those without.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from contextcliff.tasks.answer_texts import is_refusal
from contextcliff.tasks.questions.said_in_characters import gives_characters
from contextcliff.tasks.questions.said_in_words import gives_words
from contextcliff.tasks.questions.squad_scoring import has_unspaced, normalise

_YES = frozenset("yes no ja nein oui non sí si はい いいえ 是 不是".split())  # noqa: SIM905
_CLAUSES = re.compile(
    r"(?<=[.!?;])\s+|(?<=[。！？；])|\s+(?=(?:but|because|although|though|however|yet)\b)", re.IGNORECASE
)
_MENTIONS = re.compile(r"\bmention", re.IGNORECASE)
_ABBREVIATED = re.compile(r"\b(Mrs?|Ms|Dr|Prof|St|Rev|Capt|Col|Gen|Lt|Sgt|Hon|Jr|Sr|[A-Z])\.(?=\s)")
"""Words whose full stop ends no sentence."""


def contains_reference(answer: str, references: Sequence[str], *, question: str = "") -> bool:
    """Whether an answer gives one of the references, as a whole or among further words, and does not take it back."""
    said, asked, *accepted = map(_plain, (answer, question, *references))
    return any(_gives(said, wanted, asked, accepted) for wanted in accepted)


def _gives(said: str, wanted: str, asked: str, accepted: Sequence[str]) -> bool:
    opening = normalise(wanted)
    if not opening:
        return False
    if normalise(said) == opening:
        return True
    if opening in _YES:
        return re.match(rf"{re.escape(opening)}\s*[,.;:!、。，]", said.casefold()) is not None
    told = [said] if is_refusal(wanted) else _told(said)
    if has_unspaced(wanted):
        return any(gives_characters(clause, wanted, question=asked) for clause in told)
    return any(gives_words(clause, wanted, question=asked, references=accepted) for clause in told)


def _told(said: str) -> list[str]:
    """The answer, or the clauses of it that don't refuse, where one does."""
    clauses = [clause for clause in _CLAUSES.split(said) if clause]
    told = [clause for clause in clauses if not is_refusal(clause)]
    if len(told) == len(clauses):
        return [said]  # whole, since a reference may hold the mark at which sentences are split
    return [clause for clause in told if not _MENTIONS.search(clause)]


def _plain(text: str) -> str:
    """Compatibility forms resolved, straight apostrophes, a comma for a dash between clauses, single spaces."""
    plain = normalize("NFKC", text).replace("’", "'").replace("—", ", ")
    return _ABBREVIATED.sub(r"\1", " ".join(plain.split()))
