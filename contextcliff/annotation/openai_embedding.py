"""Texts as vectors by any OpenAI-compatible `/embeddings` endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

from contextcliff.annotation.embedder import Vector
from contextcliff.engines.openai.faults import detail_of
from contextcliff.engines.openai.http import Address, address_of, client, with_key
from contextcliff.engines.openai.server_json import count_at, numbers_at, objects_at, parsed_object
from contextcliff.errors import RunError
from contextcliff.settings import NonNegativeInt, PositiveFloat, PositiveInt, settings

if TYPE_CHECKING:
    from openai import OpenAI

_NO_KEY = "none"


@settings
class OpenAIEmbedding:
    """An endpoint that speaks the OpenAI protocol; the key is taken from the environment and never kept."""

    base_url: str
    model: str
    api_key_env: str | None = None
    """NAME of the key's variable; None: the first that is set of those that may go to this host."""
    batch: PositiveInt = 64
    timeout_s: PositiveFloat = 120.0
    max_retries: NonNegativeInt = 5

    @property
    def name(self) -> str:
        return self.model

    @property
    def address(self) -> Address:
        """`base_url` without what must not be shown. Raises `ConfigError`."""
        return address_of(self.base_url, key="embedding.base_url")

    def identity(self) -> Mapping[str, object]:
        return {"embedder": "openai", "base_url": self.address.identity, "model": self.model}

    @contextmanager
    def open(self) -> Iterator[EndpointSession]:
        import openai

        address = with_key(self.address, self.api_key_env, setting="embedding.api_key_env")
        with (
            client(timeout_s=self.timeout_s) as http,
            openai.OpenAI(
                base_url=address.url,
                api_key=address.key or _NO_KEY,
                default_headers=address.headers(),
                default_query=address.parameters,
                max_retries=self.max_retries,
                timeout=self.timeout_s,
                http_client=http,
            ) as connection,
        ):
            yield EndpointSession(client=connection, model=self.model, address=address)


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointSession:
    """An endpoint, connected."""

    client: OpenAI
    model: str
    address: Address

    def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        import openai

        where = f"{self.client.base_url.host}: embeddings of {self.model}"
        asked = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        try:
            answer = self.client.post("/embeddings", cast_to=httpx2.Response, body=asked)
            items = objects_at(parsed_object(answer.text), "data")
        except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
            raise RunError(f"{where} failed ({detail_of(self.address.hide_in(str(error)))})") from error
        # A page of HTML, or an answer without data, comes without an error.
        vectors = tuple(numbers_at(item, "embedding") for item in sorted(items, key=_index))
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
            raise RunError(f"{where}: {len(vectors)} vectors came for {len(texts)} sentences, or of unequal length")
        return vectors


def _index(item: Mapping[str, object]) -> int:
    return count_at(item, "index") or 0
