"""The texts of a corpus that a task reads as prose: question sets are refused, and unused texts are named in a note."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document

_MOST_NAMED = 8


def one_text(corpus: Corpus, *, task: str) -> Document:
    """The only text. Raises `ConfigError` for a question set, for several texts and for a folder that was joined."""
    _refuse_questions(corpus, task=task)
    first = corpus.documents[0]
    names = first.parts or tuple(document.title for document in corpus.documents)
    if len(names) > 1:
        raise ConfigError(
            f"dataset: holds {len(names)} texts ({_named(names)}), and task={task} goes on with one; choose it with "
            "dataset=essays dataset.path=FILE, or list the files of one long text in order, dataset.paths=[FILE,FILE]"
        )
    return first


def several_texts(corpus: Corpus, *, task: str, count: int) -> tuple[Document, ...]:
    """The first `count` texts. Raises `ConfigError` for a question set and for a dataset with fewer."""
    _refuse_questions(corpus, task=task)
    if len(corpus.documents) < count:
        raise ConfigError(
            f"task.haystacks={count}: the dataset has {len(corpus.documents)} texts; ask for no more, or take "
            "dataset=essays, which joins them and begins anywhere"
        )
    return corpus.documents[:count]


def unused_notes(corpus: Corpus, *, count: int) -> Iterator[str]:
    """What a reader has to know of texts that no prompt is cut from."""
    if count < len(corpus.documents):
        used = _named([document.title for document in corpus.documents[:count]])
        yield f"prompts are cut from {count} of the {len(corpus.documents)} texts of the dataset: {used}"


def _refuse_questions(corpus: Corpus, *, task: str) -> None:
    if corpus.questions:
        raise ConfigError(
            f"dataset: this one has {len(corpus.questions):,} questions on {len(corpus.documents):,} texts, and "
            f"task={task} asks none of them; take task=qa, or a dataset of prose: essays, documents without questions, "
            "synthetic"
        )


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
