"""Action `plan`: what a run would send, cost, hold in memory, take, and be able to show. Sends no prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from contextcliff.actions.action import Invocation
from contextcliff.actions.baseline import read_baseline
from contextcliff.actions.naming import settled
from contextcliff.actions.planner import Planner
from contextcliff.actions.prepare_run import Prepared, check_search, deployment, prepare
from contextcliff.actions.replay import replay_notes, with_replay
from contextcliff.actions.required_cap import impossible_cap, tested_quantity, unreachable_cap
from contextcliff.actions.rest_of_search import search_ahead
from contextcliff.actions.run_manifest import manifest_of
from contextcliff.annotation.ask_annotators import check_judge, judge_meter, requests_ahead
from contextcliff.engines.engine import Download, Served, ServerEngine
from contextcliff.errors import ConfigError, ExitCode, UnreachableError
from contextcliff.execution.budget import answer_tokens
from contextcliff.execution.store import Rates, Store
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.run_plan import JudgePlan, Plan
from contextcliff.settings import PositiveFloat, settings
from contextcliff.text.tokenizers import WordTokenizer


@settings
class MakePlan:
    """Rates that are given win over measured ones."""

    prefill_tokens_per_s: PositiveFloat | None = None
    decode_tokens_per_s: PositiveFloat | None = None

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Print the plan and write `plan.json`. An engine whose weights are at hand is opened to count tokens."""
        from contextcliff.reporting.plan_report import render_plan, write_plan
        from contextcliff.reporting.stored_reports import REPORT_NAME

        invocation.identify()
        check_search(invocation)
        download = invocation.engine.download(invocation.model)
        with Store(invocation.output_dir) as store:

            def figures(invocation: Invocation, prepared: Prepared, remarks: tuple[str, ...]) -> _Planned:
                # The first job of a sweep that is planned need not have run.
                baseline = None if invocation.like == "" else read_baseline(invocation)
                prepared = with_replay(invocation, invocation.identify(), prepared, baseline)
                planner = self._planner(invocation, prepared, store, download)
                impossible = impossible_cap(invocation, prepared)
                unreachable = unreachable_cap(invocation, prepared)
                replays = replay_notes(invocation, prepared)
                planned = {item.sample.sample_id for item in prepared.planned}
                made = () if prepared.search is None else prepared.search.blocks.maker.notes(planned)
                said = (tested_quantity(invocation), impossible, unreachable, *replays, *remarks, *made)
                plan = planner.plan(first_notes=tuple(note for note in said if note is not None))
                return _Planned(invocation=invocation, prepared=prepared, plan=plan)

            planned = _while_prepared(invocation, store, download, figures)
        plan, prepared, invocation = planned.plan, planned.prepared, planned.invocation
        write_plan(plan, folder=invocation.output_dir)
        invocation.on_planned(plan)
        before = invocation.output_dir / invocation.tracking.experiment / plan.run_id
        if (before / REPORT_NAME).is_file():
            invocation.on_reported(before)
        if prepared.audit is not None:
            _write_draw(invocation, prepared, prepared.audit)
        if invocation.reporting.prints:
            render_plan(plan, folder=invocation.output_dir, audit=prepared.audit)
        return ExitCode.DONE

    def _planner(self, invocation: Invocation, prepared: Prepared, store: Store, download: Download | None) -> Planner:
        ahead = None
        if prepared.search is not None:
            ahead = search_ahead(invocation, invocation.identify(), prepared, prepared.search, store)
        planned = prepared.planned if ahead is None else ahead.planned
        return Planner(
            invocation=invocation,
            prepared=prepared,
            ahead=ahead,
            missing=store.missing(prepared.planned) if ahead is None else ahead.least,
            rates=self._rates(store.rates(model=prepared.run.facts.model, engine=prepared.run.facts.engine)),
            download=download,
            judge=_judge(invocation, replace(prepared, planned=planned), store),
        )

    def _rates(self, measured: Rates | None) -> Rates | None:
        prefill = self.prefill_tokens_per_s or (measured.prefill_tokens_per_s if measured else None)
        decode = self.decode_tokens_per_s or (measured.decode_tokens_per_s if measured else None)
        return None if prefill is None else Rates(prefill_tokens_per_s=prefill, decode_tokens_per_s=decode)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Planned:
    invocation: Invocation
    """With what a server tells of itself."""
    prepared: Prepared
    plan: Plan


_Figures = Callable[[Invocation, Prepared, tuple[str, ...]], _Planned]
"""Takes the samples, with the model that would answer them, and what is to be said of how they were counted."""


def _while_prepared(invocation: Invocation, store: Store, download: Download | None, figures: _Figures) -> _Planned:
    """Prepare the samples and make the figures of them, while the engine that counts their tokens is open.

    Nothing is fetched. A server is asked only where it can tell more than the configuration does; one that is not up
    yet is planned for by what the configuration says of it.
    """
    engine = invocation.engine
    if download is not None:
        prepared = prepare(invocation, invocation.identify(), own=WordTokenizer(), served=Served())
        return figures(invocation, prepared, ())
    known = engine.configured(invocation.model) if isinstance(engine, ServerEngine) else None
    if isinstance(engine, ServerEngine) and known is not None:
        if not engine.may_have_tokenizer:
            identity = invocation.identify()
            prepared = prepare(invocation, identity, own=None, served=known, estimate=WordTokenizer())
            return figures(invocation, prepared, _missing_key(engine))
        if engine.starts_server:
            prepared = prepare(invocation, invocation.identify(), own=WordTokenizer(), served=known)
            return figures(invocation, prepared, ("tokens are estimated: a plan does not start the server",))
    try:
        if isinstance(engine, ServerEngine):
            engine.check()
        return asyncio.run(_while_open(settled(invocation, store), figures))
    except UnreachableError as error:
        if known is None:
            raise
        prepared = prepare(invocation, invocation.identify(), own=WordTokenizer(), served=known)
        return figures(invocation, prepared, (f"tokens are estimated: {error}",))


def _missing_key(engine: ServerEngine) -> tuple[str, ...]:
    """A plan needs no key; that the run will is said."""
    try:
        engine.check()
    except ConfigError as error:
        return (f"the run will stop at once: {error}",)
    return ()


async def _while_open(invocation: Invocation, figures: _Figures) -> _Planned:
    async with invocation.engine.open(deployment(invocation)) as session:
        prepared = prepare(invocation, invocation.identify(), own=session.tokenizer, served=session.served)
        return figures(invocation, prepared, ())


def _write_draw(invocation: Invocation, prepared: Prepared, audit: LengthAudit) -> None:
    """The manifest of what would be asked, and the picture of how long the documents are."""
    from contextcliff.findings.natural_lengths import audit_figure
    from contextcliff.reporting.figures.report_figures import write_figure
    from contextcliff.reporting.files import write_manifest

    write_manifest(
        manifest_of(invocation, prepared.run, prepared.planned, prepared.documents), folder=invocation.output_dir
    )
    title = f"Documents by length: {prepared.run.facts.dataset}"
    path = invocation.output_dir / "length_histogram.png"
    dpi = invocation.reporting.figure_dpi
    if dpi is None:
        path.unlink(missing_ok=True)
    else:
        write_figure(audit_figure(audit, title=title), path=path, dpi=dpi)


def _judge(invocation: Invocation, prepared: Prepared, store: Store) -> JudgePlan | None:
    """What the judge would be asked, at its worst; its engine is not opened."""
    judge = invocation.judge
    if judge is None:
        return None
    check_judge(judge, invocation.budget)
    ahead = requests_ahead(judge, prepared.planned, store, run_id=prepared.run.run_id, sampling=invocation.sampling)
    prompt = sum(item.sample.built_tokens for item in ahead)
    completion = answer_tokens((item.sample for item in ahead), judge.sampling)
    return JudgePlan(
        requests=len(ahead),
        prompt_tokens=prompt,
        completion_tokens=completion,
        usd=judge_meter(judge, invocation.budget).worst(ahead).usd,
    )
