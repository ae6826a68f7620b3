"""What an action is given: the whole composed configuration, built and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from contextcliff.actions.override_keys import as_typed
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.annotation.embedder import Embedder
from contextcliff.annotation.judge import Judge
from contextcliff.datasets.dataset import Dataset
from contextcliff.engines.engine import Engine
from contextcliff.errors import ConfigError, ExitCode
from contextcliff.execution.budget import Budget, Cost
from contextcliff.execution.store import PlannedSample, Respondent, Store, StoredRun
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.model import Model
from contextcliff.models.sampling import Sampling
from contextcliff.records.kv_cache import shown_policy
from contextcliff.records.published import PublishedCurve
from contextcliff.records.report import RunRecord, shown_model
from contextcliff.records.run_plan import Plan
from contextcliff.reporting.reporting_settings import ReportingSettings
from contextcliff.seeding import digest_of
from contextcliff.settings import folder_name
from contextcliff.tasks.task import ContextBudget, Task
from contextcliff.text.tokenizer_choice import TokenizerChoice
from contextcliff.tracking.tracker import NoTracker, SweepPlace

if TYPE_CHECKING:
    from contextcliff.actions.prepare import Prepared
    from contextcliff.actions.track import LiveTracking
    from contextcliff.annotation.judge import Ratings
    from contextcliff.execution.scoring import Scorer
    from contextcliff.execution.signals import Stop
    from contextcliff.records.analysis import Analysis
    from contextcliff.records.corpus import Document
    from contextcliff.records.generation import Outcome, ScoredSample
    from contextcliff.records.report import Counts, Usage

_NO_DATASET = "none"


class Action(Protocol):
    """What one invocation does; a dataclass in `conf/action/`."""

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Raises `ContextCliffError`, whose text is the one line that the user reads."""
        ...


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """One job: the groups of the configuration, and how it was asked for."""

    action: Action
    model: Model
    engine: Engine
    tokenizer: TokenizerChoice
    task: Task
    dataset: Dataset
    sampling: Sampling
    kv_policy: KVPolicy
    analysis: AnalysisSettings
    tracking: NoTracker
    judge: Judge | None
    embedder: Embedder | None
    reporting: ReportingSettings
    budget: Budget
    label: str
    seed: int
    search: Literal["walk", "refine"]
    output_dir: Path
    parameters: Mapping[str, str]
    composed: str
    overrides: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    like: str | None = None
    """The run that `task.like` names, by its id or folder; empty: the first job of the sweep, which left none."""
    beyond_window: Literal["refuse", "fit"] = "refuse"
    control_tokens: Literal["spell", "keep"] = "spell"
    published: tuple[PublishedCurve, ...] = ()
    run_folder: Path | None = None
    """The folder of the stored run that `run` names, for `action=analyze`."""
    told: RunRecord | None = None
    analysis_of: Callable[[Path, Mapping[str, str]], Invocation] | None = None
    """The analysis of the run in a folder by another rule; raises `ConfigError`. None where nothing composes."""
    on_planned: Callable[[Plan], None] = lambda _: None
    place: SweepPlace | None = None
    on_reported: Callable[[Path], None] = lambda _: None
    """Hears the folder of the run's report as soon as that is written, or of an earlier one where nothing is sent."""

    def window(self, *, detected: int | None = None) -> int | None:
        """The smaller of the model's window and the server's; None if unknown."""
        return min((window for window in (self.model.context_window, detected) if window is not None), default=None)

    def context_budget(self, window: int) -> ContextBudget:
        return ContextBudget(
            context_window=window,
            answer_tokens=self.sampling.generated_tokens,
            thinking_tokens=self.sampling.thinking_tokens,
            fits_lengths=self.beyond_window == "fit",
            most_lengths=self.model.most_lengths,
        )

    @property
    def experiment(self) -> Path:
        """The folder of its runs' folders."""
        return self.output_dir / self.tracking.experiment

    @property
    def model_name(self) -> str:
        """The configured name of the model, or `served` until a server reports it."""
        return self.model.name or "served"

    @property
    def shown_model(self) -> str:
        return shown_model(self.model_name, engine=self.engine.name)

    @property
    def cache_as_started(self) -> bool:
        """Whether somebody else starts the server, and nobody says with what cache."""
        return self.engine.is_remote and self.kv_policy.is_plain and not self.kv_policy.declared

    @property
    def shown_policy(self) -> str:
        if self.told is not None:
            return self.told.kv_policy
        try:
            cached = self.kv_policy.computed_in(self.engine.cache_type)
        except ConfigError:  # the engine is not installed: a job that fails by it has a row all the same
            cached = self.kv_policy
        return shown_policy(
            self.kv_policy.shown,
            key_type=cached.key_type,
            value_type=cached.value_type,
            as_started=self.cache_as_started,
        )

    @property
    def task_name(self) -> str:
        """The option that was chosen: several may be of one kind (`self.task.name`)."""
        return self.options.get("task", self.task.name)

    @property
    def dataset_name(self) -> str:
        """The option that was chosen, as for the task; `none` where the task takes no texts."""
        return self.options.get("dataset", self.dataset.name) if self.task.traits.takes_texts else _NO_DATASET

    @property
    def dataset_kind(self) -> str:
        """The kind of the dataset; `none` as for the option."""
        return self.dataset.name if self.task.traits.takes_texts else _NO_DATASET

    def identify(self) -> Identity:
        """What this configuration is called. Loads and contacts nothing; raises `ConfigError`."""
        respondent = Respondent(
            identity=self.engine.identity(self.model, self.kv_policy), sampling=self.sampling, label=self.label
        )
        kept = {} if self.control_tokens == "spell" else {"control_tokens": self.control_tokens}
        dataset, asked = {**self.dataset.identity(), **kept}, dict(self.task.identity())
        most = [self.model.most_lengths] if self.model.most_lengths and asked.get("lengths") == "auto" else []
        answers = [dict(respondent.identity), asdict(self.sampling)]
        fingerprint = digest_of(
            *answers,
            asked,
            dataset,
            [type(self.tokenizer).__name__, self.tokenizer.name],
            [self.model.name, self.model.context_window, *most],
            self.seed,
            *([self.search] if self.task.traits.is_searched else []),
        )
        parts = (
            self.task_name,
            # An option that is called as its kind says no more than the kind, and one draw of it is the same run.
            self.dataset_name if self.dataset_name != self.dataset_kind else "",
            # Some servers name their model by a path: its end is shown, and the fingerprint distinguishes equal ends.
            folder_name(self.model_name)[-100:],
            self.kv_policy.shown,
            self.label,
            fingerprint[:8],
        )
        return Identity(
            respondent=respondent,
            family=digest_of(*answers, self.label, dataset),
            fingerprint=fingerprint,
            run_id="-".join(folder_name(part) for part in parts if part),
            text_identity=digest_of(dataset),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """The names of a configuration: equal for equal questions to an equal model."""

    respondent: Respondent
    family: str
    """Digest of respondent and texts: runs of one family may ask the same prompts."""
    fingerprint: str
    run_id: str
    text_identity: str


def settled(invocation: Invocation, store: Store) -> Invocation:
    """The invocation with the model that will answer: two models of one address are two runs. May ask the server."""
    model = invocation.engine.settle(invocation.model)
    if model.name is None or model.name == invocation.model.name:
        return invocation
    # Runs of before this was asked have no model in their names: one of the same model goes on.
    before = run_of(invocation, store)
    if before is not None and before.facts.model == model.name:
        return invocation
    return _named(invocation, model.name)


def stored(invocation: Invocation, store: Store) -> Invocation:
    """The invocation with the model whose run is stored, found without a server; refuses runs of several models."""
    known = invocation.engine.known(invocation.model)
    if known is None or known.model is not None:
        return invocation
    named = {name: _named(invocation, name) for name in store.models()}
    found = {name: each for name, each in named.items() if run_of(each, store) is not None}
    if (before := run_of(invocation, store)) is not None:
        found.setdefault(before.facts.model, invocation)
    if len(found) > 1:
        raise ConfigError(
            f"model.name: {store.file} holds runs of this configuration by several models; choose one with "
            f"model.name=NAME: {', '.join(sorted(found)[:20])}"
        )
    return next(iter(found.values()), invocation)


def run_of(invocation: Invocation, store: Store) -> StoredRun | None:
    """The stored run of a configuration, also where its options were called otherwise then."""
    identity = invocation.identify()
    return store.run(identity.run_id) or store.same_run(identity.fingerprint, label=invocation.label)


def _named(invocation: Invocation, name: str) -> Invocation:
    return replace(
        invocation,
        model=replace(invocation.model, name=name),
        parameters={**invocation.parameters, "model.name": name},
        overrides=(*invocation.overrides, f"model.name={as_typed(name)}"),
    )


@dataclass(kw_only=True, slots=True)
class RunState:
    """A run on its way: each stage fills its part, and reads those of the stages before it."""

    invocation: Invocation
    store: Store
    run_id: str
    live: LiveTracking
    # Of `send`:
    prepared: Prepared | None = None
    scorer: Scorer | None = None
    """With the scores that are known already; None where the answers decided what was asked."""
    reused: int | None = None
    """Samples that a stored generation answered before; None if all were."""
    left: Budget = field(default_factory=Budget)
    rest: Cost | None = None
    stop: Stop | None = None
    # Of `annotate`, which reads the store:
    stored: StoredRun = field(init=False)
    planned: tuple[PlannedSample, ...] = field(init=False)
    outcomes: tuple[Outcome, ...] = field(init=False)
    errors: Mapping[str, int] = field(init=False)
    documents: Mapping[str, Document] = field(init=False)
    scored: tuple[ScoredSample, ...] = field(init=False)
    controls: tuple[ScoredSample, ...] = field(init=False)
    ratings: Ratings | None = field(init=False)
    # Of `analyse`:
    analysis: Analysis = field(init=False)
    counts: Counts = field(init=False)
    usage: Usage = field(init=False)
    counted: tuple[ScoredSample, ...] = field(init=False)
    """The samples that count: all of them, or those that the decisions of a search rest on."""
    replayed: tuple[ScoredSample, ...] = field(init=False)
    """Those that were asked only to stay paired with another run; no finding looks at them."""
