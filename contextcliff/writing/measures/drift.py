"""Whether a text stays in its language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from contextcliff.writing.measures.words import Prose

_ARTICLES = "a an the"
_DETERMINERS = """
this that these those each every either neither some any no both all half such another other others enough several
few fewer little less least many more most much own same what which whose whatever whichever
"""
_PRONOUNS = """
i me my mine myself thou thee thy thine thyself ye we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
who whom whoever whomever one oneself none nothing something anything everything
nobody somebody anybody everybody someone anyone everyone
"""
_PREPOSITIONS = """
aboard about above across after against along alongside amid amidst among amongst around as at atop before behind below
beneath beside besides between betwixt beyond but by concerning despite down during except for from in inside into like
near of off on onto opposite out outside over past per regarding round save since than through throughout till to
toward towards under underneath unlike until unto up upon versus via with within without
"""
_CONJUNCTIONS = "and or nor so yet because although though albeit if unless lest whereas whereby while whilst whether"
_AUXILIARIES = """
am is are was were be been being do does did done doing have has had having hath doth art wast wert
can cannot could may might must shall shalt should will wilt would ought need dare used
"""
_PARTICLES = """
not n't there here then when where why how whence whither hence thence thither hither wherever whenever however
too very also only just even again ever never always away back
"""
FUNCTION_WORDS = frozenset(
    " ".join((_ARTICLES, _DETERMINERS, _PRONOUNS, _PREPOSITIONS, _CONJUNCTIONS, _AUXILIARIES, _PARTICLES)).split()
)
"""Articles, determiners, pronouns, prepositions, conjunctions, auxiliaries, particles and the adverbs like them."""
_IRREGULAR = frozenset({"can't", "won't", "shan't", "ain't", "let's", "'tis", "tis", "twas"})


def is_function_word(word: str) -> bool:
    """Whether a word in lower case is a function word; contractions (`he'll`) count by their first part."""
    if word in FUNCTION_WORDS or word in _IRREGULAR:
        return True
    stem = word.removesuffix("n't") if word.endswith("n't") else word.partition("'")[0]
    return stem != word and stem in FUNCTION_WORDS


STRETCH = 200
"""Characters of a stretch whose language is identified; in 5,068 stretches of *Little Women* it is always right."""

_KIN = (
    {"ar", "ary", "arz"},
    {"bs", "hr", "sr"},
    {"en", "pcm"},
    {"id", "ms"},
    {"ku", "sdh"},
    {"nb", "nn", "no"},
    {"uz", "uzs"},
    {"wuu", "yue", "zh"},
)
"""Languages that cannot be told apart in a stretch of text, or that have several codes."""


def language_drift(prose: Prose) -> float | None:
    """Share of a text's characters that are in another language than the document's, 0-1.

    `py3langid` identifies the language of stretches of whole sentences of at least 200 characters. None for a shorter
    text, and for a language that it does not know.
    """
    own = next((kin for kin in _KIN if prose.language in kin), {prose.language})
    stretches = list(_stretches(prose.sentences))
    if not stretches or own.isdisjoint(_identifier().labels):
        return None
    drifted = sum(len(stretch) for stretch in stretches if _identifier().classify(stretch)[0] not in own)
    return drifted / sum(map(len, stretches))


def _stretches(sentences: Iterable[str]) -> Iterator[str]:
    """Sentences joined until they are long enough; the rest at the end is added to the last stretch."""
    complete, current = "", ""
    for sentence in sentences:
        current = f"{current} {sentence}".lstrip()
        if len(current) >= STRETCH:
            if complete:
                yield complete
            complete, current = current, ""
    if complete:
        yield f"{complete} {current}".rstrip()


@cache
def _identifier() -> Any:
    """An instance of the project's own: other code could restrict the languages of the package's global one."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # it takes half a second to load

    return LanguageIdentifier.from_model_file(MODEL_FILE)
