"""Answers to questions on texts: what a reply says, how close it is to the accepted answers, whether it gives one.

**Parsed.** As `json` the answer is that of an object with the key `answer`, a string or a number. A reply that is one
JSON value has to be that object. Around it there may be a code fence or sentences, as models like them, where it is the
only object of the reply: of two, neither is the answer. Further keys are ignored; an object with the same key twice is
not accepted. As `plain` it is the first line that says something, without quotes, emphasis, list marks and a leading
`Answer:`.

**Compared.** Exact match and token F1 as SQuAD counts them, and ROUGE-L: 0-1, and the best of the references counts.

**Contained.** A reference counts among further words (`Otto Lindqvist built it, the story says`) where it stands whole
and in a row, after SQuAD's normalisation (lower case, no ASCII punctuation, no English articles), but not

- right behind a negation or before one (`not Paris`, `Paris is not`), unless the question asks by one;
- beside an `or` (`Paris or London`);
- in a clause that refuses (`the text does not say whether it was Otto`);
- where the question names it, unless the answer opens with it (`Which was older, the lamp or the bell?`);
- where it is a single letter or a function word (`a`, `he`); `yes` and `no` count at the opening only.

None of this knows what a sentence means: `the daughter of Otto` contains `Otto`."""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Literal
from unicodedata import normalize

from contextcliff.tasks.values import is_refusal, plain
from contextcliff.text.words import combining_marks, common_subsequence_length

Format = Literal["json", "plain"]
MAX_REPLY_CHARACTERS = 32_768
"""A longer reply is no answer: JSON is not looked for in it, and of plain text the rest is left unread."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def parse_answer(reply: str, *, format: Format, whole: bool = False) -> str | None:
    """The answer of a reply, empty where it says nothing; None where it isn't in the form that was asked for. With
    `whole`, plain text is taken with all its lines (a summary has several)."""
    text = reply.strip("\ufeff \t\r\n")
    if format == "plain":
        lines = text[:MAX_REPLY_CHARACTERS].splitlines()
        said = (line.strip() for line in lines if not _EMPTY_LINE.fullmatch(line))
        return _bare("\n".join(said)) if whole else _line(lines)
    if len(text) > MAX_REPLY_CHARACTERS:
        return None
    if _TYPOGRAPHIC_OBJECT.search(text) and not _OBJECT.search(text):
        text = text.translate(_STRAIGHT_QUOTES)
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        value = _only_object(text)
    answer = value.get("answer") if isinstance(value, dict) else None
    # Half a surrogate pair, escaped, is valid JSON and could not be written to a file.
    return answer.encode("utf-8", "replace").decode().strip() if isinstance(answer, str) else None


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    by_key = dict(pairs)
    if len(by_key) < len(pairs):
        raise ValueError("a key stands twice")
    return by_key


# Numbers stay as they were written: 1.50 is not 1.5, and a thousand digits are no work. `int` refuses NaN.
_DECODER = json.JSONDecoder(object_pairs_hook=_each_key_once, parse_int=str, parse_float=str, parse_constant=int)
# What begins like an object was meant as one: the search ends at the first that fails, so that it is linear.
_OBJECT = re.compile(r'\{\s*["}]')
_STRAIGHT_QUOTES = str.maketrans("“”„‟＂", '"""""')
_TYPOGRAPHIC_OBJECT = re.compile(r"\{\s*[“”„‟＂]")


def _only_object(text: str) -> object:
    found: object = None
    place = 0
    while match := _OBJECT.search(text, place):
        try:
            value, place = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            return None
        if found is not None:
            return None
        found = value
    return found


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


def _line(lines: Sequence[str]) -> str:
    announced = ""
    for line in lines:
        bare = "" if _EMPTY_LINE.fullmatch(line) else _bare(line)
        if bare and not bare.endswith((":", "：")):
            return bare
        announced = announced or bare
    return announced


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


_LETTER = re.compile(r"[(\[]?([A-Z])(?:[)\].:：、]{1,2}\s*|\s+[-–—]\s+|$)(.*)", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(
    r"^(?:the\s)?(?:correct\s|right\s|best\s)?(?:option|choice|answer)\s(?:is\s)?(?=[(\[]?[A-Z]\b)", re.IGNORECASE
)
_SECOND_LETTER = re.compile(r"\([A-Z]\)|(?:^|\s)(?:or|and|oder|und|ou|et|o|y)\s+\(?[A-Z]\b(?!\s+[a-z])")


def chosen_letter(answer: str, choices: Sequence[str]) -> str | None:
    """Which of the choices (26 at most) an answer takes, by its letter; None where that isn't one of them, or several.

    A letter stands alone, in brackets, or before its text (`B`, `(B)`, `B. text`); without one, the answer has to be
    the full text of exactly one choice. A letter with the text of another choice takes neither."""
    said = _NAMED.sub("", _bare(normalize("NFKC", answer)), count=1)
    whole = _comparable(said)
    texts = dict(zip(LETTERS, map(_comparable, choices), strict=False))
    same = [letter for letter, text in texts.items() if text and whole in (text, f"{letter.lower()} {text}")]
    by_text = same[0] if len(same) == 1 else None
    found = _LETTER.fullmatch(said)
    if found is None or (own := found[1].upper()) not in texts:
        return by_text
    if by_text not in (None, own) and found[2]:
        return by_text  # a choice that itself begins like "A. Lincoln"
    rest = _comparable(found[2])
    if rest in ("", texts[own]):
        return own
    return None if rest in texts.values() or _SECOND_LETTER.search(found[2]) else own


def _comparable(text: str) -> str:
    return plain(text).rstrip(".。 ")


# ---------------------------------------------------------------- how close it is

Metric = Callable[[str, str], float]

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Characters of scripts without spaces between words, for the inside of a regular expression's brackets."""
_ANY_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(rf"[{UNSPACED}]|[^{UNSPACED}]+")
_WIDE_MARKS = str.maketrans("", "", "。、，．！？：；・「」『』（）【】《》〈〉〜…")
_POLITE_END = re.compile(r"(?:です|でした|である)$")


def has_unspaced(text: str) -> bool:
    return _ANY_UNSPACED.search(text) is not None


def normalise(text: str) -> str:
    """A text as SQuAD v1.1 compares it: lower case, without ASCII punctuation, English articles and extra spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, reference: str) -> float:
    """1 where both are the same after `normalise`, else 0 (Rajpurkar et al. 2016, arXiv:1606.05250)."""
    return float(_compared(prediction) == _compared(reference))


def _compared(text: str) -> str:
    """`normalise`; in a script without spaces wide marks and a polite end (`です`) don't count either."""
    normal = normalise(text)
    return _POLITE_END.sub("", normal.translate(_WIDE_MARKS)) if has_unspaced(text) else normal


def token_f1(prediction: str, reference: str) -> float:
    """Harmonic mean of precision and recall over the words that both share, 0-1 (Rajpurkar et al. 2016).

    As in the official script, a text of which `normalise` leaves nothing has an F1 of 0, even where its exact match is
    1. In a script without spaces every character is a word."""
    predicted, accepted = (
        [word for run in _compared(text).split() for word in _WORD.findall(run)] for text in (prediction, reference)
    )
    return _f1((Counter(predicted) & Counter(accepted)).total(), len(predicted), len(accepted))


def _f1(shared: int, predicted: int, accepted: int) -> float:
    if shared == 0:
        return 0.0
    precision, recall = shared / predicted, shared / accepted
    return 2 * precision * recall / (precision + recall)


def rouge_l(prediction: str, reference: str) -> float:
    """ROUGE-L F: harmonic mean of the longest common subsequence's share of both texts, 0-1 (Lin 2004).

    On ASCII text it is the figure of Google's `rouge-score` without a stemmer; that library's tokenizer drops all other
    letters, so `words` takes its place."""
    predicted, accepted = words(prediction), words(reference)
    return _f1(common_subsequence_length(predicted, accepted), len(predicted), len(accepted))


def best(metric: Metric, prediction: str, references: Sequence[str]) -> float:
    """The highest value of the metric over the references. Raises `ValueError` without references."""
    return max(metric(prediction, reference) for reference in references)


def runs(text: str) -> Iterator[str]:
    """The stretches of letters, their marks and digits in a text, case-folded and in compatibility form (NFKC)."""
    return (match.group() for match in _run().finditer(normalize("NFKC", text).casefold().replace("_", " ")))


@cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"[\w{combining_marks()}]+")


def words(text: str) -> list[str]:
    """The words of a text: its `runs`; in a script without spaces every character is a word."""
    return [word for run in runs(text) for word in _WORD.findall(run)]


# ---------------------------------------------------------------- whether it gives a reference

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
        edges = (clause[start - 1 : start + 1] if start else "", clause[end - 1 : end + 1])
        is_whole = may_be_inside or not any(script.fullmatch(edge) for edge in edges for script in _SCRIPTS)
        if is_whole and (negated or not (_TAKEN_BACK_AHEAD.search(ahead) or _TAKEN_BACK_BEHIND.match(behind))):
            return True
    return False


def _told(said: str) -> list[str]:
    clauses = [clause for clause in _CLAUSES.split(said) if clause]
    told = [clause for clause in clauses if not is_refusal(clause)]
    if len(told) == len(clauses):
        return [said]  # whole, since a reference may hold the mark at which sentences are split
    return [clause for clause in told if not _MENTIONS.search(clause)]


def _plain(text: str) -> str:
    """Compatibility forms resolved, straight apostrophes, no quotation marks, a comma for a dash, single spaces."""
    plain = normalize("NFKC", text).translate(_MARKS)
    return _ABBREVIATED.sub(r"\1", " ".join(plain.split()))
