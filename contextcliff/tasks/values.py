"""What an answer is worth in which values are asked for, what stands in it in any script, and whether it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from unicodedata import east_asian_width, normalize

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.tasks.task import ScoringContext
from contextcliff.text.value_forms import ValueForm
from contextcliff.text.words import as_typed


def score_value(
    sample: Sample, generation: Generation, context: ScoringContext, form: ValueForm, *, may_hedge: bool = False
) -> Score:
    """Look for the one value asked for: 1 where it stands whole in the answer and no distractor beside it, else 0.

    With `may_hedge` a distractor beside it is allowed. Values of the question that an answer repeats are not counted.

    Tags, the first that holds: `empty` · `hedged` (the value and a distractor) · `wrong_needle` (a value that stands
    in the same context, or another sample's) · `hallucination` (a value of the needle's look that nobody hid) ·
    `incomplete` (cut off by the token limit) · `refusal` · `missing` (none of these: no such value in the answer).
    """
    text, expected = generation.text.strip(), sample.answers[0]
    wanted = expected.casefold()
    repeated = frozenset(form.found(sample.question)) - {wanted} if form.telling else frozenset()
    values = [value for value in form.found(text) if value not in repeated]
    others = [value for value in values if value != wanted]
    beside, elsewhere = _folded(frozenset(sample.reference.distractors)), _folded(context.foreign_answers)
    wrong = [value for value in others if value in beside]
    if wanted in values and (may_hedge or not wrong):
        return Score(value=1.0, prediction=expected, failure=None)
    mixed_up = wrong or [value for value in others if value in elsewhere]
    alike = [value for value in others if form.telling and len(value) == len(wanted)]
    if not text:
        failure = "empty"
    elif wanted in values:
        failure = "hedged"
    elif mixed_up:
        failure = "wrong_needle"
    else:
        failure = "hallucination" if alike else tag_without_value(generation)
    return Score(value=0.0, prediction=next(iter([*mixed_up, *alike]), text), failure=failure)


def score_share(sample: Sample, generation: Generation, stands: Callable[[str, str], bool]) -> Score:
    """The share of the accepted answers that stand in what is said, whatever else does; the prediction lists which.

    This is RULER's `string_match_all`, but for what `stands` (value, answer) counts: there it is any substring.
    Below 1 the tag is `partial`, and where nothing was found that of `tag_without_value`.
    """
    text = generation.text.strip()
    named = [wanted for wanted in sample.answers if stands(wanted, text)]
    value = len(named) / len(sample.answers)
    failure = None if value == 1.0 else "partial" if named else tag_without_value(generation)
    return Score(value=value, prediction="; ".join(named) or text, failure=failure)


def tag_without_value(generation: Generation) -> str:
    """Why an answer holds nothing of what was asked: `empty`, `incomplete`, `refusal` or `missing`."""
    text = generation.text.strip()
    if not text:
        return "empty"
    if generation.finish_reason == "length":
        return "incomplete"
    return "refusal" if is_refusal(text) else "missing"


@lru_cache(maxsize=8)
def _folded(values: frozenset[str]) -> frozenset[str]:
    """Of ten thousand samples each is compared with the answers of all."""
    return frozenset(value.casefold() for value in values)


def plain(text: str) -> str:
    """A text as it is compared: `as_typed`, lower case, single spaces, straight apostrophes."""
    return " ".join(as_typed(text).casefold().replace("’", "'").split())


def stands_in(phrase: str, answer: str) -> bool:
    """Whether `phrase` stands whole in `answer`: no letter or digit may touch it where its script sets spaces.

    A phrase without any sign stands nowhere.
    """
    wanted, text = plain(phrase), plain(answer)
    if not wanted:
        return False
    place = text.find(wanted)
    while place >= 0:
        end = place + len(wanted)
        if _is_free(text[place - 1 : place], wanted[0]) and _is_free(text[end : end + 1], wanted[-1]):
            return True
        place = text.find(wanted, place + 1)
    return False


def _is_free(neighbour: str, edge: str) -> bool:
    return not neighbour.isalnum() or east_asian_width(edge) in "WF" or not edge.isalnum()


_ENGLISH = r"""\b(?:
        i(?:'m|\ am)\ (?:sorry|unable|not\ able|afraid)
      | i\ (?:can(?:no|')t|could(?:n't|\ not)|do(?:n't|\ not)\ (?:know|have|see))
      | (?:is|was|are|were)(?:\ not|n't)\ (?:mentioned|provided|given|specified|stated|included|available|in\ the\ text)
      | (?:does|do|did)(?:\ not|n't)\ (?:mention|provide|contain|specify|state|say|include)
      | no\ (?:such\ |specific\ )?(?:mention|information|answer)
      | can(?:not|'t)\ (?:be\ )?(?:find|found|determined?)
      | unknown
    )\b"""
_GERMAN = r"""\b(?:
        (?:es\ )?tut\ mir\ leid
      | (?:ich\ weiß|weiß\ ich)(?:\ es|\ das|\ die\ antwort)?(?:\ leider)?\ nicht
      | (?:ich\ kann|kann\ ich)\ [^.!?]{0,60}\bnicht\ (?:beantworten|finden|sagen|bestimmen|entnehmen)
      | nicht\ (?:erwähnt|angegeben|genannt|enthalten|beantworte[nt]|bekannt)
      | geht\ [^.!?]{0,60}\bnicht\ hervor
      | (?:erwähnt|nennt|enthält|sagt)\ (?:es\ |das\ |dies\ |dazu\ )?(?:nicht|nichts|keine[nr]?)
      | keine\ (?:angaben?|informationen|information|antwort|auskunft)
      | unbekannt
    )\b"""
_FRENCH = r"""\b(?:
        (?:je\ suis\ )?désolée?s?
      | je\ (?:ne\ |n')(?:sais|peux|trouve|vois|connais|ai)\ (?:pas|aucune?)
      | (?:n'est|n'a|ne\ sont|n'ont|n'étai(?:en)?t)\ pas\ (?:été\ )?(?:mentionn|précis|indiqu|fourni|donn|spécifi)\w*
      | ne\ (?:(?:le\ )?(?:mentionn|précis|indiqu|fourni|contien|di|donn)\w*)\ (?:pas|rien|aucune?)
      | aucune\ (?:information|mention|réponse|indication)
      | inconnue?s?
    )\b"""
_SPANISH = r"""\b(?:
        lo\ siento
      | no\ (?:lo\ )?sé
      | no\ (?:puedo|encuentro|dispongo|tengo\ (?:suficiente\ )?información)
      | no\ se\ (?:menciona|indica|especifica|proporciona|dice|sabe|puede\ determinar|encuentra)n?
      | no\ (?:(?:lo\ )?menciona|contiene|indica|especifica|proporciona|consta)n?
      | no\ (?:está|es|fue)\ (?:mencionad|especificad|indicad|disponible)\w*
      | no\ hay\ (?:ninguna\ )?(?:información|mención|respuesta)
      | desconocid[oa]s?
    )\b"""
# 不明 also closes compounds (行方不明: a missing person), and 不知道 is said of others (他不知道).
_JAPANESE = r"""(?:
        (?:分|判|わ)か(?:りません|らない|りかねます)
      | (?:知り|存じ)ません
      | (?:お答え|回答|判断|特定|確認)(?:が|は|する\w{0,4})?(?:でき(?:ません|ない|かねます)|ことができ(?:ません|ない))
      | 答えられ(?:ません|ない)
      | (?:書かれて|記載されて|述べられて|言及されて|示されて|触れられて|含まれて)は?い?(?:ません|ない)
      | (?:記載|記述|言及|情報|説明)(?:が|は|も)(?:あり|見つかり|見当たり)ません
      | (?:記載|記述|言及|情報|説明)(?:が|は|も)な(?:い|く)
      | 申し訳(?:あり|ござい)ません
      | (?<![一-鿿])不明(?![一-鿿])
    )"""
_CHINESE = r"""(?:
        我(?:们|們)?(?:并|並)?不(?:知道|清楚|确定|確定|能回答)
      | ^(?:不知道|不清楚|不确定|不確定|未知)
      | (?:无法|無法|不能)(?:从[^。]{0,20}中?|從[^。]{0,20}中?)?(?:确定|確定|回答|得知|找到|判断|判斷|提供)
      | (?:没有|沒有|并未|並未|未)(?:明确|明確)?(?:提及|提到|说明|說明|提供|给出|給出|记载|記載|指出|包含)
      | (?:没有|沒有)(?:任何)?(?:相关|相關|足够|足夠)的?(?:信息|資訊|内容|內容|答案)
      | ^(?:很)?(?:抱歉|对不起|對不起)
    )"""
_LANGUAGES = (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _JAPANESE, _CHINESE)
_REFUSAL = re.compile("|".join(_LANGUAGES), re.IGNORECASE | re.VERBOSE)


def is_refusal(answer: str) -> bool:
    """Whether an answer says that the text doesn't tell, or that the model won't.

    In English, German, French, Spanish, Japanese and Chinese, by the phrases that models use for it. A phrase can
    be part of a true answer ("the sender is unknown"): ask only of an answer that is wrong.
    """
    return _REFUSAL.search(normalize("NFC", answer.strip()).replace("’", "'")) is not None
