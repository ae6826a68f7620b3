"""Weights of the hub or of a folder, and loading them or a GGUF file. `require` has to look for torch first."""

from __future__ import annotations

import gc
import hashlib
import importlib.util
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contextcliff.errors import ConfigError, RunError, UnfetchedWeights
from contextcliff.hub import cause, quiet_the_hub, reach_the_hub, transport_errors
from contextcliff.models.gguf_header import Value, read_header, tensor_names
from contextcliff.models.model import Rope
from contextcliff.models.trained_positions import of_config, of_gguf
from contextcliff.models.weights import ends_of
from contextcliff.records.kv_cache import GIB
from contextcliff.records.positions import Positions

WAY_OUT = 'pip install "contextcliff[hf]"'
_CONFIG = "config.json"
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_FETCHED = ("*.json", "*.safetensors", "tokenizer*", "*.model", "*.jinja", "*.txt")
_OTHER_WEIGHTS = "give a folder that holds the model with model.hub=FOLDER, or take engine.weights=gguf"


def require(*further: str) -> None:
    """Raise `ConfigError` where torch, or one of the `further` packages that this run needs, is not installed.

    To be called before torch is imported: its threads then sleep while they wait for each other, which OpenMP reads
    once. On two busy cores threads that spin took 3.4 s for a token of the embedded model, and these 0.15 to 0.5 s."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    absent = [package for package in ("torch", "accelerate", *further) if importlib.util.find_spec(package) is None]
    if absent:
        raise ConfigError(f"engine=transformers: needs {', '.join(absent)}; run `{WAY_OUT}`")


@dataclass(frozen=True, kw_only=True, slots=True)
class HubWeights:
    """A model in the hub's own format. `runs_code` fetches the repository's Python files too."""

    name: str
    runs_code: bool = False

    @property
    def identity(self) -> str:
        """The repository's name; of a folder a digest of its configuration and of the weights' names, sizes, ends."""
        folder = Path(self.name)
        if not folder.is_dir():
            return f"hub:{self.name}"
        digest = hashlib.sha256()
        for file in [folder / _CONFIG, *_weights_of(folder)]:
            try:
                digest.update(f"{file.name} {file.stat().st_size}\n".encode())
                for end in ends_of(file):
                    digest.update(end)
            except OSError as error:
                why = f"{file.name} can't be read ({error.strerror})"
                raise ConfigError(f"model.hub={folder}: {why}; {_OTHER_WEIGHTS}") from error
        return f"folder:{digest.hexdigest()[:32]}"

    def is_at_hand(self) -> bool:
        return self._folder() is not None

    def _folder(self) -> Path | None:
        if Path(self.name).is_dir():
            return Path(self.name)
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError

        try:
            config = try_to_load_from_cache(self.name, _CONFIG)
        except HFValidationError as error:
            raise ConfigError(
                f"model.hub={self.name}: is neither a folder nor the name of a hub repository; {_OTHER_WEIGHTS}"
            ) from error
        folder = Path(config).parent if isinstance(config, str) else None
        return folder if folder is not None and _weights_of(folder) else None

    def has_chat_template(self) -> bool | None:
        folder = self._folder()
        if folder is None:
            return None
        if (folder / "chat_template.jinja").is_file():
            return True
        try:
            return bool(json.loads((folder / "tokenizer_config.json").read_bytes()).get("chat_template"))
        except (OSError, ValueError, AttributeError):  # loading the tokenizer reports what is wrong with it
            return False

    def fetch(self) -> Path:
        folder = self._folder()
        if folder is not None:
            if not _weights_of(folder):
                raise ConfigError(f"model.hub={self.name}: the folder holds no *.safetensors; {_OTHER_WEIGHTS}")
            return folder
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import RepositoryNotFoundError

        code = ["*.py"] if self.runs_code else []
        failures: tuple[type[Exception], ...] = (RunError, *transport_errors())
        try:
            reach_the_hub(self.name, _CONFIG)
            return Path(snapshot_download(self.name, allow_patterns=[*_FETCHED, *code]))
        except RepositoryNotFoundError as error:
            why = f"no such repository ({cause(error)})"
            raise ConfigError(f"model.hub={self.name}: {why}; {_OTHER_WEIGHTS}") from error
        except failures as error:
            raise UnfetchedWeights(f"model.hub={self.name}: can't be fetched ({cause(error)})") from error

    def remote_gib(self) -> float | None:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """How a model is loaded, as the engine's settings have it; `runs_code`: Python files beside the weights are run."""

    device: str
    dtype: str
    attention: str
    rope: Rope
    runs_code: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """A model (`PreTrainedModel`) on its device, and its tokenizer (`PreTrainedTokenizerFast`)."""

    model: Any
    tokenizer: Any
    positions: Positions | None
    """Those of the file's header or of the configuration, before `model.rope` changed that."""

    @property
    def window(self) -> int | None:
        window = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return window if isinstance(window, int) and window > 0 else None

    @property
    def end_tokens(self) -> frozenset[int]:
        """Tokens that end an answer, as `generate` has them. The tokenizer's own end token is not one of them: that of
        a GGUF file is wrong in transformers 5.2, which takes the token that begins a text."""
        given = self.model.generation_config.eos_token_id
        return frozenset() if given is None else frozenset([given] if isinstance(given, int) else given)


def load(weights: Path, setup: Setup) -> Loaded:
    """Load a `.gguf` file or a folder. Raises `ConfigError` for what can't be loaded so, `RunError` for what fails."""
    import torch
    from tokenizers import processors
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logging.getLogger("kvpress").setLevel(logging.ERROR)
    is_gguf = weights.suffix == ".gguf"
    source = str(weights.parent) if is_gguf else str(weights)
    given: dict[str, Any] = {"trust_remote_code": setup.runs_code, "local_files_only": True}
    given |= {"gguf_file": weights.name} if is_gguf else {}
    try:
        header = _checked_header(weights) if is_gguf else {}
        config = AutoConfig.from_pretrained(source, **given)
        positions = of_gguf(weights) if is_gguf else of_config(config.to_dict())
        _scale_positions(config, setup.rope)
        tokenizer = AutoTokenizer.from_pretrained(source, use_fast=True, **given)
        how = {"dtype": getattr(torch, setup.dtype), "attn_implementation": setup.attention}
        model = AutoModelForCausalLM.from_pretrained(source, config=config, **how, **given)
        if header.get("tokenizer.ggml.add_bos_token") is False:
            # transformers 5.2 adds one all the same: a prompt in a chat template would begin with two, and the embedded
            # model would answer differently.
            tokenizer.backend_tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
        return Loaded(model=model.to(setup.device).eval(), tokenizer=tokenizer, positions=positions)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError) as error:
        if isinstance(error, RuntimeError) and "CUDA" in str(error):
            raise RunError(f"engine.device={setup.device}: the model can't be loaded there ({cause(error)})") from error
        other = "engine.weights=hub" if is_gguf else "engine.weights=gguf"
        raise RunError(
            f"transformers can't load {weights} ({cause(error)}); is it a model that this version knows? {other} "
            "takes the model's other weights, where it names some"
        ) from error


def usable_device(device: str) -> str:
    """The device to compute on. Raises `ConfigError` for one that is not here."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(device)
    except RuntimeError as error:
        raise ConfigError(f"engine.device={device}: no such device; give cpu, cuda or cuda:0") from error
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        raise ConfigError(f"engine.device={device}: torch sees {torch.cuda.device_count()} GPUs here; give cpu or auto")
    return device


def free_memory() -> None:
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def is_out_of_memory(error: BaseException) -> bool:
    import torch

    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(
        words in str(error) for words in ("can't allocate memory", "not enough memory", "out of memory")
    )


def _checked_header(weights: Path) -> Mapping[str, Value]:
    """The header of a GGUF file. Raises `ConfigError` where it scales positions in ways that transformers ignores."""
    header = read_header(weights)
    scaling = header.get(f"{header.get('general.architecture')}.rope.scaling.type", "none")
    if scaling != "none" or "rope_freqs.weight" in tensor_names(weights):
        raise ConfigError(
            f"model.gguf: {weights.name} scales its positions, which transformers does not read from a GGUF file; take "
            "engine.weights=hub, or engine=llamacpp"
        )
    return header


def _scale_positions(config: Any, rope: Rope) -> None:
    """Put `model.rope` into a configuration. Raises `ConfigError` where the model has other positions."""
    if rope.type is None and rope.base is None:
        return
    text = config.get_text_config()
    own = getattr(text, "rope_parameters", None)
    if not isinstance(own, dict) or "rope_theta" not in own:
        raise ConfigError(
            f"model.rope: transformers has no single setting of rotary positions for {config.model_type}; leave "
            "model.rope.type and model.rope.base at null, or take engine=llamacpp"
        )
    parameters = dict(own) if rope.type is None else {"rope_type": "default", "rope_theta": own["rope_theta"]}
    if rope.factor is not None:
        parameters |= {"rope_type": rope.type, "factor": rope.factor}
    if rope.type == "yarn":
        window = own.get("original_max_position_embeddings") or text.max_position_embeddings
        parameters["original_max_position_embeddings"] = window
    if rope.base is not None:
        parameters["rope_theta"] = rope.base
    text.rope_parameters = parameters
