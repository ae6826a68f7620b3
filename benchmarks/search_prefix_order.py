"""How many prompt tokens a search over one text computes on a server of one slot, beside the tree of their prefixes.

    .venv/bin/python benchmarks/search_prefix_order.py [DEPTHS] [SEEDS]

The tree computes every shared prefix once: no order computes less with a cache of any size. A slot keeps the last
prompt. Prompts go one at a time, as a search over one haystack asks for them; tokens are counted on the recipes.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from hydra import compose, initialize_config_dir

from contextcliff.actions.prepare_run import deployment, prepare
from contextcliff.actions.search_run import SearchRun
from contextcliff.composing import conf_dir
from contextcliff.config import build_invocation
from contextcliff.execution.budget import Budget, Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.schedule import in_prefix_order, shared_tokens
from contextcliff.execution.scoring import Scorer
from contextcliff.execution.store import Store
from contextcliff.records.sample import Sample

LAWS = {
    "flat .98": ("engine.law=flat", "engine.ceiling=0.98"),
    "flat .90": ("engine.law=flat", "engine.ceiling=0.90"),
    "cliff": ("engine.law=cliff", "engine.cliff_tokens=1500"),
}


async def sent(overrides: tuple[str, ...], folder: Path) -> list[Sample]:
    """The samples of a search, in the order of sending."""
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        invocation = build_invocation(compose("config", overrides=list(overrides)), overrides)
    identity, order = invocation.identify(), list[Sample]()
    with Store(folder) as store:
        async with invocation.engine.open(deployment(invocation)) as session:
            prepared = prepare(invocation, identity, own=session.tokenizer, served=session.served)
            scorer = Scorer(invocation.task, [item.sample for item in prepared.planned])
            assert prepared.search is not None
            running = SearchRun(
                invocation=invocation,
                identity=identity,
                prepared=prepared,
                search=prepared.search,
                store=store,
                scorer=scorer,
            )
            runner = Runner(
                session=session,
                sampling=invocation.sampling,
                documents=prepared.documents,
                store=store,
                run_id=identity.run_id,
                concurrency=1,
                max_retries=0,
            )
            meter = Meter(Budget(), invocation.model.price, sampling=invocation.sampling)
            await running.send(runner, meter, title="", shown=False, ended=lambda outcome: order.append(outcome.sample))
    return order


def computed(samples: list[Sample]) -> int:
    return sum(sample.built_tokens for sample in samples) - shared_tokens(samples)


def main() -> None:
    """Measure and print."""
    depths, seeds = (int(value) for value in (*sys.argv[1:], *("11", "3")[len(sys.argv) - 1 :]))
    places = ",".join(f"{place / (depths - 1):.3g}" for place in range(depths))
    print(f"{depths} depths, one text; computed tokens of one slot beside the prefix tree, and beside no cache")
    for law, overrides in LAWS.items():
        one_slot = tree = whole = 0
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as folder:
                settings = (
                    *("engine=simulated", "tracking=none", "task.trials=auto", "task.haystacks=1"),
                    *(f"engine.seed={seed}", f"task.depths=[{places}]", "engine.speculation=0", *overrides),
                )
                order = asyncio.run(sent(settings, Path(folder)))
            one_slot += computed(order)
            tree += computed(list(in_prefix_order(order)))
            whole += sum(sample.built_tokens for sample in order)
        print(f"  {law:<9} {one_slot / tree:.3f} of the tree, {one_slot / whole:.3f} of all tokens")


if __name__ == "__main__":
    main()
