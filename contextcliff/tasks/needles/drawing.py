"""What needles are drawn from: keys and values that the text does not hold."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Literal

from contextcliff.tasks.needles.planter import SampleSite
from contextcliff.text.value_forms import FORMS, UUID, WORD

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
KeyKind = Literal["city", "word", "uuid"]
ValueKind = Literal["number", "uuid", "word"]
KEYS: Mapping[str, Callable[[random.Random], str]] = {
    "city": lambda rng: rng.choice(CITIES),
    "word": WORD.draw,
    "uuid": UUID.draw,
}
MOST_CITIES = len(CITIES) // 2
"""Needles of one context: beyond it too few cities are left for a text that names some itself."""
_UUID_ANSWER_TOKENS = 128
"""Of one UUID, where the answer repeats a key that is one too; as many as RULER gives."""


def draw_pairs(
    site: SampleSite, rng: random.Random, *, count: int, key: KeyKind, value: ValueKind
) -> tuple[list[tuple[str, str]], int]:
    """`count` different keys with different values that the text does not hold, and how many it held."""
    drawn: dict[str, str] = {}
    redrawn = 0
    while len(drawn) < count:
        name, hidden = KEYS[key](rng), FORMS[value].draw(rng)
        if site.holds(name) or site.holds(hidden):
            redrawn += 1
        elif name not in drawn and hidden not in drawn.values():
            drawn[name] = hidden
    return list(drawn.items()), redrawn


def room_for(value: ValueKind) -> int | None:
    """Tokens of an answer with one value; None: what the sampling gives is enough."""
    return _UUID_ANSWER_TOKENS if value == "uuid" else None
