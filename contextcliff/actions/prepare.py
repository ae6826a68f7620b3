"""The first stage of a run, and of a plan: texts, tokenizer, samples in their order, keys."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from contextcliff.actions.action import Invocation
from contextcliff.analysis.search import Path, StepScores, design_of, perfect
from contextcliff.engines.engine import Deployment, Served
from contextcliff.errors import ConfigError
from contextcliff.execution.schedule import in_prefix_order
from contextcliff.execution.store import PlannedSample, Respondent, Store, StoredRun
from contextcliff.kv.model_cache import cache_facts
from contextcliff.models.trained_positions import positions_of
from contextcliff.records.corpus import Corpus, Document
from contextcliff.records.report import RunFacts
from contextcliff.records.sample import Sample, render
from contextcliff.records.search_record import MOST_CANDIDATES, Key, SearchPlan, SearchRule
from contextcliff.tasks.task import ContextBudget, Materials, Steps, TaskPlan, joined
from contextcliff.text.control_tokens import ControlTokens
from contextcliff.text.tokenizer_choice import TokenizerSources
from contextcliff.text.tokens import Tokenizer

_TEMPLATE_SLACK_TOKENS = 64
_MOST_TITLES = 3
_ESTIMATED = (
    "the model's tokens could not be matched with the text, only counted: prompts may be a few tokens shorter than "
    "asked for, and needles a few tokens from their depth"
)
_ASSUMED_WINDOW = 131_072
_NO_WINDOW = (
    f"the server tells no window: one of {_ASSUMED_WINDOW:,} tokens was assumed, and what it refuses as too long ends "
    "the range; give model.context_window=TOKENS for another"
)
_CHARACTERS_PER_TOKEN = 8
"""A text of so many for each token of a length is certainly long enough for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A run that is ready to be sent, or to be counted; controls are among `planned`, marked as such."""

    run: StoredRun
    planned: tuple[PlannedSample, ...]
    documents: Mapping[str, Document]
    materials: Materials
    respondent: Respondent
    served: str | None
    search: PreparedSearch | None = None
    """What a search of the cap asks; `planned` is then what it asks a perfect model. None: `planned` is all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedSearch:
    """A search that is ready to begin."""

    plan: SearchPlan
    rule: SearchRule
    steps: Steps
    replayed: tuple[Key, ...] = ()
    """Steps that are asked for comparisons, whatever the search needs."""

    def perfect(self, key: Key) -> StepScores:
        pieces = tuple(sample.item or (sample.recipe, sample.question) for sample in self.steps.step(*key).samples)
        return replace(perfect(self.plan), pieces=pieces)

    def perfect_path(self) -> Path:
        path, _ = Path(self.plan, self.rule).played({}, self.perfect)
        return path


def deployment(invocation: Invocation) -> Deployment:
    """What the engine has to make ready. Raises `ConfigError` for lengths that don't fit the model's window."""
    window, task = invocation.window(), invocation.task
    context_tokens = None
    if window is not None:
        room = invocation.context_budget(window)
        # An answer's own length stands beside the thinking; `room.answer_tokens` has both.
        answer = max(task.longest_answer(room) + room.thinking_tokens, room.answer_tokens)
        context_tokens = task.longest_context(room) + answer + _TEMPLATE_SLACK_TOKENS
    return Deployment(model=invocation.model, kv_policy=invocation.kv_policy, context_tokens=context_tokens)


def prepare(
    invocation: Invocation, *, own: Tokenizer | None, served: Served, estimate: Tokenizer | None = None
) -> Prepared:
    """Build the samples in the order of sending, by the tokenizer chosen, or by `estimate` where none can be loaded."""
    missed: list[str] = []
    identity = invocation.identify()
    task, window = invocation.task, invocation.window(detected=served.window)
    if window is None and task.traits.lengths_given:
        raise ConfigError("model.context_window: the server does not tell it; give model.context_window=TOKENS")
    context_budget = invocation.context_budget(window or _ASSUMED_WINDOW)
    corpus = invocation.dataset.corpus(
        tokens=task.text_tokens(context_budget), seed=invocation.seed, count=task.traits.texts
    )
    if not task.traits.lengths_given:
        corpus = replace(corpus, filler=_filler(invocation, corpus, context_budget))
    sources = TokenizerSources(
        own=own,
        hub=invocation.model.hub,
        template_arguments=invocation.model.template_arguments,
        plain=served.plain,
        model=invocation.model.name or served.model,
        estimate=estimate,
        on_note=missed.append,
    )
    tokenizer = invocation.tokenizer.choose(sources)
    marks = ControlTokens.of(corpus, task, (tokenizer, *([] if own is tokenizer else [own])))
    if marks.counts and invocation.control_tokens == "spell":
        corpus, task = marks.spelt(corpus), marks.spelt_in(task)
    materials = Materials(
        corpus=corpus,
        tokenizer=tokenizer,
        context_budget=context_budget,
        seed=invocation.seed,
        text_identity=identity.text_identity,
        binning=invocation.analysis.binning,
        bins=invocation.analysis.bins,
    )
    if not task.traits.lengths_given:
        context_budget = replace(context_budget, text_tokens=task.text_holds(materials))
        materials = replace(materials, context_budget=context_budget)
    plan, search = None, None
    if task.traits.is_searched:
        rule = search_rule(invocation)
        plan = replace(task.search_plan(context_budget, refine=invocation.search == "refine"), rule=rule)
        finest = design_of(replace(plan, resolution=None), rule).finest
        if plan.refine and plan.resolution is not None and plan.resolution < finest:
            raise ConfigError(
                f"task.resolution={plan.resolution}: leaves more than {MOST_CANDIDATES} lengths between two of "
                f"task.lengths; give {finest:,} or more"
            )
        # The longest length is known when the search has ended; a perfect model passes them all.
        paired = tuple((plan.lengths[-1], number) for number in range(task.longest_steps))
        search = PreparedSearch(plan=plan, rule=rule, steps=task.steps(materials), replayed=paired)
        built = joined(search.steps.step(*key) for key in sorted(search.perfect_path().used))
    else:
        built = task.build(materials)
    facts = RunFacts(
        model=invocation.model.name or served.model or invocation.model_name,
        engine=invocation.engine.name,
        context_window=window,
        tokenizer=tokenizer.name,
        dataset=invocation.dataset_name,
        texts=_texts(corpus, built.samples),
        task_option=invocation.task_name,
        dataset_option=invocation.dataset_name,
        # Bins that documents were drawn for: another analysis draws none again.
        drawn=(invocation.analysis.bins, invocation.analysis.binning)
        if any(sample.bin is not None for sample in built.samples)
        else None,
        # A search says at its end how all the samples were made that it asked for.
        notes=(
            *((_NO_WINDOW,) if window is None else ()),
            *task.length_notes(context_budget),
            *missed,
            *((_ESTIMATED,) if getattr(tokenizer, "has_estimated", False) else ()),
            *corpus.notes,
            *(built.notes if plan is None else ()),
        ),
        audit=built.audit,
        server=served.lines,
        api=("completions" if served.plain else "chat") if served.lines else "",
        search=plan,
        cache=replace(
            cache_facts(
                invocation.model,
                invocation.kv_policy.computed_in(invocation.engine.cache_type),
                invocation.engine.memory,
                shown=invocation.kv_policy.shown,
                window_batch=invocation.engine.window_batch,
            ),
            in_use=served.cache,
            as_started=invocation.cache_as_started,
        ),
        positions=positions_of(invocation.model.rope, served.positions),
        own_tokenizer=sources.is_own(tokenizer),
        control_tokens=marks.counts or None,
        keeps_control_tokens=bool(marks.counts) and invocation.control_tokens == "keep",
    )
    return Prepared(
        run=StoredRun(run_id=identity.run_id, fingerprint=identity.fingerprint, label=invocation.label, facts=facts),
        planned=planned_samples(built, corpus, identity.respondent, served=served.model),
        documents=_by_id(corpus),
        materials=materials,
        respondent=identity.respondent,
        served=served.model,
        search=search,
    )


def _filler(invocation: Invocation, corpus: Corpus, context_budget: ContextBudget) -> tuple[Document, ...]:
    """Generated prose, where the texts may be too short for the longest prompt and are English prose themselves."""
    from contextcliff.datasets.synthetic import Synthetic  # imported late, since few runs need it

    task, traits = invocation.task, invocation.task.traits
    texts = corpus.documents if traits.begins_anywhere else corpus.documents[: traits.texts]
    if not traits.takes_any_prose or corpus.questions or any(text.endless or text.language != "en" for text in texts):
        return ()
    enough = max if traits.begins_anywhere else min
    if enough(len(text.text) for text in texts) >= _CHARACTERS_PER_TOKEN * task.longest_context(context_budget):
        return ()
    tokens = task.text_tokens(context_budget)
    return Synthetic().corpus(tokens=tokens, seed=invocation.seed, count=traits.texts).documents


def search_rule(invocation: Invocation) -> SearchRule:
    """What the search of an invocation has to show of a length. Raises `ConfigError` for a threshold of 0 or 1."""
    settings = invocation.analysis
    return settings.search_rule(relative=settings.is_relative(by_default=invocation.task.traits.relative_by_default))


_KEYS = 500
"""Samples by which earlier looks are found: designs of one seed have their first trials in common."""


def with_earlier(prepared: Prepared, store: Store) -> Prepared:
    """The run with what its tests pay for earlier answers: lengths added to a search, or looks at a fixed design. A run
    that was begun before keeps what was found then: its own answers may have come in any order."""
    run, search, begun = prepared.run, prepared.search, store.run(prepared.run.run_id)
    if search is None:
        facts = replace(run.facts, looks=_looks(prepared, store) if begun is None else begun.facts.looks)
        return replace(prepared, run=replace(run, facts=facts))
    known = None if begun is None else begun.facts.search
    plan = replace(search.plan, added=_added(prepared, search.plan, store) if known is None else known.added)
    return replace(prepared, search=replace(search, plan=plan), run=replace(run, facts=replace(run.facts, search=plan)))


def _added(prepared: Prepared, plan: SearchPlan, store: Store) -> tuple[int, ...]:
    """The lengths that are first asked when a longer one has been answered, in that order."""
    keys = defaultdict[int, list[str]](list)
    for item in prepared.planned:
        keys[item.sample.context_tokens].append(item.key)
    first = {length: store.answered_at(keys[length]) for length in plan.lengths}
    late = [
        (at is None, at or "", length)
        for length, at in first.items()
        if any(other and (at is None or other < at) for longer, other in first.items() if longer > length)
    ]
    return tuple(length for *_, length in sorted(late))


def _looks(prepared: Prepared, store: Store) -> int:
    """How many fixed designs looked at some of the samples before, with fewer or more of them."""
    own, others = _counts(prepared.planned), set[frozenset[tuple[int, int]]]()
    for other in store.runs_that_asked([item.key for item in prepared.planned[:_KEYS]]):
        if other.facts.search is not None:
            continue
        asked = store.schedule(other.run_id)
        counts = _counts(asked)
        # Longer lengths may come at any time: they are behind the others in the order of testing.
        shared = {length: n for length, n in own.items() if length <= max(counts, default=0)}
        if not shared.items() <= counts.items() and not store.missing(asked):
            others.add(frozenset(counts.items()))
    return len(others)


def _counts(planned: Iterable[PlannedSample]) -> Counter[int]:
    return Counter(item.sample.context_tokens for item in planned if item.sample.is_ordinary)


def planned_step(prepared: Prepared, key: Key) -> tuple[PlannedSample, ...]:
    """One step of a search with its controls, in the order of sending."""
    assert prepared.search is not None
    step = prepared.search.steps.step(*key)
    return planned_samples(step, prepared.materials.corpus, prepared.respondent, served=prepared.served)


def planned_samples(
    built: TaskPlan, corpus: Corpus, respondent: Respondent, *, served: str | None
) -> tuple[PlannedSample, ...]:
    """What a task built, in the order of sending. Samples of one key are one piece of evidence, and named so."""
    documents = _by_id(corpus)
    planned = [
        PlannedSample(sample=sample, prompt_sha256=sha256, key=respondent.key(sample, sha256, served=served))
        for sample in in_prefix_order((*built.controls, *built.samples))
        for sha256 in [render(sample.recipe, documents).sha256]
    ]
    times = Counter(item.key for item in planned)
    return tuple(
        replace(item, sample=replace(item.sample, item=item.key[:16]))
        if times[item.key] > 1 and not item.sample.item
        else item
        for item in planned
    )


def _by_id(corpus: Corpus) -> dict[str, Document]:
    return {document.document_id: document for document in (*corpus.documents, *corpus.filler)}


def stored_before(planned: Sequence[PlannedSample], missing: Sequence[PlannedSample]) -> int:
    """Number of ordinary samples that a stored generation answers; of those of one key only the first is missing."""
    absent = {item.key for item in missing}
    return sum(item.sample.is_ordinary and item.key not in absent for item in planned)


def _texts(corpus: Corpus, samples: Sequence[Sample]) -> str:
    if corpus.questions:
        return f"{len(corpus.documents):,} documents, {len(corpus.questions):,} questions"
    used = {sample.document_id for sample in samples}
    titles = list(dict.fromkeys(text.title for text in corpus.documents if text.document_id in used))
    more = len(titles) - _MOST_TITLES
    return ", ".join(titles[:_MOST_TITLES]) + (f" and {more:,} more" if more > 0 else "")
