"""What a needle hides: a number, a UUID, a coined word or a name, and how each is found in an answer."""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

from contextcliff.records.generation import Score
from contextcliff.tasks.answer_texts import is_refusal

_NAMES = """
    Accra Adelaide Algiers Alicante Amman Amsterdam Ankara Antwerp Athens Auckland Austin Baghdad
    Baku Baltimore Bamako Bandung Bangkok Barcelona Basel Beijing Beirut Belfast Belgrade Bergen
    Berlin Bilbao Birmingham Bogota Bologna Bordeaux Boston Brasilia Bratislava Bremen Brisbane
    Bristol Brno Brussels Bucharest Budapest Cairo Calgary Canberra Caracas Cardiff Casablanca
    Charlotte Chennai Chicago Cologne Copenhagen Cordoba Dakar Dallas Damascus Delhi Denver Detroit
    Dhaka Doha Dortmund Dresden Dubai Dublin Durban Edinburgh Florence Frankfurt Fukuoka Gdansk
    Geneva Genoa Ghent Glasgow Gothenburg Granada Graz Guadalajara Halifax Hamburg Hanoi Harare
    Havana Helsinki Houston Hyderabad Innsbruck Istanbul Jakarta Jerusalem Johannesburg Kabul
    Kampala Karachi Kathmandu Khartoum Kigali Kingston Kobe Krakow Kyoto Lagos Lahore Leeds Leipzig
    Lille Lima Linz Lisbon Liverpool Ljubljana London Luanda Lublin Lusaka Luxembourg Lyon Madrid
    Malaga Manchester Manila Maputo Marrakesh Marseille Medellin Melbourne Memphis Miami Milan
    Milwaukee Minsk Mombasa Monaco Montevideo Montreal Moscow Mumbai Munich Muscat Nagoya Nairobi
    Nantes Naples Nashville Nicosia Nuremberg Odessa Omaha Orlando Osaka Oslo Ottawa Palermo Paris
    Perth Philadelphia Phoenix Porto Prague Pretoria Quebec Quito Rabat Reykjavik Riga Rome
    Rotterdam Salzburg Santiago Sapporo Sarajevo Seattle Seoul Seville Shanghai Sheffield Singapore
    Skopje Sofia Stockholm Strasbourg Stuttgart Sydney Taipei Tallinn Tampa Tashkent Tbilisi Tehran
    Tirana Tokyo Toledo Toronto Toulouse Trieste Tripoli Tucson Tunis Turin Utrecht Valencia
    Vancouver Venice Verona Vienna Vilnius Warsaw Washington Wellington Winnipeg Wroclaw Yokohama
    Zagreb Zaragoza Zurich
"""
CITIES = tuple(_NAMES.split())


_DIGITS = 7
# A number as it is written, thousands separators included; a longer or a decimal number is another number.
_NUMBER = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:[,\u2009\u202f ]\d{3})+|\d+)(?![\d]|[.,]\d)")
_UUID = re.compile(r"(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-z])")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ONSETS = tuple("b br d dr f fl g gl k kr l m n p pl r s sk t tr v z".split())  # noqa: SIM905
_RIMES = tuple("a an ar e el en i im in o ol on or u um un".split())  # noqa: SIM905


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueForm:
    """A kind of value.

    `draw` makes one. `found` lists the values of this kind that stand in an answer, whole: 1234567 does not stand
    in 12345678. `telling` is whether any value of this kind in an answer must have been taken for the needle's, as
    a seven-digit number must and a word need not.
    """

    draw: Callable[[random.Random], str]
    found: Callable[[str], list[str]]
    telling: bool


def _numbers(text: str) -> list[str]:
    return [re.sub(r"\D", "", match) for match in _NUMBER.findall(normalize("NFKC", text))]


def _uuids(text: str) -> list[str]:
    return _UUID.findall(normalize("NFKC", text).lower())


def _words(text: str) -> list[str]:
    return [word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)]


def _coined(rng: random.Random) -> str:
    return "".join(rng.choice(_ONSETS) + rng.choice(_RIMES) for _ in range(3))


NUMBER = ValueForm(draw=lambda rng: str(rng.randrange(10 ** (_DIGITS - 1), 10**_DIGITS)), found=_numbers, telling=True)
UUID = ValueForm(draw=lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)), found=_uuids, telling=True)
WORD = ValueForm(draw=_coined, found=_words, telling=False)
FORMS: Mapping[str, ValueForm] = {"number": NUMBER, "uuid": UUID, "word": WORD}


def score_value(
    answer: str,
    *,
    expected: str,
    form: ValueForm,
    cut_off: bool,
    distractors: Collection[str] = (),
    foreign: Collection[str] = (),
) -> Score:
    """Look for a value in an answer: 1 where it stands there whole and no distractor beside it, else 0 with a tag.

    Tags, the first that holds: `empty` · `hedged` (the value and a distractor) · `wrong_needle` (a value that stands
    in the same context, or another sample's) · `hallucination` (a value of the needle's look that nobody hid) ·
    `incomplete` (cut off by the token limit) · `refusal` · `missing` (none of these: no such value in the answer).
    """
    text = answer.strip()
    values = form.found(text)
    wanted = expected.casefold()
    beside = _folded(frozenset(distractors))
    wrong = [value for value in values if value != wanted and value in beside]
    if wanted in values and not wrong:
        return Score(value=1.0, prediction=expected, failure=None)
    alike = [value for value in values if value != wanted and form.telling and len(value) == len(wanted)]
    elsewhere = _folded(frozenset(foreign))
    mixed_up = wrong or [value for value in values if value != wanted and value in elsewhere]
    prediction = next(iter([*mixed_up, *alike]), text)
    if not text:
        failure = "empty"
    elif wanted in values:
        failure = "hedged"
    elif mixed_up:
        failure = "wrong_needle"
    elif alike:
        failure = "hallucination"
    else:
        failure = tag_without_value(text, cut_off=cut_off)
    return Score(value=0.0, prediction=prediction, failure=failure)


@lru_cache(maxsize=8)
def _folded(values: frozenset[str]) -> frozenset[str]:
    """Of ten thousand samples each is compared with the answers of all."""
    return frozenset(value.casefold() for value in values)


def tag_without_value(text: str, *, cut_off: bool) -> str:
    """Why an answer holds nothing of what was asked: `empty`, `incomplete`, `refusal` or `missing`."""
    if not text:
        return "empty"
    if cut_off:
        return "incomplete"
    return "refusal" if is_refusal(text) else "missing"
