"""Engine `openai`: any server that speaks the OpenAI protocol. Its presets in `conf/engine/` are YAML only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from math import inf

import httpx2
from pydantic import Field

from contextcliff.engines.engine import Api, Deployment, Engine, Served
from contextcliff.engines.openai.faults import detail_of
from contextcliff.engines.openai.http import Address, address_of, client, connection, provider_of, with_key
from contextcliff.engines.openai.serve import check_command, filled_command, free_port, placeholders, started
from contextcliff.engines.openai.server_json import count_at, message_in, object_at, objects_at, parsed_object, text_at
from contextcliff.engines.openai.session import Dialect, OpenAISession, Slots
from contextcliff.engines.openai.tokens import TOKENIZERS, TokenCounter, TokenServer
from contextcliff.errors import ConfigError, RunError, UnreachableError
from contextcliff.kv.policy import KVPolicy
from contextcliff.kv.server_flags import SERVERS, start_line
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.records.positions import Positions
from contextcliff.records.report import STARTED_HERE
from contextcliff.settings import Count, Int, Name, NonNegativeFloat, NonNegativeInt, PositiveFloat, settings

_DETECTION_TIMEOUT_S = 15.0
_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NO_SUCH_ROUTE = (404, 405, 501)
_PROBE = "one two"
_THIS_MACHINE = ("127.0.0.1", "localhost")


@settings
class OpenAICompatible(Engine):
    """A server at `base_url`, with or without `/v1`; its key is in the environment, never in a configuration."""

    preset: str
    """The kind of server, as reports and `model.served` name it."""
    base_url: str
    api: Api = "chat"
    api_key_env: str | None = None
    """The NAME of the variable that holds the key. None: the first set variable whose key may go to this host."""
    concurrency: Count = 4
    uncached_fields: Mapping[str, str | Int | bool] = Field(default_factory=dict)
    """Fields by which a request to this kind of server reuses no prefix; a text `{nonce}` is another in each request.
    None: it has no such field."""
    timeout_s: PositiveFloat = 300.0
    """Longest silence in seconds; a whole request may take four times that."""
    max_retries: NonNegativeInt = 5
    requests_per_minute: PositiveFloat | None = None
    seconds_between_requests: NonNegativeFloat = 0.0
    sampler_names: Mapping[str, str] | None = Field(default_factory=dict)
    """Our samplers beyond the OpenAI protocol, by the names of this kind of server; others are not sent. None:
    `temperature` and the bound of the answer alone are sent, no `top_p` and no `seed` either."""
    max_tokens_name: str = "max_tokens"
    command: Name | None = None
    """The command that starts the server for a run; None if it runs already. The server has to listen on the host and
    port of `base_url`; port 0 takes a free one."""
    start_timeout_s: PositiveFloat = 600.0

    @property
    def name(self) -> str:
        return self.preset

    @property
    def address(self) -> Address:
        return address_of(self.base_url)

    @property
    def samplers_sent(self) -> Mapping[str, str]:
        """The samplers that are sent beside `temperature`: our name to the server's."""
        if self.sampler_names is None:
            return {}
        provider = provider_of(self.address.host)
        beyond = self.sampler_names if provider is None or provider.takes_samplers else {}
        return {"top_p": "top_p", "seed": "seed", **beyond}

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        self._check_policy(kv_policy)
        if model.rope.identity():
            raise ConfigError(
                f"model.rope: engine={self.preset} can't scale the positions of a server that runs already; start the "
                "server with it, and tell its runs apart with label=NAME"
            )
        if not self.prefix_cache and not self.uncached_fields:
            raise ConfigError(
                f"engine.prefix_cache=false: engine={self.preset} has no field that forbids it in a request; start the "
                "server without its prefix cache, and tell its runs apart with label=NAME"
            )
        server: dict[str, object] = {"base_url": self.address.identity}
        if self.command is not None:  # its port tells no server apart
            server = {"command": self.command}
            if "weights" in placeholders(self.command):
                server["weights"] = model.gguf.identity
        return {
            "engine": self.preset,
            **server,
            "model": model.served_name(self.preset),
            "api": self.api,
            "extra_body": dict(model.extra_body),
            **({} if self.prefix_cache else {"prefix_cache": False}),
            # Absent for the cache as servers have it unasked, as in stores from before there was a choice.
            **({} if kv_policy.is_plain else {"kv": kv_policy.identity()}),
        }

    @property
    def is_remote(self) -> bool:
        return self.command is None

    def _check_policy(self, policy: KVPolicy) -> None:
        if policy.is_plain and self.command is None:
            return
        if self.preset in SERVERS or policy.evicts:
            policy.require_format(self.preset)
        if self.command is not None:
            if policy.declared:
                raise ConfigError("kv_policy.declared=true: engine.command sets the policy; leave one of them out")
            check_command(self.command, self.preset, policy)
        elif not policy.declared:
            line = start_line(self.preset, policy)
            how = f"start it with `{line}` and say so" if line else "start it with this policy and say so"
            raise ConfigError(
                f"kv_policy={policy.shown}: engine={self.preset} can't set the cache of a server that runs already; "
                f"{how} with kv_policy.declared=true, or let engine.command start it"
            )

    @property
    def may_have_tokenizer(self) -> bool:
        """Whether this is no provider's host: those have the protocol's routes only."""
        return provider_of(self.address.host) is None

    def check(self) -> None:
        self._with_key()

    def known(self, model: Model) -> Served:
        name = model.served_name(self.preset)
        return Served(model=name, window=model.context_window, plain=self.api == "completions")

    def settle(self, model: Model) -> Model:
        if model.served_name(self.preset) is not None:
            return model
        if self.command is not None:
            raise ConfigError(
                "engine.command: the server is started when the run is named already; give the name that it has there "
                "with model.name=NAME"
            )
        address = self._with_key()
        with client(address, timeout_s=min(self.timeout_s, _DETECTION_TIMEOUT_S)) as http:
            return replace(model, name=detect(http, address, name=None)[0].model)

    @asynccontextmanager
    async def open(self, deployment: Deployment) -> AsyncIterator[OpenAISession]:
        address, model, process = self._with_key(), deployment.model, None
        timeout_s = min(self.timeout_s, _DETECTION_TIMEOUT_S)
        with ExitStack() as ended:
            if self.command is not None:
                url = httpx2.URL(address.url)
                if url.host not in _THIS_MACHINE:
                    raise ConfigError(
                        f"engine.base_url={address.url}: engine.command starts a server on this machine; give "
                        "engine.base_url=http://127.0.0.1:PORT/v1"
                    )
                port = free_port(80 if url.port is None else url.port)
                address = replace(address, url=str(url.copy_with(port=port)))
                command = filled_command(self.command, self.preset, deployment, port=port, concurrency=self.concurrency)
                process = ended.enter_context(started(command, address=address, timeout_s=self.start_timeout_s))
            http = ended.enter_context(client(address, timeout_s=timeout_s))
            served, counter = detect(http, address, name=model.served_name(self.preset))
            name = served.model or ""
            if process is not None:  # which was given as much context as this run takes, and not the model's window
                served = replace(served, window=None)
            counts = TokenServer(
                http=http, address=address, model=name, api=self.api, template_arguments=model.template_arguments
            )
            async with connection(address, timeout_s=self.timeout_s, requests=self.concurrency) as asked:
                yield OpenAISession(
                    client=asked,
                    address=address,
                    model=name,
                    began=replace(
                        served,
                        lines=(*served.lines, *self._own_lines(deployment.kv_policy)),
                        plain=self.api == "completions",
                    ),
                    tokenizer=counter and TOKENIZERS[counter](name=f"{self.preset}:{name}", server=counts),
                    timeout_s=self.timeout_s,
                    sampler_names=self.samplers_sent,
                    dialect=Dialect(self.max_tokens_name),
                    fields={**({} if self.prefix_cache else self.uncached_fields), **model.extra_body},
                    # Spread evenly and not sent in bursts: servers count in windows of their own.
                    interval_s=max(self.seconds_between_requests, 60.0 / (self.requests_per_minute or inf)),
                    slots=Slots(served.slots or 0 if self.concurrency > 1 and self.prefix_cache else 0),
                    process=process,
                )

    def _own_lines(self, policy: KVPolicy) -> Iterator[str]:
        if self.address.login:
            yield "asked with the user and password of engine.base_url, and no API key"
        if unsent := sorted(set(Sampling().beside_temperature(0)) - set(self.samplers_sent)):
            why = "this kind of server has no such sampler" if self.samplers_sent else "engine.sampler_names=null"
            yield f"not sent, {why}: {', '.join(unsent)}"
        if self.command is not None:
            yield STARTED_HERE
        elif policy.declared:
            line = start_line(self.preset, policy)
            yield f"KV policy {policy.shown} as declared, not checked{f': {line}' if line else ''}"

    def _with_key(self) -> Address:
        return with_key(self.address, self.api_key_env, preset=self.preset)


def detect(http: httpx2.Client, address: Address, *, name: str | None) -> tuple[Served, TokenCounter | None]:
    """What a server is, and how it counts tokens; of its only model if `name` is None."""
    listed, remarks = _listed(http, address, named=name is not None)
    if name is None and len(listed) != 1:
        models = f"several models: {', '.join(listed)}" if listed else "no model"
        raise ConfigError(f"model.name: {address.url} lists {models}; choose one with model.name=NAME")
    model = name or next(iter(listed))
    entry = listed.get(model, {})
    counter: TokenCounter | None
    slots = None
    # Each kind of server has routes that the others do not have.
    props = _asked(http, "GET", "/props")
    if window := count_at(object_at(props, "default_generation_settings"), "n_ctx"):
        counter, slots = "llama_server", count_at(props, "total_slots") or None
    elif window := count_at(_asked(http, "GET", "/api/extra/true_max_context_length"), "value"):
        count = _asked(http, "POST", "/api/extra/tokencount", {"prompt": _PROBE})
        counter = "koboldcpp" if count_at(count, "value") else None
    else:
        count = _asked(http, "POST", "/tokenize", {"model": model, "prompt": _PROBE})
        window, counter = count_at(count, "max_model_len"), "vllm" if count_at(count, "count") else None
    window = window or next((tokens for each in _WINDOW_KEYS if (tokens := count_at(entry, each))), None)
    # As llama.cpp tells the positions; its window may be longer or shorter.
    trained = count_at(object_at(entry, "meta"), "n_ctx_train") or None
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


def _listed(
    http: httpx2.Client, address: Address, *, named: bool
) -> tuple[Mapping[str, Mapping[str, object]], tuple[str, ...]]:
    """The entries of `/v1/models` by name, and lines for the report. Where a model is `named`, there may be no list."""
    where = f"engine.base_url={address.url}:"
    try:
        answer = http.get(f"{address.url}/models")
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
        target = detail_of(address.hide_in(answer.headers.get("location", "elsewhere")))
        raise RunError(f"{where} redirects to {target}; give the address itself, a key is never sent on")
    body, is_page = _object_of(answer), "html" in answer.headers.get("content-type", "")
    if answer.is_error and answer.status_code not in _NO_SUCH_ROUTE:
        words = answer.reason_phrase if is_page else address.hide_in(message_in(body) or answer.text)
        reason = f"{answer.status_code}: {detail_of(words)}"
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


def _asked(http: httpx2.Client, method: str, route: str, body: object = None) -> Mapping[str, object]:
    try:
        answer = http.request(method, route, json=body)
    except httpx2.HTTPError:
        return {}  # the list of models was answered, so only this route is missing
    return _object_of(answer) if answer.is_success else {}


def _object_of(answer: httpx2.Response) -> Mapping[str, object]:
    try:
        return parsed_object(answer.text)
    except ValueError:
        return {}
