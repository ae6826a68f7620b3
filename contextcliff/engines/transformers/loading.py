"""Loading a model and its tokenizer with transformers, from a GGUF file or from a folder in the hub's layout.

Imports neither torch nor transformers before `require` has looked for them: they come with the extra `hf`.
"""

from __future__ import annotations

import gc
import importlib.util
import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contextcliff.errors import ConfigError, RunError
from contextcliff.hub import cause
from contextcliff.models.gguf_header import Value, read_header, tensor_names
from contextcliff.models.model import Rope
from contextcliff.models.trained_positions import of_config, of_gguf
from contextcliff.records.positions import Positions

WAY_OUT = 'pip install "contextcliff[hf]"'
_ALWAYS = ("torch", "accelerate")
_FREQUENCIES = "rope_freqs.weight"
_ADDS_BEGINNING = "tokenizer.ggml.add_bos_token"


def require(engine: str, *further: str) -> None:
    """Raise `ConfigError` where torch, or one of the `further` packages that this run needs, is not installed.

    To be called before torch is imported: its threads then sleep while they wait for each other, which OpenMP reads
    once. On two busy cores threads that spin took 3.4 s for a token of the embedded model, and these 0.15 to 0.5 s.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    absent = _absent((*_ALWAYS, *further))
    if absent:
        raise ConfigError(f"engine={engine}: needs {', '.join(absent)}; run `{WAY_OUT}`")


def _absent(packages: Collection[str]) -> list[str]:
    return [package for package in packages if importlib.util.find_spec(package) is None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """How a model is loaded."""

    device: str
    dtype: str
    """Of weights and computation: `float32`, `bfloat16`, `float16`."""
    attention: str
    """`sdpa` or `eager`."""
    rope: Rope
    runs_code: bool
    """Whether Python files beside the weights are run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """A model (`PreTrainedModel`) on its device, and its tokenizer (`PreTrainedTokenizerFast`)."""

    model: Any
    tokenizer: Any
    positions: Positions | None
    """Those of the file's header or of the configuration, before `model.rope` changed that."""

    @property
    def window(self) -> int | None:
        """Most tokens by its configuration; None where that says nothing."""
        window = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return window if isinstance(window, int) and window > 0 else None

    @property
    def end_tokens(self) -> frozenset[int]:
        """Tokens that end an answer, as `generate` has them.

        The tokenizer's own end token is not one of them: that of a GGUF file is wrong in transformers 5.2, which takes
        the token that begins a text.
        """
        given = self.model.generation_config.eos_token_id
        return frozenset() if given is None else frozenset([given] if isinstance(given, int) else given)


def load(weights: Path, setup: Setup) -> Loaded:
    """Load a `.gguf` file or a folder. Raises `ConfigError` for what can't be loaded so, `RunError` for what fails."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logging.getLogger("kvpress").setLevel(logging.ERROR)
    is_gguf = weights.suffix == ".gguf"
    source = str(weights.parent) if is_gguf else str(weights)
    given: dict[str, Any] = {"trust_remote_code": setup.runs_code, "local_files_only": True}
    if is_gguf:
        given["gguf_file"] = weights.name
    try:
        header = _checked_header(weights) if is_gguf else {}
        config = AutoConfig.from_pretrained(source, **given)
        positions = of_gguf(weights) if is_gguf else of_config(config.to_dict())
        _scale_positions(config, setup.rope)
        tokenizer = AutoTokenizer.from_pretrained(source, use_fast=True, **given)
        model = AutoModelForCausalLM.from_pretrained(
            source,
            config=config,
            dtype=getattr(torch, setup.dtype),
            attn_implementation=setup.attention,
            **given,
        )
        if header.get(_ADDS_BEGINNING) is False:
            _add_no_beginning(tokenizer)
        return Loaded(model=model.to(setup.device).eval(), tokenizer=tokenizer, positions=positions)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError) as error:
        if isinstance(error, RuntimeError) and "CUDA" in str(error):
            raise RunError(f"engine.device={setup.device}: the model can't be loaded there ({cause(error)})") from error
        other = "engine.weights=hub" if is_gguf else "engine.weights=gguf"
        raise RunError(
            f"transformers can't load {weights} ({cause(error)}); is it a model that this version knows? {other} "
            "takes the model's other weights, where it names some"
        ) from error


def free_memory() -> None:
    """Give the memory that nothing holds any more back to the device."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _checked_header(weights: Path) -> Mapping[str, Value]:
    """The header of a GGUF file. Raises `ConfigError` where it scales positions in ways that transformers ignores."""
    header = read_header(weights)
    scaling = header.get(f"{header.get('general.architecture')}.rope.scaling.type", "none")
    if scaling != "none" or _FREQUENCIES in tensor_names(weights):
        raise ConfigError(
            f"model.gguf: {weights.name} scales its positions, which transformers does not read from a GGUF file; take "
            "engine.weights=hub, or engine=llamacpp"
        )
    return header


def _add_no_beginning(tokenizer: Any) -> None:
    """Make the tokenizer add no token at the beginning of a text, as the GGUF file says.

    transformers 5.2 adds one all the same. A prompt in a chat template that is tokenised with it begins with two, and
    the embedded model then answers differently.
    """
    from tokenizers import processors

    tokenizer.backend_tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)


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
    parameters = dict(own)
    if rope.type is not None:
        parameters = {"rope_type": "default", "rope_theta": own["rope_theta"]}
    if rope.factor is not None:
        parameters |= {"rope_type": rope.type, "factor": rope.factor}
    if rope.type == "yarn":
        window = own.get("original_max_position_embeddings") or text.max_position_embeddings
        parameters["original_max_position_embeddings"] = window
    if rope.base is not None:
        parameters["rope_theta"] = rope.base
    text.rope_parameters = parameters
