"""What a server is: its model, that model's window, and whether it counts tokens for us."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2

from contextcliff.engines.openai.server_access import ApiKey
from contextcliff.engines.openai.server_json import count_at, object_at, objects_at, parsed_object, text_at
from contextcliff.engines.openai.server_tokens import TokenCounter
from contextcliff.errors import ConfigError, RunError, UnreachableError, one_line

_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NAMES_SHOWN = 20
_LONGEST_MESSAGE = 200
_NO_SUCH_ROUTE = (404, 405, 501)
_ABOUT_THE_KEY = re.compile(r"api.?key|auth|token|credential|no_db_connection", re.IGNORECASE)
"""Words of a status 400 that is about the API key. The last is LiteLLM's proxy, which looks keys up in a database."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedModel:
    """One entry of `/v1/models`; `window` in tokens where the list has it (vLLM, SGLang, OpenRouter …)."""

    name: str
    window: int | None
    trained_tokens: int | None = None
    """Positions that the model was trained on (llama.cpp)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelList:
    """What a server lists, and lines for the report on how it answered."""

    models: tuple[ListedModel, ...]
    remarks: tuple[str, ...] = ()

    def entry(self, name: str) -> ListedModel:
        """What the list says of a model; nothing where it is not listed."""
        return next((model for model in self.models if model.name == name), ListedModel(name=name, window=None))


def list_models(http: httpx2.Client, base_url: str, key: ApiKey, *, named: bool) -> ModelList:
    """Ask for the list. Where the configuration has `named` a model, a server that lists none is accepted.

    Raises `UnreachableError` for a host that can't be reached; `RunError` for a refused key, a redirect, a web page
    instead of JSON, and, where no model is named, for any other error.
    """
    try:
        answer = http.get(f"{base_url}/models", headers=key.headers())
    except httpx2.HTTPError as error:
        reason = key.hide_in(str(error)) or type(error).__name__
        raise UnreachableError(
            f"engine.base_url={base_url}: can't be reached ({reason}); is the server up, and is this its address?"
        ) from error
    if answer.status_code in (401, 403):
        raise RunError(
            f"engine.base_url={base_url}: refuses the API key ({answer.status_code}); set the right one in the "
            "environment, and name its variable with engine.api_key_env"
        )
    if answer.is_redirect:
        target = one_line(key.hide_in(answer.headers.get("location", "elsewhere")), longest=_LONGEST_MESSAGE)
        raise RunError(
            f"engine.base_url={base_url}: redirects to {target}; give the address itself, a key is never sent on"
        )
    if answer.is_error and answer.status_code not in _NO_SUCH_ROUTE:
        return _unlisted(answer, base_url, key, named=named)
    body = _object_of(answer)
    if not body and _is_web_page(answer) and not (named and answer.is_error):
        raise RunError(
            f"engine.base_url={base_url}: answers with a web page and not with JSON; give the address of the API"
        )
    return ModelList(
        models=tuple(
            # As llama.cpp tells the positions; its window may be longer or shorter.
            ListedModel(
                name=name, window=_window(entry), trained_tokens=_positive(object_at(entry, "meta"), "n_ctx_train")
            )
            for entry in objects_at(body, "data")
            if (name := text_at(entry, "id"))
        )
    )


def choose_model(models: tuple[ListedModel, ...], name: str | None, base_url: str) -> str:
    """`name`, else the only model that the server has. Raises `ConfigError` where it has none or several."""
    if name is not None:
        return name
    if len(models) == 1:
        return models[0].name
    if not models:
        raise ConfigError(f"engine.base_url={base_url}: lists no model; name the one to use with model.name=NAME")
    names = ", ".join(model.name for model in models[:_NAMES_SHOWN])
    more = f" and {len(models) - _NAMES_SHOWN} more" if len(models) > _NAMES_SHOWN else ""
    raise ConfigError(f"model.name: the server has several models; choose one with model.name=NAME: {names}{more}")


def served_name(http: httpx2.Client, base_url: str, key: ApiKey) -> str:
    """The name of the only model that a server has. Raises as `list_models` and `choose_model` do."""
    return choose_model(list_models(http, base_url, key, named=False).models, None, base_url)


def _object_of(answer: httpx2.Response) -> Mapping[str, object]:
    """The JSON object of an answer; empty if its body is something else."""
    try:
        return parsed_object(answer.text)
    except ValueError:
        return {}


def _positive(values: Mapping[str, object], name: str) -> int | None:
    return count_at(values, name) or None


def _unlisted(answer: httpx2.Response, base_url: str, key: ApiKey, *, named: bool) -> ModelList:
    """No models, where a model is named and the error is not about the key; else the error as `RunError`."""
    reason = f"{answer.status_code}: {_message(answer, key)}"
    about_the_key = answer.status_code == 400 and bool(_ABOUT_THE_KEY.search(answer.text))
    if named and not about_the_key:
        return ModelList(models=(), remarks=(f"models not listed ({reason})",))
    way_out = "look at the server, or name the model with model.name=NAME"
    if not key.headers():
        way_out = f"no API key was sent: is one needed? Else {way_out}"
    elif answer.status_code < 500:  # some servers answer a wrong key with 400
        way_out = "is the API key right? Set it in the environment, and name its variable with engine.api_key_env"
    raise RunError(f"engine.base_url={base_url}: does not list its models ({reason}); {way_out}")


def _message(answer: httpx2.Response, key: ApiKey) -> str:
    """A server's error message on one short line, without the key; for a web page, the phrase of its status."""
    if _is_web_page(answer):
        return answer.reason_phrase
    body = _object_of(answer)
    message = text_at(body, "error") or text_at(object_at(body, "error") or body, "message")
    return one_line(key.hide_in(" ".join((message or answer.text).split())), longest=_LONGEST_MESSAGE)


def _is_web_page(answer: httpx2.Response) -> bool:
    return "html" in answer.headers.get("content-type", "")


def _window(entry: Mapping[str, object]) -> int | None:
    return next((tokens for key in _WINDOW_KEYS if (tokens := _positive(entry, key))), None)


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
    trained_tokens: int | None = None
    """Positions that the model was trained on; None: not told."""
    slots: int = 0
    """Those of a llama.cpp server; 0 for any other."""

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
    entry = listed.entry(model)
    window, counter, remarks, slots = _own_routes(http, base_url.removesuffix("/v1"), key, model)
    return ServerFacts(
        base_url=base_url,
        model=model,
        window=window or entry.window,
        counter=counter,
        remarks=(*listed.remarks, *remarks),
        trained_tokens=entry.trained_tokens,
        slots=slots,
    )


def _own_routes(
    http: httpx2.Client, root: str, key: ApiKey, model: str
) -> tuple[int | None, TokenCounter | None, tuple[str, ...], int]:
    """Window, token counter, remarks and slots, by the routes that one kind of server has and the others do not."""
    props = _optional(http, "GET", f"{root}/props", key)
    if n_ctx := _positive(object_at(props, "default_generation_settings"), "n_ctx"):
        return (
            n_ctx,
            "llama_server",
            _template_remarks(props.get("chat_template")),
            _positive(props, "total_slots") or 0,
        )
    kobold = _optional(http, "GET", f"{root}/api/extra/true_max_context_length", key)
    if window := _positive(kobold, "value"):
        count = _optional(http, "POST", f"{root}/api/extra/tokencount", key, body={"prompt": _PROBE})
        return window, "koboldcpp" if _positive(count, "value") else None, (), 0
    count = _optional(http, "POST", f"{root}/tokenize", key, body={"model": model, "prompt": _PROBE})
    return _positive(count, "max_model_len"), "vllm" if _positive(count, "count") else None, (), 0


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
) -> Mapping[str, object]:
    """The JSON object at a route that few servers have; empty where there is none."""
    try:
        answer = http.request(method, url, headers=key.headers(), json=body)
    except httpx2.HTTPError:
        return {}  # the list of models was answered, so only this route is missing
    return _object_of(answer) if answer.is_success else {}
