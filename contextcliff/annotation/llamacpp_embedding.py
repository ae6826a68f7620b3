"""Sentences as vectors by a GGUF model inside this process: llama.cpp's own `/v1/embeddings` on loopback."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from contextcliff.annotation.openai_embedding import EndpointSession
from contextcliff.engines.llamacpp import CLOSE, loopback_server
from contextcliff.engines.openai.http import Address, client
from contextcliff.models.weights import Gguf
from contextcliff.settings import PositiveFloat, PositiveInt, settings


@settings
class LlamaCppEmbedding:
    """Any GGUF file. `pooling=None` takes what the model was made for; a language model needs `mean`."""

    gguf: Gguf
    pooling: Literal["mean", "cls", "last"] | None = None
    context_tokens: PositiveInt = 2048
    """Tokens of the longest sentence."""
    batch: PositiveInt = 16
    timeout_s: PositiveFloat = 300.0

    @property
    def name(self) -> str:
        """The weights' file or package: a path wins, as it does where they are loaded."""
        return Path(self.gguf.path).name if self.gguf.path else self.gguf.file or str(self.gguf.package)

    def identity(self) -> Mapping[str, object]:
        return {"embedder": "llamacpp", "weights": self.gguf.identity, "pooling": self.pooling}

    @contextmanager
    def open(self) -> Iterator[EndpointSession]:
        import openai

        key = secrets.token_urlsafe(32)
        server = self._serve(key)
        with (
            client(timeout_s=self.timeout_s) as http,
            openai.OpenAI(
                base_url=f"{server.listening_address}/v1",
                api_key=key,
                max_retries=0,
                timeout=self.timeout_s,
                http_client=http,
                default_headers=CLOSE,
            ) as connection,
        ):
            yield EndpointSession(client=connection, model=self.name, address=Address(key=key))
        del server  # the last reference closes the port and frees the model

    def _serve(self, key: str) -> Any:
        self.gguf.check_reachable()

        def adjust(params: Any) -> None:
            import xllamacpp

            params.embedding = True
            params.n_ctx = self.context_tokens
            params.n_batch = params.n_ubatch = self.context_tokens  # a text is embedded in one piece
            params.n_parallel = 1
            if self.pooling is not None:
                pooling = f"LLAMA_POOLING_TYPE_{self.pooling.upper()}"
                params.pooling_type = getattr(xllamacpp.llama_pooling_type, pooling)

        return loopback_server(self.gguf.fetch(), key, adjust, what="as an embedding model")
