"""What is known of a run beside its answers: what it asked, of whom, and what was heard of both."""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.records.corpus import LengthAudit


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnBins:
    """How documents of natural length were put into bins when the questions were drawn."""

    bins: int
    binning: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFacts:
    """The facts of one run, as the store keeps them. `engine` is the kind of engine that answered."""

    model: str
    """The name that was configured, else the one that the server gave."""
    engine: str
    context_window: int
    """Tokens."""
    tokenizer: str
    dataset: str
    """Titles of the texts that prompts are cut from; of a question set its name and size."""
    texts: str = ""
    """The first of those titles, or the size of the question set."""
    task_option: str | None = None
    """The option of `conf/task/` by which it was asked; None in runs of early versions, as for the dataset."""
    dataset_option: str | None = None
    drawn: DrawnBins | None = None
    """None where the lengths are designed."""
    notes: tuple[str, ...] = ()
    """What a reader has to know of how the samples were made, a sentence each."""
    audit: LengthAudit | None = None
    """How long the documents are, where they have their natural length."""
    server: tuple[str, ...] = ()
    """What a server said of itself, a line each."""
    api: str = ""
    """`chat` or `completions`, of a server."""
    judge: str | None = None
    """The model that rated the answers; None: no judge was asked."""
    judge_served: str | None = None
    """What the judge's server called that model."""
    embedder: str | None = None
    """What embedded the texts that scores use; None: nothing did."""
