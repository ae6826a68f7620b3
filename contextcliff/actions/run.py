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
from contextcliff.errors import ConfigError, ExitCode
from contextcliff.execution.runner import Runner
from contextcliff.execution.schedule import in_prefix_order
from contextcliff.execution.store import PlannedSample, Store, StoredRun, refuse_taken_label
from contextcliff.records import render
from contextcliff.reporting.progress import progress_bar
from contextcliff.settings import settings
from contextcliff.tasks.task import Materials
from contextcliff.text.choice import Offer

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
        room = invocation.room()
        if room is not None:
            invocation.task.longest_context(room)
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
    async with invocation.engine.open(_deployment(invocation)) as session:
        served = session.served
        room = invocation.room(detected=served.window)
        if room is None:
            raise ConfigError("model.context_window: the server does not tell it; give model.context_window=TOKENS")
        texts = invocation.dataset.documents(tokens=invocation.task.longest_context(room), seed=invocation.seed)
        documents = {document.document_id: document for document in texts}
        tokenizer = invocation.tokenizer.choose(
            Offer(
                own=session.tokenizer,
                hub=invocation.model.hub,
                template_arguments=invocation.model.template_arguments,
            )
        )
        materials = Materials(
            documents=texts,
            tokenizer=tokenizer,
            room=room,
            seed=invocation.seed,
            text_identity=identity.text_identity,
        )
        planned = [
            PlannedSample(sample=sample, prompt_sha256=sha256, key=key)
            for sample in in_prefix_order(invocation.task.build(materials))
            for sha256 in [render(sample.recipe, documents).sha256]
            for key in [identity.respondent.key(sample, sha256, served=served.model)]
        ]
        run = StoredRun(
            run_id=identity.run_id,
            fingerprint=identity.fingerprint,
            label=invocation.label,
            facts={
                "model": invocation.model.name or served.model or invocation.model_name,
                "window": str(room.context_window),
                "tokenizer": tokenizer.name,
                "dataset": ", ".join(document.title for document in texts),
                "server": "\n".join(served.told),
            },
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
        # What the server would not take is known only now.
        store.record_facts(run.run_id, {**run.facts, "server": "\n".join(session.served.told)})
    return _Sent(reused=len(planned) - len(missing), interrupted=interrupted)


def _deployment(invocation: Invocation) -> Deployment:
    room = invocation.room()
    context_tokens = None
    if room is not None:
        longest = invocation.task.longest_context(room)
        context_tokens = longest + room.answer_tokens + _TEMPLATE_SLACK_TOKENS
    return Deployment(model=invocation.model, kv_policy=invocation.kv_policy, context_tokens=context_tokens)


async def _execute(runner: Runner, missing: Sequence[PlannedSample], invocation: Invocation) -> bool:
    """Send what is missing under a progress bar; True where Ctrl-C ended it."""
    if not missing:
        return False
    total = sum(item.sample.built_tokens for item in missing)
    title = f"{invocation.task.name} · {invocation.model_name} · kv {invocation.kv_policy.name}"
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
