"""One question at one place and length, before any model has answered it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from contextcliff.records.corpus import Document, Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """A literal piece of a prompt: instruction, needle, question."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A stretch of a document, `text[start:end]` in characters: a piece of a prompt by reference."""

    document_id: str
    start: int
    end: int


Pieces = tuple[Words | Passage, ...]
"""One message: its pieces, joined without anything between them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """An earlier round of a conversation: what the user said, and the reply that it got."""

    user: Pieces
    assistant: Pieces


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """How to build one prompt: an optional system message, earlier turns, and the pieces of the last user message. Ten
    thousand samples of a long document take no more memory than the document; a prompt exists while it is sent."""

    user: Pieces
    system: str | None = None
    turns: tuple[Turn, ...] = ()

    def pieces(self) -> Iterator[Words | Passage]:
        for turn in self.turns:
            yield from turn.user
            yield from turn.assistant
        yield from self.user


@dataclass(frozen=True, kw_only=True, slots=True)
class SentTurn:
    user: str
    assistant: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    user: str
    system: str | None = None
    turns: tuple[SentTurn, ...] = ()

    @property
    def sha256(self) -> str:
        """Digest of all messages; equal prompts pair across models and KV policies."""
        digest = hashlib.sha256()
        for part in (self.system, self.user):
            digest.update(b"\0" if part is None else b"\1" + part.encode())
        for turn in self.turns:
            for text in (turn.user.encode(), turn.assistant.encode()):
                digest.update(b"\2%d:" % len(text) + text)
        return digest.hexdigest()


def render(recipe: Recipe, documents: Mapping[str, Document]) -> Prompt:
    """Build the prompt that a recipe describes. Raises `KeyError` for a document that is not there."""

    def text_of(pieces: Pieces) -> str:
        return "".join(
            piece.text if isinstance(piece, Words) else documents[piece.document_id].text[piece.start : piece.end]
            for piece in pieces
        )

    turns = tuple(SentTurn(user=text_of(turn.user), assistant=text_of(turn.assistant)) for turn in recipe.turns)
    return Prompt(user=text_of(recipe.user), system=recipe.system, turns=turns)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """What an answer is compared with beside the accepted answers, as far as the task has it."""

    kind: str = "short"
    choices: tuple[str, ...] = ()
    evidence: tuple[Span, ...] = ()
    """In the document, or in the prompt where there is none; of a continuation the author's own next words."""
    distractors: tuple[str, ...] = ()
    """Wrong values of the same form in the same context."""
    reply: str = ""
    """A right answer in the form that is asked for; empty: any of `Sample.answers`."""


RECHECK = "recheck"
"""The control that asks a new text of the shortest length at the end of a run, for its time alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One question at one place and length: everything but the model that will answer it.

    `sample_id` and the prompt depend only on what is asked and how the tokenizer slices, so that runs of other models
    and KV policies pair with this one. `seed` comes from the coordinates: adding a length changes no other sample."""

    sample_id: str
    task: str
    context_tokens: int
    """The length asked for: chat template, instruction, text and question."""
    built_tokens: int
    """The length built, by the run's tokenizer; never above `context_tokens`."""
    depth: float | None
    """Where the evidence lies: 0 the start of the text, 1 its end."""
    trial: int
    document_id: str
    question: str
    answers: tuple[str, ...]
    recipe: Recipe
    seed: int
    reference: Reference = Reference()
    cluster: str = ""
    """What it shares with other samples of its length (a haystack, a packed context); empty: nothing."""
    metadata: Mapping[str, str | int | float] = field(default_factory=dict, hash=False)
    """Facets of scores: `evidence_distance_tokens`, `hops`, `topic` …"""
    item: str = ""
    """The question, where several samples repeat it: repeats are no further evidence."""
    repeat: int = 0
    bin: int | None = None
    """The length bin that it was drawn for, where documents have their natural length."""
    answer_tokens: int | None = None
    """None: what `sampling.max_tokens` says."""
    control: str | None = None
    controls: tuple[str, ...] = ()
    pilot: bool = False
    step: int | None = None
    __pydantic_config__: ClassVar[Mapping[str, bool]] = {"allow_inf_nan": False}

    @property
    def is_ordinary(self) -> bool:
        """Whether its score counts: it is neither a control nor a pilot."""
        return self.control is None and not self.pilot


def same_length(shorter: int, longer: int) -> bool:
    """Whether the shorter is the longer but for a sixteenth: 131,072 tokens are 127,800 in a window of 128,000."""
    return shorter >= 15 / 16 * longer
