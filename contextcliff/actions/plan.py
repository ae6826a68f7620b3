"""Action `plan`: what a run would send, cost, hold in memory, take, and be able to show. Sends no prompt."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.analyse_run import price_left_out
from contextcliff.actions.impossible_cap import impossible_cap
from contextcliff.actions.naming import settled
from contextcliff.actions.prepare_run import Prepared, check_search, deployment, prepare, stored_before
from contextcliff.actions.run_manifest import manifest_of
from contextcliff.annotation.ask_annotators import check_judge, requests_ahead
from contextcliff.engines.engine import Download, Served, ServerEngine
from contextcliff.errors import ConfigError, ExitCode, RunError, UnreachableError
from contextcliff.execution.budget import NOTHING, Cost, Meter, answer_tokens
from contextcliff.execution.schedule import shared_tokens
from contextcliff.execution.store import PlannedSample, Rates, Store
from contextcliff.kv.policy import Architecture, kv_gib, read_architecture
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.run_plan import JudgePlan, Plan, PlanBin
from contextcliff.records.sample import Sample
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

        invocation.identify()
        check_search(invocation)
        download = invocation.engine.download(invocation.model)
        with Store(invocation.output_dir) as store:
            invocation, prepared, remarks = _prepared(invocation, store, download)
            missing = store.missing(prepared.planned)
            judge = _judge(invocation, prepared, store)
            rates = self._rates(store.rates(model=prepared.run.facts.model, engine=prepared.run.facts.engine))
        impossible = impossible_cap(invocation, invocation.identify(), prepared)
        first_notes = (*(() if impossible is None else (impossible,)), *remarks)
        plan = _plan(invocation, prepared, missing, rates, download, judge, first_notes=first_notes)
        write_plan(plan, folder=invocation.output_dir)
        if prepared.audit is not None:
            _write_draw(invocation, prepared, prepared.audit)
        if invocation.reporting.console:
            render_plan(plan, folder=invocation.output_dir, audit=prepared.audit)
        return ExitCode.DONE

    def _rates(self, measured: Rates | None) -> Rates | None:
        prefill = self.prefill_tokens_per_s or (measured.prefill_tokens_per_s if measured else None)
        decode = self.decode_tokens_per_s or (measured.decode_tokens_per_s if measured else None)
        return None if prefill is None else Rates(prefill_tokens_per_s=prefill, decode_tokens_per_s=decode)


def _prepared(
    invocation: Invocation, store: Store, download: Download | None
) -> tuple[Invocation, Prepared, tuple[str, ...]]:
    """The samples, with the model that would answer them, and what is to be said of how they were counted.

    Nothing is fetched. A server is asked only where it can tell more than the configuration does; one that is not up
    yet is planned for by what the configuration says of it.
    """
    engine = invocation.engine
    if download is not None:
        return invocation, prepare(invocation, invocation.identify(), own=WordTokenizer(), served=Served()), ()
    known = engine.configured(invocation.model) if isinstance(engine, ServerEngine) else None
    if isinstance(engine, ServerEngine) and known is not None and not engine.may_have_tokenizer:
        identity = invocation.identify()
        prepared = prepare(invocation, identity, own=None, served=known, estimate=WordTokenizer())
        return invocation, prepared, _missing_key(engine)
    try:
        if isinstance(engine, ServerEngine):
            engine.check()
        invocation = settled(invocation, store)
        return invocation, asyncio.run(_prepare_open(invocation, invocation.identify())), ()
    except UnreachableError as error:
        if known is None:
            raise
        prepared = prepare(invocation, invocation.identify(), own=WordTokenizer(), served=known)
        return invocation, prepared, (f"tokens are estimated: {error}",)


def _missing_key(engine: ServerEngine) -> tuple[str, ...]:
    """A plan needs no key; that the run will is said."""
    try:
        engine.check()
    except ConfigError as error:
        return (f"the run will stop at once: {error}",)
    return ()


async def _prepare_open(invocation: Invocation, identity: Identity) -> Prepared:
    async with invocation.engine.open(deployment(invocation)) as session:
        return prepare(invocation, identity, own=session.tokenizer, served=session.served)


def _write_draw(invocation: Invocation, prepared: Prepared, audit: LengthAudit) -> None:
    """The manifest of what would be asked, and the picture of how long the documents are."""
    from contextcliff.reporting.figures.report_figures import write_figure
    from contextcliff.reporting.files import write_manifest
    from contextcliff.reporting.sections.natural_lengths_section import audit_figure

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


def _plan(
    invocation: Invocation,
    prepared: Prepared,
    missing: Sequence[PlannedSample],
    rates: Rates | None,
    download: Download | None,
    judge: JudgePlan | None,
    *,
    first_notes: Sequence[str],
) -> Plan:
    from contextcliff.statistics.sample_size import detectable_drop

    samples = [item.sample for item in missing]
    prompt = sum(sample.built_tokens for sample in samples)
    cached = shared_tokens(samples)
    completion = answer_tokens(samples, invocation.sampling)
    ordinary = [item.sample for item in prepared.planned if item.sample.is_ordinary]
    binned = {sample.sample_id: length for length, group in _lengths(ordinary).items() for sample in group}
    per_length = Counter(binned[sample.sample_id] for sample in ordinary)
    to_send = Counter(binned[sample.sample_id] for sample in samples if sample.is_ordinary)
    # Repeats of one question, and samples that one generation answers, are one piece of evidence.
    items = {(sample.document_id, sample.item or sample.sample_id): sample for sample in ordinary}
    evidence = Counter(binned[sample.sample_id] for sample in items.values())
    usd = invocation.model.price.of(computed_tokens=prompt - cached, cached_tokens=cached, completion_tokens=completion)
    dollars = [known for known in (usd, None if judge is None else judge.usd) if known is not None]
    architecture = _architecture(invocation)
    answer = max(invocation.sampling.for_answer(sample.answer_tokens).generated_tokens for sample in ordinary)
    return Plan(
        run_id=prepared.run.run_id,
        model=prepared.run.facts.model,
        engine=prepared.run.facts.engine,
        tokenizer=prepared.run.facts.tokenizer,
        samples=to_send.total(),
        controls=len(samples) - to_send.total(),
        stored=stored_before(prepared.planned, missing),
        prompt_tokens=prompt,
        cached_prompt_tokens=cached,
        completion_tokens=completion,
        usd=None if not dollars else sum(dollars),
        wall_s=_wall_s(rates, computed_tokens=prompt - cached, completion_tokens=completion),
        download=None if download is None else download.name,
        download_gib=None if download is None else download.gib,
        detectable_drop=detectable_drop(min(evidence.values()), confidence=invocation.analysis.confidence),
        confidence=invocation.analysis.confidence,
        bins=tuple(
            PlanBin(
                context_tokens=length,
                samples=to_send[length],
                kv_gib=None if architecture is None else kv_gib(architecture, invocation.kv_policy, length + answer),
            )
            for length in sorted(per_length)
        ),
        notes=(
            *first_notes,
            *prepared.run.facts.notes,
            *_unpriced(usd, judge),
            *_notes(invocation, missing, rates, download, judge),
        ),
        judge=judge,
    )


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
        usd=judge.model.price.of(computed_tokens=prompt, cached_tokens=0, completion_tokens=completion),
    )


def _cost(judge: JudgePlan | None) -> Cost:
    if judge is None:
        return NOTHING
    return Cost(tokens=judge.prompt_tokens + judge.completion_tokens, usd=judge.usd)


def _unpriced(usd: float | None, judge: JudgePlan | None) -> tuple[str, ...]:
    """What the dollars of a plan leave out."""
    if judge is None or (usd is None) is (judge.usd is None):
        return ()
    return (price_left_out(judge=judge.usd is None),)


def _lengths(samples: Sequence[Sample]) -> Mapping[int, Sequence[Sample]]:
    """Samples by designed length; where documents have their own, by the longest of each bin."""
    groups: defaultdict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.context_tokens if sample.bin is None else sample.bin].append(sample)
    return {max(sample.context_tokens for sample in group): group for group in groups.values()}


def _wall_s(rates: Rates | None, *, computed_tokens: int, completion_tokens: int) -> float | None:
    """Seconds of one request after another; answers count where their rate is known."""
    if rates is None:
        return None
    answers = 0.0 if rates.decode_tokens_per_s is None else completion_tokens / rates.decode_tokens_per_s
    return computed_tokens / rates.prefill_tokens_per_s + answers


def _architecture(invocation: Invocation) -> Architecture | None:
    """The model's, where its weights lie here."""
    gguf = invocation.model.gguf
    try:
        return read_architecture(gguf.fetch()) if gguf.is_at_hand() else None
    except ConfigError:  # a model of a server names no weights
        return None


def _notes(
    invocation: Invocation,
    missing: Sequence[PlannedSample],
    rates: Rates | None,
    download: Download | None,
    judge: JudgePlan | None,
) -> tuple[str, ...]:
    notes = []
    if invocation.task.graded:
        notes.append(
            "the fall that is detected is one of right-or-wrong scores; those of prose are fractions and spread less: "
            "a run says how many rounds would settle it"
        )
    if download is not None:
        notes.append("the weights are not here yet: tokens are estimated, and the run would fetch them first")
    if rates is None:
        notes.append(
            "no rate is known: give action.prefill_tokens_per_s (and action.decode_tokens_per_s), or run a few samples"
        )
    if invocation.budget.is_set:
        meter = Meter(invocation.budget, invocation.model.price, sampling=invocation.sampling)
        try:
            meter.refuse_beyond(missing, beside=_cost(judge))
        except RunError as error:
            notes.append(str(error))
    return tuple(notes)
