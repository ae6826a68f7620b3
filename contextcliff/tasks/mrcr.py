"""Task `mrcr`: return one of several pieces of writing that were asked for in the same words.

Multi-round co-reference resolution, after Vodrahalli et al. 2024 (Michelangelo, arXiv:2409.12640) and OpenAI's MRCR
(2025): a long conversation asks 2, 4 or 8 times for the same among other things; the last message asks for the k-th of
these pieces, with a random word before it. Scored by `difflib`'s ratio, and 0 without the word, as OpenAI grades it.
`docs/mrcr.md` has what differs."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from random import Random
from typing import Annotated, Literal

from contextcliff.errors import ConfigError
from contextcliff.records.generation import Generation, Score
from contextcliff.records.note import Note
from contextcliff.records.sample import Recipe, Reference, Sample, Words, render
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import PositiveInt, settings
from contextcliff.tasks.conversation import VARIANTS, Conversing, Piece, Placed, all_pieces, count, piece_at, turn_of
from contextcliff.tasks.grid import Depths, filled, naming, too_short
from contextcliff.tasks.task import (
    Cell,
    Maker,
    Materials,
    ScoringContext,
    Traits,
    control_of,
    distances,
    far_note,
    sample_at,
)
from contextcliff.tasks.values import is_refusal
from contextcliff.text.tokens import PLAIN_USER

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_PREFIX_SIGNS = string.ascii_letters + string.digits
_PREFIX_LENGTH = 10
_FEWEST_OTHERS = 3
_PREFIX_TOKENS = 16
_MISPLACED = 0.1
_SHARE_OF_ALL = 1.5


@settings
class Mrcr(Depths):
    """A grid of lengths and depths of the piece that is asked for; the trials ask for each of the needles in turn."""

    name = "mrcr"
    claim = Note("In a test of conversations {whether}the model earns {share} points in prompts of {lengths}")

    needles: Literal[2, 4, 8]
    max_tokens: PositiveInt
    request: Annotated[str, naming("{piece}")]
    question: Annotated[str, naming("{prefix}", "{ordinal}", "{piece}")]

    @property
    def traits(self) -> Traits:
        return replace(super().traits, takes_texts=False, graded=True)

    @property
    def turns(self) -> int:
        return self.needles

    def answer_tokens(self, context_tokens: int) -> int:  # noqa: ARG002 - pieces don't grow with the length
        return self.max_tokens

    def text_holds(self, materials: Materials) -> int:
        return _most_tokens(Conversing.of(materials.tokenizer, self.request))

    def maker(self, materials: Materials) -> ConversationMaker:
        conversing = Conversing.of(materials.tokenizer, self.request)
        reply = conversing.largest_reply + _PREFIX_TOKENS
        if self.max_tokens < reply:
            raise ConfigError(
                f"task.max_tokens={self.max_tokens}: a piece and the word before it take up to {reply} tokens; give "
                f"{reply} or more"
            )
        lengths = self.lengths_in(materials.context_budget)
        question = self.asked(Piece(kind="guidebook entry", topic="wheelbarrows", variant=0), 1, "x" * _PREFIX_LENGTH)
        alone = count(materials.tokenizer, Recipe(user=(Words(text=question),)))
        fewest = round(alone + self.needles * conversing.largest + _FEWEST_OTHERS * conversing.mean)
        if min(lengths) < fewest:
            raise too_short(min(lengths), fewest, lower="task.needles")
        most = _most_tokens(conversing)
        if max(lengths) > most:
            raise ConfigError(
                f"task.lengths: {max(lengths):,} is too long: all pieces together fill about {most:,} tokens; ask for "
                "shorter ones"
            )
        return ConversationMaker(task=self, materials=materials, conversing=conversing, shortest=min(lengths))

    def asked(self, piece: Piece, number: int, prefix: str) -> str:
        return filled(self.question, prefix=prefix, ordinal=_ORDINALS[number - 1], piece=piece.named)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        piece = sample.answers[0]
        prefix = sample.reference.reply.removesuffix(piece)
        following = _NEXT_TURN.search(generation.text)
        text = (generation.text if following is None else generation.text[: following.end(1)]).lstrip()
        said = text.strip()
        if not text.startswith(prefix):
            failure = "empty" if not said else "refusal" if is_refusal(said) else "no_prefix"
            return Score(value=0.0, prediction=said, failure=failure)
        copied = text.removeprefix(prefix)
        value, tag = copied_ratio(copied, piece), None
        if value < _WHOLE:
            nearest = max((copied_ratio(copied, other) for other in sample.reference.distractors), default=0.0)
            tag = "partial" if value >= _HALF else "missing"
            tag = "incomplete" if generation.finish_reason == "length" else tag
            tag = "wrong_needle" if nearest > value and nearest >= _HALF else tag
        return Score(value=value, prediction=said, failure=tag)


def _most_tokens(conversing: Conversing) -> int:
    return round(all_pieces() * conversing.mean / _SHARE_OF_ALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationMaker(Maker):
    task: Mrcr
    materials: Materials
    conversing: Conversing
    shortest: int
    misses: dict[str, float] = field(default_factory=dict)

    def make(self, at: Cell) -> Iterator[Sample]:
        task, (context_tokens, depth, trial) = self.task, at
        place = depth or 0.0
        asked = digest_of(task.needles, task.request, task.question)
        cell = (self.materials.seed, task.name, asked, context_tokens, place)
        seed = seed_of(*cell, trial)
        rng = Random(seed)
        first = piece_at(rng.randrange(all_pieces()))
        pieces = [replace(first, variant=variant) for variant in rng.sample(range(VARIANTS), task.needles)]
        number = 1 + (seed_of(*cell) + trial) % task.needles
        prefix = "".join(rng.choices(_PREFIX_SIGNS, k=_PREFIX_LENGTH))
        wanted, question = pieces[number - 1], task.asked(first, number, prefix)
        turns = tuple(turn_of(piece, task.request) for piece in pieces)
        placed = Placed(question=question, turns=turns, anchor=number - 1, depth=place)
        conversation = self.conversing.build(placed, context_tokens, rng, but=first)
        places, own = conversation.places, conversation.places[number - 1]
        sample = sample_at(
            task,
            (*cell, trial),
            at,
            built_tokens=conversation.tokens,
            document_id=f"conversation {seed:08x}",
            question=question,
            answers=(wanted.text(),),
            reference=Reference(
                distractors=tuple(other.text() for other in pieces if other != wanted), reply=f"{prefix}{wanted.text()}"
            ),
            recipe=conversation.recipe,
            metadata={
                "needles": task.needles,
                "asked": number,
                "asked_place_tokens": own,
                "nearest_needle_tokens": min(abs(own - other) for other in places if other != own),
                **distances(places),
            },
            answer_tokens=task.max_tokens,
        )
        self.misses[sample.sample_id] = abs(conversation.depth - place)
        yield sample
        if task.controls:
            first_asked = task.asked(wanted, 1, prefix)  # it is the first of its kind, where it stands alone
            alone = Recipe(turns=(turn_of(wanted, task.request),), user=(Words(text=first_asked),))
            ceiling = self._control(sample, "ceiling", alone, count(self.materials.tokenizer, alone))
            yield replace(ceiling, question=first_asked)
            rng = Random(seed_of(seed, "floor"))
            bare = self.conversing.build(Placed(question=question), self.shortest, rng, but=wanted)
            yield self._control(sample, "floor", bare.recipe, bare.tokens)

    def notes(self, sample_ids: Collection[str]) -> tuple[str, ...]:
        misses = [self.misses[sample_id] for sample_id in sample_ids if sample_id in self.misses]
        what = f"the piece that is asked for more than {_MISPLACED:g} of the conversation from its depth"
        why = "turns stay whole and the other needles stand around it; take longer contexts, or fewer needles"
        return far_note(misses, _MISPLACED, what, why)

    def _control(self, sample: Sample, kind: Literal["ceiling", "floor"], recipe: Recipe, tokens: int) -> Sample:
        return control_of(sample, kind, (kind, render(recipe, {}).sha256), recipe=recipe, tokens=tokens)


_TIMES_THE_PIECE = 8
"""Of an answer that is longer, the beginning alone is compared, since the time grows with both lengths."""
_WHOLE = 0.95
"""A ratio that a slip or two leave."""
_HALF = 0.5
_NEXT_TURN = re.compile(rf"(?<!\s)([^\S\n]*+)\n\s*+{re.escape(PLAIN_USER)}")


def copied_ratio(copied: str, piece: str) -> float:
    """`difflib`'s ratio of an answer and a piece, 0–1: twice the characters in matching blocks, over both lengths.
    Beyond eight times the piece only the lengths count; there the ratio is below 0.25 whatever follows."""
    most = _TIMES_THE_PIECE * len(piece)
    compared = copied[:most]
    ratio = SequenceMatcher(None, compared, piece).ratio()
    if len(copied) <= most:
        return ratio
    return ratio * (len(compared) + len(piece)) / (len(copied) + len(piece))
