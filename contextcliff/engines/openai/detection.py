"""What a server is: its model, that model's window, and whether it counts tokens for us."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2

from contextcliff.engines.engine import Served
from contextcliff.engines.openai.http import Address
from contextcliff.engines.openai.server_json import count_at, message_in, object_at, objects_at, parsed_object, text_at
from contextcliff.engines.openai.tokens import TokenCounter
from contextcliff.errors import ConfigError, RunError, UnreachableError, one_line
from contextcliff.records.positions import Positions

_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")
_LONGEST_MESSAGE = 200
_NO_SUCH_ROUTE = (404, 405, 501)
_PROBE = "one two"


def detect(http: httpx2.Client, address: Address, *, name: str | None) -> tuple[Served, TokenCounter | None]:
    """What a server is, and the kind of routes that it has to count tokens.

    `name` None stands for the only model that the server has. Raises `UnreachableError`, `RunError` for a refused key
    and a page instead of JSON, `ConfigError` where no name is given and the server does not have exactly one model.
    """
    listed, remarks = _listed(http, address, named=name is not None)
    if name is None and len(listed) != 1:
        models = f"several models: {', '.join(listed)}" if listed else "no model"
        raise ConfigError(f"model.name: {address.url} lists {models}; choose one with model.name=NAME")
    model = name or next(iter(listed))
    entry = listed.get(model, {})
    counter: TokenCounter | None
    slots = None
    # Each kind of server has routes that the others do not have.
    props = _asked(http, "GET", "/props", address)
    if window := _positive(object_at(props, "default_generation_settings"), "n_ctx"):
        counter, slots = "llama_server", _positive(props, "total_slots")
    elif window := _positive(_asked(http, "GET", "/api/extra/true_max_context_length", address), "value"):
        count = _asked(http, "POST", "/api/extra/tokencount", address, body={"prompt": _PROBE})
        counter = "koboldcpp" if _positive(count, "value") else None
    else:
        count = _asked(http, "POST", "/tokenize", address, body={"model": model, "prompt": _PROBE})
        window, counter = _positive(count, "max_model_len"), "vllm" if _positive(count, "count") else None
    window = window or next((tokens for each in _WINDOW_KEYS if (tokens := _positive(entry, each))), None)
    # As llama.cpp tells the positions; its window may be longer or shorter.
    trained = _positive(object_at(entry, "meta"), "n_ctx_train")
    served = Served(
        model=model,
        window=window,
        lines=(
            f"server {address.url}",
            f"model {model}",
            f"window {'not told' if window is None else f'{window:,} tokens'}",
            "tokenizer not offered" if counter is None else f"tokenizer its own ({counter})",
            *remarks,
        ),
        positions=None if trained is None else Positions(trained_tokens=trained, source="server"),
        slots=slots,
    )
    return served, counter


_Entries = Mapping[str, Mapping[str, object]]


def _listed(http: httpx2.Client, address: Address, *, named: bool) -> tuple[_Entries, tuple[str, ...]]:
    """The entries of `/v1/models` by name, and lines for the report on how the server answered.

    Where the configuration has `named` a model, a server that lists none is accepted.
    """
    where = f"engine.base_url={address.url}:"
    try:
        answer = http.get(f"{address.url}/models", headers=address.headers())
    except httpx2.HTTPError as error:
        why = address.hide_in(str(error)) or type(error).__name__
        raise UnreachableError(
            f"{where} can't be reached ({why}); is the server up, and is this its address?"
        ) from error
    if answer.status_code in (401, 403):
        raise RunError(
            f"{where} refuses the API key ({answer.status_code}); set the right one in the environment, and name its "
            "variable with engine.api_key_env"
        )
    if answer.is_redirect:
        target = one_line(address.hide_in(answer.headers.get("location", "elsewhere")), longest=_LONGEST_MESSAGE)
        raise RunError(f"{where} redirects to {target}; give the address itself, a key is never sent on")
    body, is_page = _object_of(answer), "html" in answer.headers.get("content-type", "")
    if answer.is_error and answer.status_code not in _NO_SUCH_ROUTE:
        words = answer.reason_phrase if is_page else address.hide_in(message_in(body) or answer.text)
        reason = f"{answer.status_code}: {one_line(words, longest=_LONGEST_MESSAGE)}"
        if not named:
            raise RunError(
                f"{where} does not list its models ({reason}); is the API key right, whose variable engine.api_key_env "
                "names? Else look at the server, or name the model with model.name=NAME"
            )
        return {}, (f"models not listed ({reason})",)
    if not body and is_page and not (named and answer.is_error):
        raise RunError(f"{where} answers with a web page and not with JSON; give the address of the API")
    entries: dict[str, Mapping[str, object]] = {}
    for entry in objects_at(body, "data"):
        if name := text_at(entry, "id"):
            entries.setdefault(name, entry)
    return entries, ()


def _asked(
    http: httpx2.Client, method: str, route: str, address: Address, *, body: Mapping[str, object] | None = None
) -> Mapping[str, object]:
    """The JSON object at a route that few servers have; empty where there is none."""
    try:
        answer = http.request(method, f"{address.root}{route}", headers=address.headers(), json=body)
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
