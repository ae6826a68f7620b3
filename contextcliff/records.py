"""The frozen records that pass between the stages of a run, in the order in which they arise.

Everything here is plain data: no I/O, no clock, no randomness, no third-party import. Lengths are
in tokens of the run's tokenizer unless the name says otherwise; times are in milliseconds (`_ms`)
or seconds (`_s`); scores are 0-1 and up is better; `None` means "not measured", never zero.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from contextcliff.writing_records import Writing

SCHEMA_VERSION = 1


# ---------------------------------------------------------------- what is asked


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A text that prompts are cut from. `text` has Unix line ends and blank lines between paragraphs."""

    document_id: str
    title: str
    text: str
    language: str = "en"
    parts: tuple[str, ...] = ()
    """The files of a folder that it was joined from: nobody said that they are one text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A stretch of a document, in characters."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question on one document as its dataset has it.

    `answers` are accepted phrasings, the best first. `kind` says how an answer is compared: `short` (a phrase),
    `choice` (one of `choices`, by letter; `answers` holds the right one's text) or `summary` (a longer text).
    """

    question_id: str
    document_id: str
    text: str
    answers: tuple[str, ...]
    kind: str = "short"
    choices: tuple[str, ...] = ()
    evidence: tuple[Span, ...] = ()
    """Where in the document the answer's evidence stands; empty where the dataset doesn't tell."""
    level: int = 1
    """1: one piece of evidence; 2: several from different places."""
    metadata: Mapping[str, str | int | float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """What a dataset gives: texts, questions on them (none for a haystack), and what was left out, a sentence each.

    `drawn` holds the question ids of each length bin, where the dataset is an earlier run's draw.
    """

    documents: tuple[Document, ...]
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()
    drawn: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditBin:
    """A range of document lengths: the documents and questions there are, and those that were drawn."""

    min_tokens: int
    max_tokens: int
    documents: int
    questions: int
    drawn_documents: int
    drawn_questions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthAudit:
    """How long the documents of a dataset are, before anything is asked: what can be tested, and what can't."""

    lengths: tuple[int, ...]
    """Tokens of every document, ascending, excluded ones included."""
    too_short: int
    too_long: int
    bins: tuple[AuditBin, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """A literal piece of a prompt: instruction, needle, question."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A stretch of a document, `text[start:end]` in characters: a piece of a prompt by reference."""

    document_id: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """How to build one prompt: an optional system message and the pieces of the user message.

    A sample holds a recipe and not a text, so that ten thousand samples of a long document cost no
    more memory than the document; the prompt exists only while it is sent.
    """

    user: tuple[Words | Passage, ...]
    system: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt as it is sent."""

    user: str
    system: str | None = None

    @property
    def sha256(self) -> str:
        """Digest of both messages; equal prompts pair across models and KV policies."""
        digest = hashlib.sha256()
        for part in (self.system, self.user):
            digest.update(b"\0" if part is None else b"\1" + part.encode())
        return digest.hexdigest()


def render(recipe: Recipe, documents: Mapping[str, Document]) -> Prompt:
    """Build the prompt that a recipe describes. Raises `KeyError` for a document that is not there."""
    pieces = (
        piece.text if isinstance(piece, Words) else documents[piece.document_id].text[piece.start : piece.end]
        for piece in recipe.user
    )
    return Prompt(user="".join(pieces), system=recipe.system)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One question at one place and length: everything but the model that will answer it.

    `sample_id` and the prompt depend only on what is asked and how the tokenizer slices, so that
    runs of other models and KV policies pair with this one. `seed` comes from the coordinates
    (task, length, depth, trial, document): adding a length changes no other sample.
    """

    sample_id: str
    task: str
    context_tokens: int
    """The length asked for: chat template, instruction, text and question."""
    built_tokens: int
    """The length built, by the run's tokenizer; never above `context_tokens`."""
    depth: float | None
    """Where the evidence lies: 0 the start of the text, 1 its end."""
    trial: int
    document_id: str
    question: str
    answers: tuple[str, ...]
    """Accepted answers; empty where nothing is right or wrong (continuation)."""
    recipe: Recipe
    seed: int
    cluster: str = ""
    """What it shares with other samples of its length (a haystack, a packed context); empty: nothing."""
    distractors: tuple[str, ...] = ()
    """Values of the same form that stand in the same context and are wrong."""
    metadata: Mapping[str, str | int | float] = field(default_factory=dict, hash=False)
    """What scores can be read against beside length: `evidence_distance_tokens`, `hops`, `topic` …"""
    item: str = ""
    """Names the question where several samples repeat it: repeats are no further evidence. Empty: the sample itself."""
    repeat: int = 0
    bin: int | None = None
    """The length bin that it was drawn for, where documents have their natural length."""
    kind: str = "short"
    """How the answer is compared, as `Question.kind` says."""
    choices: tuple[str, ...] = ()
    evidence: tuple[Span, ...] = ()
    """Where in the document the evidence stands."""
    reply: str = ""
    """A right answer in the form that is asked for; empty: any of `answers`."""
    answer_tokens: int | None = None
    """Tokens that this answer may take; None: what `sampling.max_tokens` says."""
    control: str | None = None
    """`ceiling` (the evidence alone) or `floor` (the text without it); None: no control."""
    controls: tuple[str, ...] = ()
    """`sample_id`s of the controls of this sample."""
    pilot: bool = False
    """Whether it only says which other samples are worth sending."""
    document: Document | None = field(default=None, compare=False, repr=False)
    """The whole document, where scoring reads it."""
    foreign_answers: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """Answers of the run's other samples: one of these in an answer is another sample's needle."""

    @property
    def is_ordinary(self) -> bool:
        """Whether its score counts: it is neither a control nor a pilot."""
        return self.control is None and not self.pilot


# ---------------------------------------------------------------- what came back


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    """What the model said, and what the server says that it cost.

    `prompt_tokens` is the server's own count; `cached_tokens` is the part that its prefix cache
    saved. `ttft_ms` is the time to the first token of text, `latency_ms` to the end of the stream.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None
    ttft_ms: float
    latency_ms: float
    reasoning: str = ""
    reasoning_tokens: int | None = None
    """The part of `completion_tokens` that went before the answer, where the server tells it."""
    served_model: str = ""
    server_counted: bool = True
    """False where the server tells no usage: `prompt_tokens` is then the built length."""
    streamed: bool = True
    """False where the answer came in one piece: `ttft_ms` is then the time of the whole of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How one sample ended: a generation, or the reason why there is none.

    `unscored` names a fault that is not the model's: `overflow`, `truncated`, `oom`, `bad_request`, `content_filter`, a
    transport kind (`connect`, `timeout`, `rate_limit`, `server_error`, `broken_stream` …) or `not_sent` where the
    run stopped before the sample's turn. Either `generation` or `unscored` is set; both are where the answer was
    paid for and answers another prompt than the one that was sent (`truncated`), or was stopped by the provider's
    filter (`content_filter`).
    """

    sample: Sample
    prompt_sha256: str
    generation: Generation | None
    unscored: str | None = None
    detail: str = ""
    retries: int = 0
    """Failed attempts after which the sample was tried again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """What a task makes of one generation. `failure` is the one tag of an imperfect answer."""

    value: float
    prediction: str
    failure: str | None
    details: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Further measures of the answer, as `em` and `f1`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredSample:
    """One line of `samples.jsonl`. `score` is None where the sample is unscored, `failure` then says why."""

    sample: Sample
    prompt_sha256: str
    score: float | None
    failure: str | None
    prediction: str
    generation: Generation | None
    details: Mapping[str, float] = field(default_factory=dict, hash=False)
    judge_rating: int | None = None
    """A judge's 1-10, where one was asked."""
    retries: int = 0
    """Failed attempts after which it was tried again."""

    @property
    def measured_tokens(self) -> int:
        """The prompt's length: the server's count of what it answered, else the built length."""
        if self.generation is None or self.score is None:
            return self.sample.built_tokens
        return self.generation.prompt_tokens


# ---------------------------------------------------------------- what it means


@dataclass(frozen=True, kw_only=True, slots=True)
class Bin:
    """The samples of one length. Token figures are measured ones.

    `ci_low`/`ci_high` is the interval that is shown (Wilson for 0/1 scores); `tested_low` is the
    one-sided bound at the analysis' confidence that the cap rule tests, unscored samples counted as
    wrong in it. `mean`, `std` and the interval are None where nothing was scored.
    """

    asked_tokens: int
    """The length asked for, where the task designs its lengths; else the bin's median."""
    min_tokens: int
    median_tokens: int
    max_tokens: int
    n_samples: int
    n_unscored: int
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    tested_low: float | None
    std: float | None
    failure_rate: float | None
    failures: Mapping[str, int]
    ttft_ms_median: float | None
    latency_ms_median: float | None
    n_items: int = 0
    """Questions, where samples repeat some; else as many as samples, scored or not."""
    n_documents: int = 0
    instability: float | None = None
    """Share of the repeated questions whose score changes between repeats; None where nothing was repeated."""
    within_item_variance: float | None = None
    """Mean variance of the score between the repeats of a question."""
    rolling_variance: float | None = None
    """Variance of the scores of this bin and its neighbours, pooled."""
    bimodality: float | None = None
    """Sarle's coefficient of the scores; above 5/9 there may be two humps. None below four scores or without spread."""
    latency_ms_std: float | None = None
    n_clusters: int | None = None
    """Haystacks or contexts that its samples share, where several share one; the bounds allow for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthCell:
    """Mean score of one length and depth, for the heatmap.

    `ceiling` and `floor` are the mean scores of its samples' controls. A cell that is not `informative` can't
    show a cliff: its ceiling is shown to be low, or its floor to be high.
    """

    asked_tokens: int
    depth: float
    n_samples: int
    mean: float | None
    ceiling: float | None = None
    floor: float | None = None
    informative: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthPoint:
    """Mean score of one depth over all lengths, with its interval."""

    depth: float
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Zone:
    """A range of lengths: `stable`, `transition` or `degraded`."""

    name: str
    min_tokens: int
    max_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SafeCap:
    """The answer: the longest tested length up to which every tested length clears the threshold.

    `verdict` is `cliff`, `slope`, `flat` or `insufficient_evidence`; `censored` means that no fall
    was found up to the longest test. `ci_low`–`ci_high` is where the score crosses the threshold:
    at or above the cap, and below the shortest length shown to be under the threshold (None where
    no length was).
    """

    tokens: int | None
    ci_low: int | None
    ci_high: int | None
    censored: bool
    fraction_of_max: float | None
    rule: str
    threshold: float
    relative_to_baseline: bool
    confidence: float
    verdict: str
    reason: str
    threshold_score: float | None = None
    """The threshold as a score; None where it is relative to a baseline without one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfLife:
    """Length over which recall halves, by a fitted exponential decay R₀·e^(−λL); None with the reason.

    `censored`: it lies beyond the longest test. `ci_low` is kept where there is no estimate but a lower bound.
    """

    tokens: int | None
    ci_low: int | None
    ci_high: int | None
    censored: bool
    reason: str
    initial: float | None = None
    """R₀, the recall at length 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionPattern:
    """How the score depends on depth: `stable`, `middle_collapse`, `recency` or `primacy`, by a test.

    `recency`: what stands late is found more often; `primacy`: what stands early. `stable` says that no dependence
    was shown. `pattern` and `p_value` are None where there is nothing to test, with the reason.
    """

    pattern: str | None
    p_value: float | None
    n_samples: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class GuideRow:
    """What to do at one length: `safe` (score over 0.9), `caution` (0.5 to 0.9) or `danger` (under 0.5).

    `sure` is whether the whole interval lies in that range.
    """

    asked_tokens: int
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float
    level: str
    sure: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Guide:
    """An operating guide: a row a length, and advice in sentences."""

    rows: tuple[GuideRow, ...]
    advice: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FacetRow:
    """The samples of one value (or range of values) of one metadata key.

    `cap_tokens` is the safe cap of these samples alone, by the same rule as the run's.
    """

    facet: str
    value: str
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float
    cap_tokens: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlLevel:
    """The controls of one length: `ceiling` (evidence alone) and `floor` (no evidence), means with intervals.

    `informative` is False where the ceiling is shown to be low or the floor to be high: no cliff can show there.
    """

    asked_tokens: int
    ceiling_n: int
    ceiling: float | None
    ceiling_ci_low: float | None
    ceiling_ci_high: float | None
    floor_n: int
    floor: float | None
    floor_ci_low: float | None
    floor_ci_high: float | None
    informative: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A judge beside the exact score: how often the two disagree, with Wilson's interval.

    The judge counts as saying "right" from `right_from` of 10 up, the exact score from 0.5 up.
    """

    judge: str
    n_judged: int
    n_unjudged: int
    mean_rating: float | None
    right_from: int
    disagreements: int
    judge_only: int
    """The judge says right, the exact score wrong."""
    exact_only: int
    """The exact score says right, the judge wrong."""
    share: float | None
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """All that the analysis says of one run's scored samples."""

    bins: tuple[Bin, ...]
    cells: tuple[DepthCell, ...]
    zones: tuple[Zone, ...]
    safe_cap: SafeCap
    caps: Mapping[str, int | None]
    half_life: HalfLife
    half_life_lsq: int | None
    """The same half-life by least squares on the mean scores; None where there is none."""
    profile: tuple[DepthPoint, ...]
    position: PositionPattern
    guide: Guide
    facets: tuple[FacetRow, ...]
    controls: tuple[ControlLevel, ...]
    judgement: Judgement | None
    mean: float | None
    successes: int
    """Samples with the full score 1."""
    notes: tuple[str, ...]
    """What a reader has to know to read the numbers right, a sentence each."""


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
    """What the run took. `computed_prompt_tokens` is what no cache saved.

    Tokens are those of the model under test, each generation once; `usd` is the judge's as well, and None where no
    price is known.
    """

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """`report.json`, schema 1."""

    schema_version: int
    run_id: str
    fingerprint: str
    label: str
    partial: bool
    model: str
    engine: str
    kv_policy: str
    task: str
    dataset: str
    tokenizer: str
    max_context_tokens: int
    bins: tuple[Bin, ...]
    cells: tuple[DepthCell, ...]
    zones: tuple[Zone, ...]
    safe_cap: SafeCap
    caps: Mapping[str, int | None]
    half_life: HalfLife
    half_life_lsq: int | None
    profile: tuple[DepthPoint, ...]
    position: PositionPattern
    guide: Guide
    facets: tuple[FacetRow, ...]
    controls: tuple[ControlLevel, ...]
    judgement: Judgement | None
    audit: LengthAudit | None
    """How long the documents are, where they have their natural length."""
    mean: float | None
    successes: int
    usage: Usage
    counts: Counts
    notes: tuple[str, ...]
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
    writing: Writing | None = None
    """What is said of the prose, where the task has the model write."""
    task_kind: str = ""
    """What kind of task it is; `task` is the option that was chosen, as `niah_static` of the kind `niah`."""
    dataset_kind: str = ""
    """What kind of dataset it is; `dataset` is the option that was chosen, as `essays_ja` of the kind `essays`."""
    texts: str = ""
    """What the dataset gave: the titles of its texts, or how many documents and questions."""
    judged_by: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The settings that the answers were judged by, dotted key to value; empty where an earlier version judged."""


# ---------------------------------------------------------------- what it would take


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanBin:
    """The samples of one length in a plan. `kv_gib` is None where the model's metadata is not at hand."""

    context_tokens: int
    samples: int
    kv_gib: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgePlan:
    """What the judge would be asked: a request an answer, at the most tokens that each can take."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """`plan.json`: what a run would send beyond what is stored.

    `cached_prompt_tokens` is the part of `prompt_tokens` that a prefix cache can save in the order of sending;
    `completion_tokens` is the most that answers may take. `usd` is the judge's as well; its tokens stand in `judge`
    alone. `usd`, `wall_s` and `download_gib` are None where
    there is no price, no rate and nothing to download (or its size is not to be had).
    """

    run_id: str
    model: str
    engine: str
    tokenizer: str
    samples: int
    controls: int
    """Control prompts that would be sent beside the samples; tokens and dollars count them too."""
    stored: int
    prompt_tokens: int
    cached_prompt_tokens: int
    completion_tokens: int
    usd: float | None
    wall_s: float | None
    download: str | None
    download_gib: float | None
    detectable_drop: float | None
    confidence: float
    bins: tuple[PlanBin, ...]
    notes: tuple[str, ...]
    judge: JudgePlan | None = None
