"""Action `run`: build the samples, send what is not stored yet, conclude."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.conclude import conclude
from contextcliff.engines.engine import Deployment
from contextcliff.errors import ExitCode
from contextcliff.execution.runner import Runner
from contextcliff.execution.schedule import in_prefix_order
from contextcliff.execution.store import PlannedSample, Store, StoredRun, refuse_taken_label
from contextcliff.records import render
from contextcliff.reporting.progress import progress_bar
from contextcliff.settings import settings
from contextcliff.tasks.task import Materials

_TEMPLATE_SLACK_TOKENS = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sent:
    reused: int
    interrupted: bool


@settings
class Run:
    """Executes the task. A generation that is stored is never asked for again."""

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Return `INTERRUPTED` after Ctrl-C, when the report is partial; what was answered is kept."""
        identity = invocation.identify()
        invocation.task.longest_context(invocation.room)
        with Store(invocation.output_dir) as store:
            refuse_taken_label(store, label=invocation.label, fingerprint=identity.fingerprint)
            started = time.monotonic()
            sent = asyncio.run(_send(invocation, identity, store))
            store.add_wall_time(identity.run_id, time.monotonic() - started)
            if sent.interrupted:
                sys.stderr.write("interrupted: what was answered is kept, and the same command goes on\n")
                if store.run(identity.run_id) is None:
                    return ExitCode.INTERRUPTED
            conclude(invocation, identity, store, reused=sent.reused)
        return ExitCode.INTERRUPTED if sent.interrupted else ExitCode.DONE


async def _send(invocation: Invocation, identity: Identity, store: Store) -> _Sent:
    longest = invocation.task.longest_context(invocation.room)
    texts = invocation.dataset.documents(tokens=longest, seed=invocation.seed)
    documents = {document.document_id: document for document in texts}
    deployment = Deployment(
        model=invocation.model,
        kv_policy=invocation.kv_policy,
        context_tokens=longest + invocation.sampling.max_tokens + _TEMPLATE_SLACK_TOKENS,
    )
    async with invocation.engine.open(deployment) as session:
        tokenizer = invocation.tokenizer.choose(session.tokenizer)
        materials = Materials(
            documents=texts,
            tokenizer=tokenizer,
            room=invocation.room,
            seed=invocation.seed,
            text_identity=identity.text_identity,
        )
        samples = in_prefix_order(invocation.task.build(materials))
        planned = [
            PlannedSample(sample=sample, prompt_sha256=sha256, key=identity.respondent.key(sample, sha256))
            for sample in samples
            for sha256 in [render(sample.recipe, documents).sha256]
        ]
        run = StoredRun(
            run_id=identity.run_id,
            fingerprint=identity.fingerprint,
            label=invocation.label,
            facts={"tokenizer": tokenizer.name, "dataset": ", ".join(document.title for document in texts)},
        )
        store.begin(run, planned)
        missing = [item for item in planned if store.generation(item.key) is None]
        runner = Runner(
            session=session,
            sampling=invocation.sampling,
            documents=documents,
            store=store,
            run_id=identity.run_id,
            concurrency=invocation.engine.concurrency,
            max_retries=invocation.engine.max_retries,
        )
        interrupted = await _execute(runner, missing, invocation)
    return _Sent(reused=len(planned) - len(missing), interrupted=interrupted)


async def _execute(runner: Runner, missing: Sequence[PlannedSample], invocation: Invocation) -> bool:
    """Send what is missing under a progress bar; True where Ctrl-C ended it."""
    if not missing:
        return False
    total = sum(item.sample.built_tokens for item in missing)
    title = f"{invocation.task.name} · {invocation.model.name} · kv {invocation.kv_policy.name}"
    with progress_bar(
        title, total_tokens=total, total_samples=len(missing), shown=invocation.reporting.progress
    ) as advance:
        try:
            async for outcome in runner.execute(missing):
                advance(outcome.sample.built_tokens)
        except asyncio.CancelledError:
            # asyncio turns the first Ctrl-C into this; a second one is not caught.
            return True
    return False
