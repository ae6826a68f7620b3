"""Task `niah`: one needle in a haystack, a fresh one for every sample.

Kamradt's test (2023) in the form of the Gemini 1.5 report (Gemini Team 2024, arXiv:2403.05530): a city
and a number that vary from query to query are hidden at a depth of an unrelated text, and the model is
asked for that city's number. Scored 1 where the number stands in the answer, else 0 with a tag.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records import Generation, Sample, Score
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import Fraction, NonNegativeInt, PositiveInt, settings
from contextcliff.tasks.cities import CITIES
from contextcliff.tasks.haystack import Haystack, prepare
from contextcliff.tasks.refusal import is_refusal
from contextcliff.tasks.task import Materials, Room

_DIGITS = 7
# A number as it is written, thousands separators included; a longer or a decimal number is another number.
_NUMBER = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:[,\u2009\u202f ]\d{3})+|\d+)(?![\d]|[.,]\d)")


@settings
class Needle:
    """What is hidden and what is asked; both name `{city}`, the text also `{number}`."""

    text: str = "The special magic {city} number is: {number}"
    question: str = "What is the special magic {city} number?"

    def __post_init__(self) -> None:
        for key, template, fields in (
            ("text", self.text, ("{city}", "{number}")),
            ("question", self.question, ("{city}",)),
        ):
            missing = [field for field in fields if field not in template]
            if missing:
                raise ValueError(f"task.needle.{key}={template!r}: {' and '.join(missing)} must stand in it")


@settings
class Niah:
    """A grid of lengths and depths with `trials` samples a cell."""

    lengths: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    """Prompt lengths in tokens, chat template and question included."""
    depths: Annotated[tuple[Fraction, ...], Field(min_length=1)]
    """0 the start of the text, 1 its end."""
    trials: PositiveInt
    reserve_tokens: NonNegativeInt = 200
    """Kept free below the window."""
    instruction: str
    """Stands before the text."""
    answer_format: str
    """Stands after the question."""
    needle: Needle = Needle()

    def __post_init__(self) -> None:
        for key, values in (("lengths", self.lengths), ("depths", self.depths)):
            twice = next((value for value in values if values.count(value) > 1), None)
            if twice is not None:
                raise ValueError(f"task.{key}: {twice} stands twice; use task.trials for more samples")

    @property
    def name(self) -> str:
        """Name in reports."""
        return "niah"

    @property
    def designed_lengths(self) -> bool:
        """Lengths are chosen."""
        return True

    @property
    def relative_by_default(self) -> bool:
        """A needle found or not has an absolute scale."""
        return False

    def identity(self) -> Mapping[str, object]:
        """Every key."""
        return {"task": self.name, **asdict(self)}

    def longest_context(self, room: Room) -> int:
        """The longest length asked for."""
        longest = max(self.lengths)
        reserve = max(self.reserve_tokens, room.answer_tokens)
        if longest > room.context_window - reserve:
            raise ConfigError(
                f"task.lengths: {longest:,} tokens do not fit into model.context_window={room.context_window:,} with "
                f"{reserve:,} kept free for the answer; the longest that fits is {room.context_window - reserve:,}"
            )
        return longest

    def build(self, materials: Materials) -> tuple[Sample, ...]:
        """One sample for each length, depth and trial."""
        haystack = prepare(materials.documents[0], tokens=max(self.lengths), tokenizer=materials.tokenizer)
        return tuple(
            self._sample(haystack, materials, context_tokens=length, depth=depth, trial=trial)
            for length in self.lengths
            for depth in self.depths
            for trial in range(self.trials)
        )

    def score(self, sample: Sample, generation: Generation) -> Score:
        """1 where the number stands in the answer as a whole number."""
        return score_number(
            generation.text,
            expected=sample.answers[0],
            foreign=sample.foreign_answers,
            cut_off=generation.finish_reason == "length",
        )

    def _sample(
        self, haystack: Haystack, materials: Materials, *, context_tokens: int, depth: float, trial: int
    ) -> Sample:
        document = haystack.document
        asked = digest_of(self.needle.text, self.needle.question, self.instruction, self.answer_format)
        coordinates = (materials.seed, self.name, asked, materials.text_identity, context_tokens, depth, trial)
        seed = seed_of(*coordinates)
        drawn = _draw(seed, document.text)
        question = self.needle.question.format(city=drawn.city)
        hidden = haystack.hide(
            _as_sentence(self.needle.text.format(city=drawn.city, number=drawn.number)),
            depth=depth,
            context_tokens=context_tokens,
            before=f"{self.instruction}\n\n",
            after=f"\n\n{question} {self.answer_format}",
        )
        return Sample(
            sample_id=f"niah-{context_tokens:06d}-d{depth:.3f}-t{trial:02d}-{digest_of(*coordinates)[:8]}",
            task=self.name,
            context_tokens=context_tokens,
            built_tokens=hidden.built_tokens,
            depth=depth,
            trial=trial,
            document_id=document.document_id,
            question=question,
            answers=(drawn.number,),
            recipe=hidden.recipe,
            seed=seed,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Drawn:
    city: str
    number: str


def _draw(seed: int, text: str) -> _Drawn:
    """A city and a number that the text does not hold already."""
    rng = random.Random(seed)
    while True:
        drawn = _Drawn(city=rng.choice(CITIES), number=str(rng.randrange(10 ** (_DIGITS - 1), 10**_DIGITS)))
        if drawn.number not in text and drawn.city not in text:
            return drawn


def _as_sentence(needle: str) -> str:
    return needle if needle.endswith((".", "!", "?", "。")) else f"{needle}."


def score_number(answer: str, *, expected: str, foreign: frozenset[str] | Sequence[str], cut_off: bool) -> Score:
    """Look for a number in an answer, as a whole number: 1234567 does not stand in 12345678.

    Tags, the first that holds: `empty` · `wrong_needle` (another sample's number) · `hallucination`
    (a number of the needle's length that nobody hid) · `incomplete` (cut off by the token limit) ·
    `refusal` · `missing` (none of these: no such number in the answer).
    """
    text = answer.strip()
    numbers = [re.sub(r"\D", "", match) for match in _NUMBER.findall(text)]
    if expected in numbers:
        return Score(value=1.0, prediction=expected, failure=None)
    others = [number for number in numbers if len(number) == len(expected)]
    prediction = others[0] if others else text
    if not text:
        failure = "empty"
    elif any(number in foreign for number in numbers):
        failure = "wrong_needle"
    elif others:
        failure = "hallucination"
    elif cut_off:
        failure = "incomplete"
    elif is_refusal(text):
        failure = "refusal"
    else:
        failure = "missing"
    return Score(value=0.0, prediction=prediction, failure=failure)
