"""Why an answer to a question on a text is wrong: exactly one tag, the first of this order that holds.

| | tag | holds where |
| --- | --- | --- |
| 1 | `empty` | nothing was said: a blank reply in either form, or a blank `answer` in JSON |
| 2 | `schema` | JSON was asked for, and the reply is none or lacks the key; so is an object that was cut off |
| 3 | `verbose` | right, but said in too many words: a reference stands in it, and it is no exact match (phrases only) |
| 4 | `refusal` | it says that the text doesn't tell, or that the model won't, and no reference says so too |
| 5 | `incomplete` | the token limit stopped the answer, or it ends in mid-sentence |
| 6 | `hallucination` | most content words that it adds to the question stand neither in the text nor in a reference |
| 7 | `drift` | far longer than the references; or a sentence without a content word of the question or of the text |
| 8 | `partial` | token F1 of 0.5 or more, with a content word of a reference (phrases only, again) |
| 9 | `wrong` | none of these: it is of the text, and not the answer |

`verbose` stands before all that judge words, since what is right stays so among apologies and inventions, and before
the end is reached. `answers.py` says what stands in an answer: a refusal that names the reference does not give it.

`false_refusal` is a mark beside the tag: the reply refuses, and the evidence was there. It is set on `refusal` and,
since a model that refuses seldom does it in JSON, on `schema`.

Content words are words of three letters and more that are no English function words, whatever holds a digit, and pairs
of characters in scripts that set no spaces. They are compared as written: an inflected form is another word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from contextcliff.tasks.questions.answers import UNSPACED, Format, runs, token_f1
from contextcliff.tasks.values import is_refusal

PARTIAL_F1 = 0.5
_FAR_LONGER = 5
_FAR_LONGER_CHARACTERS = 100
"""Far longer: over five times the longest reference, and a sentence beyond that."""
_SHORT = 5
"""Content words up to which an answer that touches nothing is an invented one, and no talk of something else."""
_DRESS = "\"'”’*_`.。 \n"
"""What may stand behind the last word of an answer."""
_OPENING = 300
"""A refusal shows in so many characters; further on, "was not given" is a sentence about the text."""

_FUNCTION_WORDS = frozenset(
    """
    the and but for nor not yet are was were has had have been being did does done can could may might must
    shall should will would this that these those there here where when which who whom whose what why how with
    from into onto upon about after before over under than then them they their theirs she her hers him his its
    our ours you your yours all any both each few more most other some such only own same too very just also
    because while during between through out off again once don didn doesn isn wasn weren
    """.split()  # noqa: SIM905
)
_PIECE = re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_MID_SENTENCE = re.compile(r"(?:[,;:、，；：–—(\[{„「『]|\w-|\s(?:the|a|an|and|or|but|of|because))\Z")


@lru_cache(maxsize=32)
def context_words_of(text: str) -> frozenset[str]:
    """The content words of a document: a second for 5 MB, hence kept for the questions that follow on the same."""
    words = content_words(text)
    # An answer of one character (犬) has no pair to be looked for by.
    single = {character for word in words if _UNSPACED.match(word) for character in word}
    return words | single


def content_words(text: str) -> frozenset[str]:
    """The words of a text that say something; numbers without the marks between thousands."""
    words: set[str] = set()
    for run in set(runs(_THOUSANDS.sub("", text))):
        for piece in _PIECE.findall(run):
            if _UNSPACED.match(piece):
                words.update(piece[place : place + 2] for place in range(max(1, len(piece) - 1)))
            elif (len(piece) > 2 and piece not in _FUNCTION_WORDS) or any(map(str.isdigit, piece)):
                words.add(piece)
    return frozenset(words)


def classify(
    reply: str,
    *,
    answer: str | None,
    question: str,
    references: Sequence[str],
    context_words: frozenset[str],
    finish_reason: str,
    format: Format,
    question_kind: str = "short",
    evidence_present: bool = True,
    contains_reference: bool = False,
) -> tuple[str, bool]:
    """The tag of a reply that is no exact match, by the order above, and whether it is a false refusal.

    `answer` is what was parsed from it, None where it isn't in the form that was asked for. `context_words` are those
    of the text; where they are empty it is not known, and nothing counts as invented.
    """
    if not reply.strip() or answer == "":
        return "empty", False
    if answer is None and format == "json":
        return "schema", evidence_present and _refuses(reply, references, question_kind)
    text = reply.strip() if answer is None else answer
    if contains_reference and question_kind == "short":
        return "verbose", False
    if _refuses(text, references, question_kind):
        return "refusal", evidence_present
    if (finish_reason == "length" and _is_at_the_end(text, reply)) or _MID_SENTENCE.search(text):
        return "incomplete", False
    return _tag_of_words(text, question, references, context_words, question_kind), False


def _is_at_the_end(text: str, reply: str) -> bool:
    """Whether the answer is the last that the reply says: else a limit has cut what follows the answer."""
    said, answered = (words.rstrip(_DRESS).rpartition("\n")[-1] for words in (reply, text))
    return said.endswith(answered)


def _refuses(text: str, references: Sequence[str], question_kind: str) -> bool:
    if question_kind == "summary" and len(text) > _OPENING:
        return False
    said_so_too = any(len(reference) <= _OPENING and is_refusal(reference) for reference in references)
    return is_refusal(text[:_OPENING]) and not said_so_too


def _tag_of_words(
    text: str, question: str, references: Sequence[str], context: frozenset[str], question_kind: str
) -> str:
    said, asked = content_words(text), content_words(question)
    added = said - asked
    invented = added - context - content_words("\n".join(references)) if context else frozenset()
    elsewhere = len(said) > _SHORT and said.isdisjoint(asked) and said.isdisjoint(context)
    if 2 * len(invented) > len(added) and not elsewhere:
        return "hallucination"
    longest = max(map(len, references), default=0)
    if elsewhere or len(text) > _FAR_LONGER * longest + _FAR_LONGER_CHARACTERS:
        return "drift"
    if question_kind == "short" and any(
        token_f1(text, one) >= PARTIAL_F1 and not said.isdisjoint(content_words(one)) for one in references
    ):
        return "partial"
    return "wrong"
