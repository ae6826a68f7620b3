"""What a server tells of itself: the models it serves, their windows, and whether it tokenises."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from contextcliff.engines.openai.api_keys import ApiKey
from contextcliff.engines.openai.server_address import address_of
from contextcliff.engines.openai.server_tokens import TokenCounter
from contextcliff.errors import ConfigError, RunError, UnreachableError

_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NAMES_SHOWN = 20
_WORDS_SHOWN = 200
_NO_SUCH_ROUTE = (404, 405, 501)
_OF_A_KEY = re.compile(r"api.?key|auth|token|credential|no_db_connection", re.IGNORECASE)
"""What a 400 says that is about the key; the last is LiteLLM's proxy, which looks a wrong key up in a database."""
_FALLBACK_TEMPLATE = (
    "{%- for message in messages -%} {{- '<|im_start|>' + message.role + ' ' + message.content + '<|im_end|> ' -}} "
    "{%- endfor -%} {%- if add_generation_prompt -%} {{- '<|im_start|>assistant ' -}} {%- endif -%}"
)
"""llama.cpp's own, for weights that bring none; white space as single blanks."""


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
    remarks: tuple[str, ...] = ()
    """What else was found out, a line each."""

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
            *self.remarks,
        )


def normalised(base_url: str) -> str:
    """An address with and without `/v1`, as the one where the routes begin; without user, password and parameters."""
    return address_of(base_url).url


def detect(http: httpx2.Client, base_url: str, key: ApiKey, *, name: str | None) -> ServerFacts:
    """Ask a server what it is. `name` is the model that was asked for; None: the one that it serves.

    Raises `UnreachableError` for a host that can't be reached, `RunError` for a refused key and a page instead of JSON;
    `ConfigError` where no name is given and there is not exactly one model to take.
    """
    address = normalised(base_url)
    found = _models(http, address, key, named=name is not None)
    chosen = _choose(found.models, name, address)
    root = address.removesuffix("/v1")
    listed = next((model.window for model in found.models if model.name == chosen), None)
    own = _own_routes(http, root, key, chosen)
    return ServerFacts(
        base_url=address,
        model=chosen,
        window=own.window or listed,
        counter=own.counter,
        remarks=(*found.remarks, *own.remarks),
    )


def served_name(http: httpx2.Client, base_url: str, key: ApiKey) -> str:
    """The one model that a server has. Raises as `detect` does."""
    address = normalised(base_url)
    return _choose(_models(http, address, key, named=False).models, None, address)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Models:
    models: tuple[ServedModel, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _OwnRoutes:
    window: int | None = None
    counter: TokenCounter | None = None
    remarks: tuple[str, ...] = ()


def _own_routes(http: httpx2.Client, root: str, key: ApiKey, model: str) -> _OwnRoutes:
    """Window and token counter by the routes that only one kind of server has."""
    props = _optional(http, "GET", f"{root}/props", key) or {}
    if n_ctx := _positive((props.get("default_generation_settings") or {}).get("n_ctx")):
        return _OwnRoutes(window=n_ctx, counter="llama_server", remarks=_template_remarks(props.get("chat_template")))
    kobold = _optional(http, "GET", f"{root}/api/extra/true_max_context_length", key) or {}
    if value := _positive(kobold.get("value")):
        counted = _optional(http, "POST", f"{root}/api/extra/tokencount", key, body={"prompt": "one two"}) or {}
        return _OwnRoutes(window=value, counter="koboldcpp" if _positive(counted.get("value")) else None)
    counted = _optional(http, "POST", f"{root}/tokenize", key, body={"model": model, "prompt": "one two"}) or {}
    return _OwnRoutes(
        window=_positive(counted.get("max_model_len")), counter="vllm" if _positive(counted.get("count")) else None
    )


def _template_remarks(template: object) -> tuple[str, ...]:
    """llama.cpp asks weights without a chat template in ChatML: right for few models, and for no base model."""
    if not isinstance(template, str) or " ".join(template.split()) not in ("", _FALLBACK_TEMPLATE):
        return ()
    return (
        "chat template llama.cpp's fallback, ChatML: the weights have none; engine.api=completions asks a base model "
        "in plain text",
    )


def _models(http: httpx2.Client, address: str, key: ApiKey, *, named: bool) -> _Models:
    """What is listed. A server that lists nothing will do where the model is `named`, unless it is the key that it
    refuses."""
    try:
        answer = http.get(f"{address}/models", headers=key.headers())
    except httpx2.HTTPError as error:
        said = key.hide_in(str(error)) or type(error).__name__
        raise UnreachableError(
            f"engine.base_url={address}: can't be reached ({said}); is the server up, and is this its address?"
        ) from error
    if answer.status_code in (401, 403):
        raise RunError(
            f"engine.base_url={address}: refuses the API key ({answer.status_code}); set the right one in the "
            "environment, and name its variable with engine.api_key_env"
        )
    if answer.is_redirect:
        where = key.hide_in(answer.headers.get("location", "elsewhere"))
        raise RunError(
            f"engine.base_url={address}: redirects to {where}; give the address itself, a key is never sent on"
        )
    if answer.is_error and answer.status_code not in _NO_SUCH_ROUTE:
        return _not_listed(answer, address, key, named=named)
    body = _json(answer)
    if body is None and _is_page(answer) and not (named and answer.is_error):
        raise RunError(
            f"engine.base_url={address}: answers with a web page and not with JSON; give the address of the API"
        )
    listed = body.get("data") or [] if isinstance(body, dict) else []
    return _Models(
        models=tuple(
            ServedModel(name=str(entry["id"]), window=_window(entry))
            for entry in listed
            if isinstance(entry, dict) and entry.get("id")
        )
    )


def _not_listed(answer: httpx2.Response, address: str, key: ApiKey, *, named: bool) -> _Models:
    """What an error instead of a list comes to: of the key it ends the run, of anything else it does without a name."""
    said = f"{answer.status_code}: {_words(answer, key)}"
    of_the_key = answer.status_code == 400 and bool(_OF_A_KEY.search(answer.text))
    if named and not of_the_key:
        return _Models(models=(), remarks=(f"models not listed ({said})",))
    way_out = "look at the server, or name the model with model.name=NAME"
    if not key.headers():
        way_out = f"no API key was sent: is one needed? Else {way_out}"
    elif answer.status_code < 500:  # some answer a wrong key with 400
        way_out = "is the API key right? Set it in the environment, and name its variable with engine.api_key_env"
    raise RunError(f"engine.base_url={address}: does not list its models ({said}); {way_out}")


def _is_page(answer: httpx2.Response) -> bool:
    return "html" in answer.headers.get("content-type", "")


def _words(answer: httpx2.Response, key: ApiKey) -> str:
    """What a server says of its refusal: in one line, short, and without the key; of a page the title of its status."""
    if _is_page(answer):
        return answer.reason_phrase
    body = _json(answer)
    error = body.get("error", body) if isinstance(body, dict) else None
    told = error.get("message") if isinstance(error, dict) else error
    line = key.hide_in(" ".join((str(told) if told else answer.text).split()))
    return line if len(line) <= _WORDS_SHOWN else line[:_WORDS_SHOWN] + " …"


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
