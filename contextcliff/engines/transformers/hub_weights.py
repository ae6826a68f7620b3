"""Weights of a hub repository or of a folder in its layout: where they lie, what identifies them, fetching them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from contextcliff.errors import ConfigError, RunError, UnfetchedWeights
from contextcliff.hub import cause, quiet_the_hub, reach_the_hub, transport_errors
from contextcliff.models.weights import ends_of
from contextcliff.records.kv_cache import GIB

_CONFIG = "config.json"
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_FETCHED = ("*.json", "*.safetensors", "tokenizer*", "*.model", "*.jinja", "*.txt")
_CODE = ("*.py",)
_WAY_OUT = "give a folder that holds the model with model.hub=FOLDER, or take engine.weights=gguf"


@dataclass(frozen=True, kw_only=True, slots=True)
class HubWeights:
    """A model in the hub's own format. `runs_code` fetches the repository's Python files too."""

    name: str
    """`owner/name` on the hub, or a folder."""
    runs_code: bool = False

    @property
    def identity(self) -> str:
        """The repository's name, as for GGUF files of the hub; a digest of the files of a folder."""
        return _digest(Path(self.name)) if Path(self.name).is_dir() else f"hub:{self.name}"

    def folder_at_hand(self) -> Path | None:
        """The folder with the weights, be it in the hub's cache; None where they are not on this machine."""
        if Path(self.name).is_dir():
            return Path(self.name)
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError

        try:
            config = try_to_load_from_cache(self.name, _CONFIG)
        except HFValidationError as error:
            raise ConfigError(
                f"model.hub={self.name}: is neither a folder nor the name of a hub repository; {_WAY_OUT}"
            ) from error
        folder = Path(config).parent if isinstance(config, str) else None
        return folder if folder is not None and _weights_of(folder) else None

    def has_chat_template(self) -> bool | None:
        """Whether its tokenizer has a chat template; None where the files are not here."""
        folder = self.folder_at_hand()
        if folder is None:
            return None
        if (folder / "chat_template.jinja").is_file():
            return True
        try:
            return bool(json.loads((folder / "tokenizer_config.json").read_bytes()).get("chat_template"))
        except (OSError, ValueError, AttributeError):  # loading the tokenizer reports what is wrong with it
            return False

    def fetch(self) -> Path:
        """The folder with the weights, downloaded where they are not here.

        Raises `ConfigError` where there is no such repository, and `RunError` where the download fails.
        """
        folder = self.folder_at_hand()
        if folder is not None:
            if not _weights_of(folder):
                raise ConfigError(f"model.hub={self.name}: the folder holds no *.safetensors; {_WAY_OUT}")
            return folder
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import RepositoryNotFoundError

        quiet_the_hub()
        patterns = [*_FETCHED, *(_CODE if self.runs_code else ())]
        try:
            reach_the_hub(self.name, _CONFIG)
            return Path(snapshot_download(self.name, allow_patterns=patterns))
        except RepositoryNotFoundError as error:
            raise ConfigError(f"model.hub={self.name}: no such repository ({cause(error)}); {_WAY_OUT}") from error
        except RunError as error:
            raise self._unreachable(error) from error
        except transport_errors() as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> RunError:
        return UnfetchedWeights(f"model.hub={self.name}: can't be fetched ({cause(error)})")

    def remote_gib(self) -> float | None:
        """Size in GiB of the repository's weights; None where the hub does not say."""
        from huggingface_hub import HfApi

        quiet_the_hub()
        try:
            siblings = HfApi().model_info(self.name, files_metadata=True, timeout=5.0).siblings or []
        except transport_errors():
            return None
        sizes = [each.size for each in siblings if each.rfilename.endswith(".safetensors")]
        return sum(size or 0 for size in sizes) / GIB if sizes else None


def _weights_of(folder: Path) -> list[Path]:
    return sorted(file for pattern in _WEIGHTS for file in folder.glob(pattern))


def _digest(folder: Path) -> str:
    """SHA-256 of the configuration, and of name, size, first and last MiB of each file of weights."""
    digest = hashlib.sha256()
    for file in [folder / _CONFIG, *_weights_of(folder)]:
        try:
            digest.update(f"{file.name} {file.stat().st_size}\n".encode())
            for end in ends_of(file):
                digest.update(end)
        except OSError as error:
            raise ConfigError(
                f"model.hub={folder}: {file.name} can't be read ({error.strerror}); {_WAY_OUT}"
            ) from error
    return f"folder:{digest.hexdigest()[:32]}"
