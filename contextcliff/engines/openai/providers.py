"""The hosted services that are known: their hosts, their API keys, and what they accept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """A hosted service: it always needs a key, and has no routes beside the OpenAI protocol's."""

    domain: str
    variables: tuple[str, ...] = ()
    """The environment variables that hold keys of this provider."""
    preset: str = ""
    """The engine preset made for this provider; empty where it has none (`openai` is for any host)."""
    takes_samplers: bool = True
    """Whether it accepts samplers beyond the protocol's."""

    def serves(self, host: str) -> bool:
        """Whether a host is this provider's."""
        return host == self.domain or host.endswith(f".{self.domain}")


PROVIDERS = (
    Provider(domain="api.openai.com", variables=("OPENAI_API_KEY",), takes_samplers=False),
    Provider(domain="openai.azure.com", variables=("AZURE_OPENAI_API_KEY",), takes_samplers=False),
    Provider(domain="nvidia.com", preset="nvidia_nim", variables=("NVIDIA_API_KEY", "NVAPI_KEY")),
    Provider(
        domain="generativelanguage.googleapis.com", preset="gemini", variables=("GEMINI_API_KEY", "GOOGLE_API_KEY")
    ),
    Provider(domain="googleapis.com"),  # Vertex AI: tokens last an hour, in a variable that the user names
    Provider(domain="openrouter.ai", preset="openrouter", variables=("OPENROUTER_API_KEY",)),
    Provider(domain="z.ai", preset="zai", variables=("ZAI_API_KEY",)),
)


def provider_of(host: str) -> Provider | None:
    """The provider whose host this is; None for any other host."""
    return next((provider for provider in PROVIDERS if provider.serves(host)), None)


def provider_for(preset: str) -> Provider | None:
    """The provider that an engine preset is made for; None for a preset for any server."""
    return next((provider for provider in PROVIDERS if provider.preset and provider.preset == preset), None)
