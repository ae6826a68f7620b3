"""What a server is: its model, that model's window, and whether it counts tokens for us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from contextcliff.engines.openai.api_keys import ApiKey
from contextcliff.engines.openai.listed_models import choose_model, json_of, list_models, positive_int
from contextcliff.engines.openai.server_tokens import TokenCounter

_PROBE = "one two"
_CHATML_FALLBACK = (
    "{%- for message in messages -%} {{- '<|im_start|>' + message.role + ' ' + message.content + '<|im_end|> ' -}} "
    "{%- endfor -%} {%- if add_generation_prompt -%} {{- '<|im_start|>assistant ' -}} {%- endif -%}"
)
"""The template that llama.cpp uses for weights without one; white space as single blanks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerFacts:
    """What was detected. `base_url` ends where `/chat/completions` begins; `window` is the model's, in tokens."""

    base_url: str
    model: str
    window: int | None
    counter: TokenCounter | None
    """The kind of routes that the server has to count tokens."""
    remarks: tuple[str, ...] = ()
    """Further lines for the report."""

    @property
    def root(self) -> str:
        """The address where the server's own routes begin, without `/v1`."""
        return self.base_url.removesuffix("/v1")

    def lines(self) -> tuple[str, ...]:
        """The facts as they are printed and recorded."""
        window = "not told" if self.window is None else f"{self.window:,} tokens"
        return (
            f"server {self.base_url}",
            f"model {self.model}",
            f"window {window}",
            "tokenizer not offered" if self.counter is None else f"tokenizer its own ({self.counter})",
            *self.remarks,
        )


def detect(http: httpx2.Client, base_url: str, key: ApiKey, *, name: str | None) -> ServerFacts:
    """Ask a server what it is. `base_url` is `Address.url`; `name` None stands for the only model that it has.

    Raises `UnreachableError` for a host that can't be reached, `RunError` for a refused key and a page instead of JSON;
    `ConfigError` where no name is given and the server does not have exactly one model.
    """
    listed = list_models(http, base_url, key, named=name is not None)
    model = choose_model(listed.models, name, base_url)
    own = _own_routes(http, base_url.removesuffix("/v1"), key, model)
    return ServerFacts(
        base_url=base_url,
        model=model,
        window=own.window or listed.window_of(model),
        counter=own.counter,
        remarks=(*listed.remarks, *own.remarks),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _OwnRoutes:
    window: int | None = None
    counter: TokenCounter | None = None
    remarks: tuple[str, ...] = ()


def _own_routes(http: httpx2.Client, root: str, key: ApiKey, model: str) -> _OwnRoutes:
    """Window and token counter, by the routes that one kind of server has and the others do not."""
    props = _optional(http, "GET", f"{root}/props", key)
    if n_ctx := positive_int((props.get("default_generation_settings") or {}).get("n_ctx")):
        return _OwnRoutes(window=n_ctx, counter="llama_server", remarks=_template_remarks(props.get("chat_template")))
    kobold = _optional(http, "GET", f"{root}/api/extra/true_max_context_length", key)
    if window := positive_int(kobold.get("value")):
        count = _optional(http, "POST", f"{root}/api/extra/tokencount", key, body={"prompt": _PROBE})
        return _OwnRoutes(window=window, counter="koboldcpp" if positive_int(count.get("value")) else None)
    count = _optional(http, "POST", f"{root}/tokenize", key, body={"model": model, "prompt": _PROBE})
    return _OwnRoutes(
        window=positive_int(count.get("max_model_len")), counter="vllm" if positive_int(count.get("count")) else None
    )


def _template_remarks(template: object) -> tuple[str, ...]:
    """A warning where llama.cpp falls back to ChatML: that suits few models, and no base model."""
    if not isinstance(template, str) or " ".join(template.split()) not in ("", _CHATML_FALLBACK):
        return ()
    return (
        "chat template llama.cpp's fallback, ChatML: the weights have none; engine.api=completions asks a base model "
        "in plain text",
    )


def _optional(
    http: httpx2.Client, method: str, url: str, key: ApiKey, *, body: Mapping[str, object] | None = None
) -> Mapping[str, Any]:
    """The JSON object at a route that few servers have; empty where there is none."""
    try:
        answer = http.request(method, url, headers=key.headers(), json=body)
    except httpx2.HTTPError:
        return {}  # the list of models was answered, so only this route is missing
    value = json_of(answer) if answer.is_success else None
    return value if isinstance(value, dict) else {}
