"""Engine `openai`: any server that speaks the OpenAI protocol. Its presets in `conf/engine/` are YAML only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import Field

from contextcliff.engines.engine import Deployment, OnToken, Served
from contextcliff.engines.openai.api_keys import ApiKey, api_key
from contextcliff.engines.openai.detection import ServerFacts, detect, served_name
from contextcliff.engines.openai.dialect import Dialect
from contextcliff.engines.openai.exchange import Api, Request, exchange
from contextcliff.engines.openai.http import async_client, client
from contextcliff.engines.openai.pacing import Pace
from contextcliff.engines.openai.providers import provider_of
from contextcliff.engines.openai.server_address import Address, address_of
from contextcliff.engines.openai.server_tokens import TOKENIZERS, TokenServer
from contextcliff.errors import ConfigError, EngineFault
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation
from contextcliff.records.prompt import Prompt
from contextcliff.records.sample import Sample
from contextcliff.settings import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, settings
from contextcliff.text.tokens import Tokenizer

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

_DETECTION_TIMEOUT_S = 15.0
_NO_KEY = "none"  # the client insists on a word; servers without keys ignore it


@settings
class OpenAICompatible:
    """A server at `base_url`, with or without `/v1`; its key is in the environment, never in a configuration."""

    preset: str
    """Names the kind of server: in reports, and for `model.served`."""
    base_url: str
    api: Api = "chat"
    """`completions` for base models: the prompt goes as plain text, without a chat template."""
    api_key_env: str | None = None
    """The NAME of the variable that holds the key; None: the first that is set of those that may go to this host."""
    concurrency: PositiveInt = 4
    """Most requests in flight."""
    timeout_s: PositiveFloat = 300.0
    """Longest silence; a whole request may take four times that."""
    max_retries: NonNegativeInt = 5
    requests_per_minute: PositiveFloat | None = None
    seconds_between_requests: NonNegativeFloat = 0.0
    sampler_names: Mapping[str, str] = Field(default_factory=dict)
    """What this kind of server calls our samplers; one that is absent is not sent, and that is said.

    A provider that is known to have none beyond the protocol's is sent none.
    """
    max_tokens_name: str = "max_tokens"

    @property
    def name(self) -> str:
        """Name in reports."""
        return self.preset

    @property
    def address(self) -> Address:
        """`base_url` without what must not be shown. Raises `ConfigError`."""
        return address_of(self.base_url)

    @property
    def samplers_sent(self) -> Mapping[str, str]:
        """Our samplers beyond the protocol's that this host is sent, by its names."""
        provider = provider_of(self.address.host)
        return self.sampler_names if provider is None or provider.takes_samplers else {}

    def identity(self, model: Model, kv_policy: KVPolicy) -> Mapping[str, object]:
        """Server, model and what is sent beside the prompt."""
        if kv_policy.is_quantised:
            raise ConfigError(
                f"kv_policy={kv_policy.name}: engine={self.preset} can't set the cache of a server that runs already; "
                "start the server with it, and tell its runs apart with label=NAME"
            )
        if model.rope.identity():
            raise ConfigError(
                f"model.rope: engine={self.preset} can't scale the positions of a server that runs already; start the "
                "server with it, and tell its runs apart with label=NAME"
            )
        return {
            "engine": self.preset,
            "base_url": self.address.identity,
            "model": model.served_name(self.preset),
            "api": self.api,
            "extra_body": dict(model.extra_body),
        }

    def download(self, model: Model) -> None:
        """The server has its model."""

    def check(self) -> None:
        """Raise `ConfigError` for a key that is missing where the host wants one."""
        self._key()

    def asks_name(self, model: Model) -> bool:
        """Whether only the server knows which model answers."""
        return model.served_name(self.preset) is None

    def settle(self, model: Model) -> Model:
        """The model under the name that the server tells, where the configuration gives none."""
        if not self.asks_name(model):
            return model
        with self._client() as http:
            return replace(model, name=served_name(http, self.base_url, self._key()))

    def known(self, model: Model) -> Served | None:
        """The name and the window of the configuration, where it has both."""
        name = model.served_name(self.preset)
        if name is None or model.context_window is None:
            return None
        return Served(model=name, plain=self.api == "completions")

    @property
    def tells_more(self) -> bool:
        """A provider's host has the protocol's routes alone."""
        return provider_of(self.address.host) is None

    @asynccontextmanager
    async def open(self, deployment: Deployment) -> AsyncIterator[OpenAISession]:
        """Detect what the server is, and connect. Raises `RunError`, `ConfigError`."""
        import openai

        key = self._key()
        with self._client() as http:
            facts = detect(http, self.base_url, key, name=deployment.model.served_name(self.preset))
            async with openai.AsyncOpenAI(
                base_url=facts.base_url,
                api_key=key.value or _NO_KEY,
                default_headers=key.headers(),
                default_query=key.parameters,
                max_retries=0,
                timeout=self.timeout_s,
                http_client=async_client(timeout_s=self.timeout_s, connections=self.concurrency),
            ) as connection:
                yield OpenAISession(
                    engine=self,
                    client=connection,
                    key=key,
                    facts=facts,
                    model=deployment.model,
                    tokenizer=self._tokenizer(http, facts, key, deployment.model),
                    dialect=Dialect(),
                    pace=Pace(
                        requests_per_minute=self.requests_per_minute,
                        seconds_between_requests=self.seconds_between_requests,
                    ),
                )

    def _key(self) -> ApiKey:
        return api_key(self.api_key_env, self.address, preset=self.preset)

    def _client(self) -> httpx2.Client:
        return client(timeout_s=min(self.timeout_s, _DETECTION_TIMEOUT_S), parameters=self.address.parameters)

    def _tokenizer(self, http: httpx2.Client, facts: ServerFacts, key: ApiKey, model: Model) -> Tokenizer | None:
        """The server's own, by the routes that it was found to have."""
        if facts.counter is None:
            return None
        server = TokenServer(
            http=http,
            root=facts.root,
            key=key,
            model=facts.model,
            api=self.api,
            template_arguments=model.template_arguments,
        )
        return TOKENIZERS[facts.counter](name=f"{self.preset}:{facts.model}", server=server)


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenAISession:
    """A server and a model on it, and what has been learnt of its dialect."""

    engine: OpenAICompatible
    client: AsyncOpenAI
    key: ApiKey
    facts: ServerFacts
    model: Model
    tokenizer: Tokenizer | None
    dialect: Dialect
    pace: Pace

    @property
    def served(self) -> Served:
        """What was detected, and what the server would not take so far."""
        told = (
            *self.facts.lines(),
            *self._authorisation(),
            *self._unknown_samplers(),
            *self.dialect.concessions(),
        )
        return Served(
            model=self.facts.model, window=self.facts.window, told=told, plain=self.engine.api == "completions"
        )

    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        """Send one prompt, conceding what the server refuses, until it answers or a fault remains."""
        fields = self._fields(sample, sampling)
        while True:
            await self.pace.turn()
            request = self._request(sample, prompt, fields)
            try:
                generation = await exchange(self.client, request, timeout_s=self.engine.timeout_s, on_token=on_token)
                self.dialect.answered(streamed=generation.streamed)
                return generation
            except EngineFault as fault:
                # Requests in flight together are refused together: those after the first go again as they now would.
                refused = fault.kind == "bad_request"
                outdated = refused and request != self._request(sample, prompt, fields)
                if not outdated and not (refused and self.dialect.concede(fault.detail, fields)):
                    raise self._without_key(fault) from fault

    def _request(self, sample: Sample, prompt: Prompt, fields: Mapping[str, object]) -> Request:
        return Request(
            model=self.facts.model,
            prompt=prompt,
            fields=self.dialect.spoken(fields),
            api=self.engine.api,
            streams=self.dialect.streams,
            stream_usage=self.dialect.stream_usage,
            built_tokens=sample.built_tokens,
        )

    def _fields(self, sample: Sample, sampling: Sampling) -> dict[str, object]:
        names = self.engine.samplers_sent
        samplers = {names[name]: value for name, value in sampling.beyond_openai().items() if name in names}
        return {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            self.engine.max_tokens_name: sampling.generated_tokens,
            "seed": sample.seed if sampling.seed is None else sampling.seed,
            **samplers,
            **self.model.extra_body,
        }

    def _unknown_samplers(self) -> tuple[str, ...]:
        unknown = sorted(set(Sampling().beyond_openai()) - set(self.engine.samplers_sent))
        return (f"not sent, this kind of server has no such sampler: {', '.join(unknown)}",) if unknown else ()

    def _authorisation(self) -> tuple[str, ...]:
        return ("asked with the user and password of engine.base_url, and no API key",) if self.key.login else ()

    def _without_key(self, fault: EngineFault) -> EngineFault:
        return EngineFault(
            fault.kind,
            self.key.hide_in(fault.detail),
            retryable=fault.retryable,
            fatal=fault.fatal,
            retry_after_s=fault.retry_after_s,
        )
