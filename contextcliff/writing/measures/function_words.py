"""English function words: the closed word classes."""

from __future__ import annotations

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
