"""What a server is: its model, that model's window, and whether it counts tokens for us."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

import httpx2

from contextcliff.engines.openai.http import ApiKey
from contextcliff.engines.openai.server_json import count_at, object_at, objects_at, parsed_object, text_at
from contextcliff.engines.openai.tokens import TokenCounter
from contextcliff.errors import ConfigError, RunError, UnreachableError, one_line

_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NAMES_SHOWN = 20
_LONGEST_MESSAGE = 200
_NO_SUCH_ROUTE = (404, 405, 501)
_ABOUT_THE_KEY = re.compile(r"api.?key|auth|token|credential|no_db_connection", re.IGNORECASE)
"""Words of a status 400 that is about the API key. The last is LiteLLM's proxy, which looks keys up in a database."""
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
    """Positions that the model was trained on; None if unknown."""
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
    listed, remarks = _listed(http, base_url, key, named=name is not None)
    model = _only(listed, base_url) if name is None else name
    entry, root = listed.get(model, {}), base_url.removesuffix("/v1")
    counter: TokenCounter | None
    slots = 0
    # Each kind of server has routes that the others do not have.
    props = _asked(http, "GET", f"{root}/props", key)
    if window := _positive(object_at(props, "default_generation_settings"), "n_ctx"):
        counter, slots = "llama_server", count_at(props, "total_slots") or 0
        remarks += _template_remarks(props.get("chat_template"))
    elif window := _positive(_asked(http, "GET", f"{root}/api/extra/true_max_context_length", key), "value"):
        count = _asked(http, "POST", f"{root}/api/extra/tokencount", key, body={"prompt": _PROBE})
        counter = "koboldcpp" if _positive(count, "value") else None
    else:
        count = _asked(http, "POST", f"{root}/tokenize", key, body={"model": model, "prompt": _PROBE})
        window, counter = _positive(count, "max_model_len"), "vllm" if _positive(count, "count") else None
    return ServerFacts(
        base_url=base_url,
        model=model,
        window=window or next((tokens for each in _WINDOW_KEYS if (tokens := _positive(entry, each))), None),
        counter=counter,
        remarks=remarks,
        # As llama.cpp tells the positions; its window may be longer or shorter.
        trained_tokens=_positive(object_at(entry, "meta"), "n_ctx_train"),
        slots=slots,
    )


def served_name(http: httpx2.Client, base_url: str, key: ApiKey) -> str:
    """The name of the only model that a server has. Raises as `detect` does."""
    return _only(_listed(http, base_url, key, named=False)[0], base_url)


_Entries = Mapping[str, Mapping[str, object]]


def _listed(http: httpx2.Client, base_url: str, key: ApiKey, *, named: bool) -> tuple[_Entries, tuple[str, ...]]:
    """The entries of `/v1/models` by name, and lines for the report on how the server answered.

    Where the configuration has `named` a model, a server that lists none is accepted.
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
        return {}, (_why_unlisted(answer, base_url, key, named=named),)
    body = _object_of(answer)
    if not body and _is_web_page(answer) and not (named and answer.is_error):
        raise RunError(
            f"engine.base_url={base_url}: answers with a web page and not with JSON; give the address of the API"
        )
    entries: dict[str, Mapping[str, object]] = {}
    for entry in objects_at(body, "data"):
        if name := text_at(entry, "id"):
            entries.setdefault(name, entry)
    return entries, ()


def _why_unlisted(answer: httpx2.Response, base_url: str, key: ApiKey, *, named: bool) -> str:
    """A line for the report where a model is named and the error is not about the key; else `RunError`."""
    body = _object_of(answer)
    message = text_at(body, "error") or text_at(object_at(body, "error") or body, "message") or answer.text
    said = one_line(key.hide_in(" ".join(message.split())), longest=_LONGEST_MESSAGE)
    reason = f"{answer.status_code}: {answer.reason_phrase if _is_web_page(answer) else said}"
    about_the_key = answer.status_code == 400 and bool(_ABOUT_THE_KEY.search(answer.text))
    if named and not about_the_key:
        return f"models not listed ({reason})"
    way_out = "look at the server, or name the model with model.name=NAME"
    if not key.headers():
        way_out = f"no API key was sent: is one needed? Else {way_out}"
    elif answer.status_code < 500:  # some servers answer a wrong key with 400
        way_out = "is the API key right? Set it in the environment, and name its variable with engine.api_key_env"
    raise RunError(f"engine.base_url={base_url}: does not list its models ({reason}); {way_out}")


def _only(names: Iterable[str], base_url: str) -> str:
    """The only model of a server. Raises `ConfigError` if it has none or several."""
    listed = list(names)
    if len(listed) == 1:
        return listed[0]
    if not listed:
        raise ConfigError(f"engine.base_url={base_url}: lists no model; name the one to use with model.name=NAME")
    shown = ", ".join(islice(listed, _NAMES_SHOWN))
    more = f" and {len(listed) - _NAMES_SHOWN} more" if len(listed) > _NAMES_SHOWN else ""
    raise ConfigError(f"model.name: the server has several models; choose one with model.name=NAME: {shown}{more}")


def _template_remarks(template: object) -> tuple[str, ...]:
    """A warning where llama.cpp falls back to ChatML: that suits few models, and no base model."""
    if not isinstance(template, str) or " ".join(template.split()) not in ("", _CHATML_FALLBACK):
        return ()
    return (
        "chat template llama.cpp's fallback, ChatML: the weights have none; engine.api=completions asks a base model "
        "in plain text",
    )


def _asked(
    http: httpx2.Client, method: str, url: str, key: ApiKey, *, body: Mapping[str, object] | None = None
) -> Mapping[str, object]:
    """The JSON object at a route that few servers have; empty where there is none."""
    try:
        answer = http.request(method, url, headers=key.headers(), json=body)
    except httpx2.HTTPError:
        return {}  # the list of models was answered, so only this route is missing
    return _object_of(answer) if answer.is_success else {}


def _object_of(answer: httpx2.Response) -> Mapping[str, object]:
    """The JSON object of an answer; empty if its body is something else."""
    try:
        return parsed_object(answer.text)
    except ValueError:
        return {}


def _positive(values: Mapping[str, object], name: str) -> int | None:
    return count_at(values, name) or None


def _is_web_page(answer: httpx2.Response) -> bool:
    return "html" in answer.headers.get("content-type", "")
