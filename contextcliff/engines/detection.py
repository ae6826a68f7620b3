"""What a server tells of itself: the models it serves, their windows, and whether it tokenises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from contextcliff.engines.keys import ApiKey
from contextcliff.engines.server_tokens import TokenCounter
from contextcliff.errors import ConfigError, RunError

_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NAMES_SHOWN = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedModel:
    """One entry of `/v1/models`; `window` where the list tells it (vLLM, SGLang, OpenRouter …)."""

    name: str
    window: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerFacts:
    """What was detected. `base_url` ends where `/chat/completions` begins; `window` is of the model chosen."""

    base_url: str
    model: str
    window: int | None
    counter: TokenCounter | None
    """Whose routes it has to count tokens."""

    @property
    def root(self) -> str:
        """Where a server's own routes begin."""
        return self.base_url.removesuffix("/v1")

    def lines(self) -> tuple[str, ...]:
        """The facts as they are printed and recorded."""
        window = "not told" if self.window is None else f"{self.window:,} tokens"
        return (
            f"server {self.base_url}",
            f"model {self.model}",
            f"window {window}",
            "tokenizer not offered" if self.counter is None else f"tokenizer its own ({self.counter})",
        )


def normalised(base_url: str) -> str:
    """An address with and without `/v1`, as the one where the routes begin."""
    url = httpx2.URL(base_url)
    path = url.path.rstrip("/")
    for route in ("/chat/completions", "/completions", "/models"):
        path = path.removesuffix(route)
    return str(url.copy_with(path=path or "/v1")).rstrip("/")


def detect(http: httpx2.Client, base_url: str, key: ApiKey, *, name: str | None) -> ServerFacts:
    """Ask a server what it is. `name` is the model that was asked for; None: the one that it serves.

    Raises `RunError` for a host that can't be reached, a refused key and a page instead of JSON;
    `ConfigError` where no name is given and there is not exactly one model to take.
    """
    address = normalised(base_url)
    models = _models(http, address, key)
    chosen = _choose(models, name, address)
    root = address.removesuffix("/v1")
    listed = next((model.window for model in models if model.name == chosen), None)
    window, counter = _own_routes(http, root, key, chosen)
    return ServerFacts(base_url=address, model=chosen, window=window or listed, counter=counter)


def _own_routes(http: httpx2.Client, root: str, key: ApiKey, model: str) -> tuple[int | None, TokenCounter | None]:
    """Window and token counter by the routes that only one kind of server has."""
    props = _optional(http, "GET", f"{root}/props", key) or {}
    if n_ctx := _positive((props.get("default_generation_settings") or {}).get("n_ctx")):
        return n_ctx, "llama_server"
    kobold = _optional(http, "GET", f"{root}/api/extra/true_max_context_length", key) or {}
    if value := _positive(kobold.get("value")):
        counted = _optional(http, "POST", f"{root}/api/extra/tokencount", key, body={"prompt": "one two"}) or {}
        return value, "koboldcpp" if _positive(counted.get("value")) else None
    counted = _optional(http, "POST", f"{root}/tokenize", key, body={"model": model, "prompt": "one two"}) or {}
    return _positive(counted.get("max_model_len")), "vllm" if _positive(counted.get("count")) else None


def _models(http: httpx2.Client, address: str, key: ApiKey) -> tuple[ServedModel, ...]:
    try:
        answer = http.get(f"{address}/models", headers=key.headers())
    except httpx2.HTTPError as error:
        said = key.hide_in(str(error)) or type(error).__name__
        raise RunError(
            f"engine.base_url={address}: can't be reached ({said}); is the server up, and is this its address?"
        ) from error
    if answer.status_code in (401, 403):
        raise RunError(
            f"engine.base_url={address}: refuses the API key ({answer.status_code}); set the right one in the "
            "environment, and name its variable with engine.api_key_env"
        )
    if answer.is_redirect:
        raise RunError(
            f"engine.base_url={address}: redirects to {answer.headers.get('location', 'elsewhere')}; "
            "give the address itself, a key is never sent on"
        )
    body = _json(answer)
    if body is None and "html" in answer.headers.get("content-type", ""):
        raise RunError(
            f"engine.base_url={address}: answers with a web page and not with JSON; give the address of the API"
        )
    listed = body.get("data", []) if isinstance(body, dict) else []
    return tuple(
        ServedModel(name=str(entry["id"]), window=_window(entry))
        for entry in listed
        if isinstance(entry, dict) and entry.get("id")
    )


def _choose(models: tuple[ServedModel, ...], name: str | None, address: str) -> str:
    if name is not None:
        return name
    if len(models) == 1:
        return models[0].name
    if not models:
        raise ConfigError(f"engine.base_url={address}: lists no model; name the one to use with model.name=NAME")
    names = ", ".join(model.name for model in models[:_NAMES_SHOWN])
    more = f" and {len(models) - _NAMES_SHOWN} more" if len(models) > _NAMES_SHOWN else ""
    raise ConfigError(f"model.name: the server has several models; choose one with model.name=NAME: {names}{more}")


def _optional(
    http: httpx2.Client, method: str, url: str, key: ApiKey, *, body: Mapping[str, object] | None = None
) -> dict[str, Any] | None:
    """The JSON object at a route that few servers have; None where there is none."""
    try:
        answer = http.request(method, url, headers=key.headers(), json=body)
    except httpx2.HTTPError:
        return None  # the models list answered: this route alone is not to be had
    told = _json(answer) if answer.is_success else None
    return told if isinstance(told, dict) else None


def _json(answer: httpx2.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _window(entry: Mapping[str, Any]) -> int | None:
    return next((found for key in _WINDOW_KEYS if (found := _positive(entry.get(key)))), None)


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
