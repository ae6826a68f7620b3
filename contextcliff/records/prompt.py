"""A prompt: as a recipe that names passages of documents, and as it is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from contextcliff.records.corpus import Document


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """How to build one prompt: an optional system message and the pieces of the user message.

    A sample holds a recipe and not a text, so that ten thousand samples of a long document cost no
    more memory than the document; the prompt exists only while it is sent.
    """

    user: tuple[Words | Passage, ...]
    system: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt as it is sent."""

    user: str
    system: str | None = None

    @property
    def sha256(self) -> str:
        """Digest of both messages; equal prompts pair across models and KV policies."""
        digest = hashlib.sha256()
        for part in (self.system, self.user):
            digest.update(b"\0" if part is None else b"\1" + part.encode())
        return digest.hexdigest()


def render(recipe: Recipe, documents: Mapping[str, Document]) -> Prompt:
    """Build the prompt that a recipe describes. Raises `KeyError` for a document that is not there."""
    pieces = (
        piece.text if isinstance(piece, Words) else documents[piece.document_id].text[piece.start : piece.end]
        for piece in recipe.user
    )
    return Prompt(user="".join(pieces), system=recipe.system)
