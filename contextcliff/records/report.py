"""What a run leaves: what was run, what the analysis says of it, what it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from contextcliff.records.analysis import Analysis
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.records.note import Note, as_it_is
from contextcliff.records.positions import Positions
from contextcliff.records.published import PublishedCurve
from contextcliff.records.search_record import Replay, SearchPlan


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFacts:
    """The facts of one run, as the store keeps them; those of early versions lack some."""

    model: str
    """The name that was configured, else the one that the server gave."""
    engine: str
    context_window: int | None
    tokenizer: str
    dataset: str
    """Titles of the texts that prompts are cut from; of a question set its name and size."""
    texts: str = ""
    """The first of those titles, or the size of the question set."""
    task_option: str | None = None
    dataset_option: str | None = None
    drawn: tuple[int, str] | None = None
    """`analysis.bins` and `analysis.binning` as the questions were drawn; None where the lengths are designed."""
    notes: tuple[str, ...] = ()
    """How the samples were made, a sentence each."""
    audit: LengthAudit | None = None
    server: tuple[str, ...] = ()
    """What a server said of itself, a line each."""
    api: str = ""
    judge: str | None = None
    judge_served: str | None = None
    embedder: str | None = None
    search: SearchPlan | None = None
    looks: int = 0
    """Of a fixed design, how many others looked at some of its samples before."""
    replay: Replay | None = None
    cache: CacheFacts | None = None
    positions: Positions | None = None
    own_tokenizer: bool = False
    """Whether the model's own tokenizer counted the prompts."""
    control_tokens: Mapping[str, int] | None = field(default=None, hash=False)
    """How often each control token of the model stands in the texts."""
    keeps_control_tokens: bool = False
    """Whether they were sent as such, and not written as text."""


SCHEMA_VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeUsage:
    """What the judge took: other tokens than those of the model under test, and a part of its run's dollars."""

    requests: int
    prompt_tokens: int
    cached_tokens: int
    computed_prompt_tokens: int
    completion_tokens: int
    usd: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What the run took. `computed_prompt_tokens` is what no cache saved. Tokens are those of the model under test,
    each generation once; `usd` is the judge's as well, and None where no price is known."""

    prompt_tokens: int
    cached_tokens: int
    computed_prompt_tokens: int
    completion_tokens: int
    usd: float | None
    wall_s: float
    judge: JudgeUsage | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """planned = completed + unscored; `reused` is part of completed; `errors` counts failed attempts."""

    planned: int
    completed: int
    reused: int
    unscored: int
    controls: int
    errors: Mapping[str, int]
    pilot: int = 0
    """Samples that only chose where the others went; counted in nothing else."""
    ahead: int = 0
    """Samples that a search asked ahead and did not need; counted in nothing else, and kept for later runs."""
    replayed: int = 0
    """Samples that were asked only to stay paired with another run; counted in nothing else."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """What was run, and when."""

    run_id: str
    fingerprint: str
    label: str
    partial: bool
    """Whether the run stopped before its end."""
    model: str
    """As it is shown: that of a simulated run has the word in its name."""
    engine: str
    kv_policy: str
    """As it is shown: the format where none was chosen, or that nobody checked what a server was started with."""
    task: str
    dataset: str
    tokenizer: str
    max_context_tokens: int | None
    notes: tuple[str, ...]
    """What a reader has to know of how the prompts were made and sent, a sentence each."""
    server: tuple[str, ...]
    """What was detected of the server, a line each."""
    created_at: str
    """UTC, ISO 8601."""
    command: str
    """The command line that repeats the run."""
    api: str = ""
    """How prompts went: `chat` or `completions`; empty where that says nothing."""
    rope: str = ""
    """How positions are scaled, as `yarn x2`; empty where they are as the weights have them."""
    task_kind: str = ""
    """What kind of task it is; `task` is the option that was chosen, as `niah_static` of the kind `niah`."""
    dataset_kind: str = ""
    """What kind of dataset it is; `dataset` is the option that was chosen, as `essays_ja` of the kind `essays`."""
    texts: str = ""
    """What the dataset gave: the titles of its texts, or how many documents and questions."""
    judged_by: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The settings that the answers were judged by, dotted key to value; empty where an earlier version judged."""
    stopped: str = ""
    """`interrupted`, `terminated` or `out of budget`; empty where nothing ended it, or where that is not known."""
    next_command: str = ""
    """The command that asks what would decide an undecided run; empty where none is known."""
    published: tuple[PublishedCurve, ...] = ()
    """What others have published, to be drawn behind the scores; nothing is tested against it."""
    simulated: bool = False
    """Whether the answers are made up, by `engine=simulated`: no model was asked."""


SIMULATED = "simulated"
"""The engine whose answers are made up, and the word in the shown name of its models."""


EMBEDDED = ("llamacpp", "transformers")
STARTED_HERE = "started by engine.command for this run"
"""What `RunRecord.server` has of a server that the run started."""


def shown_model(name: str, *, engine: str) -> str:
    """A model's name as tables and runs show it: `Qwen3-8B (simulated)` where its answers are made up."""
    return f"{name} ({SIMULATED})" if engine == SIMULATED else name


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Everything about a run; `reporting/schema.py` writes it as `report.json` and reads it back."""

    run: RunRecord
    analysis: Analysis
    usage: Usage
    counts: Counts

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader has to know: of how the run was made, then of how to read its numbers."""
        return (*map(as_it_is, self.run.notes), *self.analysis.notes)
