"""Texts as vectors by any OpenAI-compatible `/embeddings` endpoint, a GGUF model's in this process among them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import httpx2

from contextcliff.annotation.embedder import Embed, Vector
from contextcliff.engines.llamacpp import CLOSE, loopback_server
from contextcliff.engines.openai.faults import detail_of
from contextcliff.engines.openai.http import Address, address_of, client, with_key
from contextcliff.engines.openai.server_json import count_at, numbers_at, objects_at, parsed_object
from contextcliff.errors import RunError, keys_named
from contextcliff.models.weights import Gguf
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
    def open(self) -> Iterator[Embed]:
        address = with_key(self.address, self.api_key_env, setting="embedding.api_key_env")
        more: dict[str, Any] = {"default_headers": address.headers(), "default_query": address.parameters}
        more["max_retries"] = self.max_retries
        with _connected(address, self.model, self.timeout_s, **more) as embed:
            yield embed


@settings
class LlamaCppEmbedding:
    """Any GGUF file. `pooling=None` takes what the model was made for; a language model needs `mean`."""

    gguf: Gguf
    pooling: Literal["mean", "cls", "last"] | None = None
    context_tokens: PositiveInt = 2048
    batch: PositiveInt = 16
    timeout_s: PositiveFloat = 300.0

    @property
    def name(self) -> str:
        """The weights' file or package: a path wins, as it does where they are loaded."""
        return Path(self.gguf.path).name if self.gguf.path else self.gguf.file or str(self.gguf.package)

    def identity(self) -> Mapping[str, object]:
        with keys_named(model="embedding"):
            return {"embedder": "llamacpp", "weights": self.gguf.identity, "pooling": self.pooling}

    @contextmanager
    def open(self) -> Iterator[Embed]:
        def adjust(params: Any) -> None:
            import xllamacpp

            params.embedding = True
            params.n_ctx = self.context_tokens
            params.n_batch = params.n_ubatch = self.context_tokens  # a text is embedded in one piece
            params.n_parallel = 1
            if self.pooling is not None:
                pooling = f"LLAMA_POOLING_TYPE_{self.pooling.upper()}"
                params.pooling_type = getattr(xllamacpp.llama_pooling_type, pooling)

        key = secrets.token_urlsafe(32)
        with keys_named(model="embedding"):
            server = loopback_server(self.gguf.fetch(), key, adjust, what="as an embedding model")
        address = Address(url=f"{server.listening_address}/v1", key=key)
        with _connected(address, self.name, self.timeout_s, max_retries=0, default_headers=CLOSE) as embed:
            yield embed
        del server  # the last reference closes the port and frees the model


@contextmanager
def _connected(address: Address, model: str, timeout_s: float, **more: Any) -> Iterator[Embed]:
    import openai

    with (
        client(timeout_s=timeout_s) as http,
        openai.OpenAI(
            base_url=address.url, api_key=address.key or _NO_KEY, timeout=timeout_s, http_client=http, **more
        ) as connection,
    ):
        yield partial(embeddings, connection, model, address)


def embeddings(connection: OpenAI, model: str, address: Address, texts: Sequence[str]) -> tuple[Vector, ...]:
    """A vector for each text, all of one length. Raises `RunError`."""
    import openai

    where = f"{connection.base_url.host}: embeddings of {model}"
    asked = {"model": model, "input": list(texts), "encoding_format": "float"}
    try:
        answer = connection.post("/embeddings", cast_to=httpx2.Response, body=asked)
        items = objects_at(parsed_object(answer.text), "data")
    except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
        raise RunError(f"{where} failed ({detail_of(address.hide_in(str(error)))})") from error
    # A page of HTML, or an answer without data, comes without an error.
    items = sorted(items, key=lambda item: count_at(item, "index") or 0)
    vectors = tuple(numbers_at(item, "embedding") for item in items)
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise RunError(f"{where}: {len(vectors)} vectors came for {len(texts)} sentences, or of unequal length")
    return vectors
