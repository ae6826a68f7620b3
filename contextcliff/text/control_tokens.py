"""Control tokens of the model that stand in a text: read as such, they would end the user's turn.

They are found by the tokenizers that know them, and written so that they are text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from contextcliff.records.corpus import Corpus, Document, Question, Span

T = TypeVar("T")
_BREAK = " "
"""Stands after the first sign of a token that is text."""
_LIKE_A_TOKEN = re.compile(r"<[^<>\s]{1,60}>|\[[|/]?[A-Za-z][\w|/-]{0,58}\]")


@runtime_checkable
class NamesControlTokens(Protocol):
    """A tokenizer that knows the control tokens of its model."""

    def control_tokens(self, texts: Iterable[str]) -> Collection[str]:
        """Those that may stand in these texts."""
        ...


def like_tokens(texts: Iterable[str]) -> list[str]:
    """What looks like a control token, each once: `<|end|>`, `</s>`, `[INST]`. A server says which of them is one."""
    return sorted({found for text in texts for found in _LIKE_A_TOKEN.findall(text)})


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlTokens:
    """The control tokens that stand in the texts and questions of a corpus, and in what a task says."""

    counts: Mapping[str, int]
    """How often each stands there. Of a text that is given in several rotations one counts."""

    @classmethod
    def of(cls, corpus: Corpus, task: object, tokenizers: Iterable[object]) -> ControlTokens:
        """Ask the tokenizers. May raise `RunError`."""
        of_documents = [document.text for document in corpus.documents]
        if not corpus.questions:
            of_documents = list({document.title: document.text for document in corpus.documents}.values())
        asked = [text for each in corpus.questions for text in (each.text, *each.choices)]
        texts = [*of_documents, *asked, *_texts(task)]
        known = {
            token
            for tokenizer in tokenizers
            if isinstance(tokenizer, NamesControlTokens)
            for token in tokenizer.control_tokens(texts)
        }
        if not known:
            return cls(counts={})
        pattern = _pattern(known)
        return cls(counts=dict(Counter(found for text in texts for found in pattern.findall(text))))

    def spelt(self, corpus: Corpus) -> Corpus:
        """The corpus with them as text: documents, and questions with their answers and evidence."""
        documents = {each.document_id: each for each in corpus.documents}
        return replace(
            corpus,
            documents=tuple(map(self._document, corpus.documents)),
            questions=tuple(self._question(each, documents[each.document_id].text) for each in corpus.questions),
        )

    def spelt_in(self, value: T) -> T:
        """A text, several, or what a record such as a task says, with them as text."""
        said: Any = value
        match said:
            case str():
                said = _pattern(self.counts).sub(lambda token: token[0][0] + _BREAK + token[0][1:], said)
            case tuple():
                said = tuple(map(self.spelt_in, said))
            case _ if _is_record(said):
                values = {field.name: getattr(said, field.name) for field in fields(said) if field.init}
                changed = {name: self.spelt_in(each) for name, each in values.items()}
                said = said if changed == values else replace(said, **changed)
        return cast(T, said)

    def _document(self, document: Document) -> Document:
        return replace(document, title=self.spelt_in(document.title), text=self.spelt_in(document.text))

    def _question(self, question: Question, text: str) -> Question:
        breaks = [token.start() + 1 for token in _pattern(self.counts).finditer(text)]
        return replace(
            question,
            text=self.spelt_in(question.text),
            answers=self.spelt_in(question.answers),
            choices=self.spelt_in(question.choices),
            evidence=tuple(_moved(span, breaks) for span in question.evidence),
        )


def _moved(span: Span, breaks: Sequence[int]) -> Span:
    """A stretch of a text after a sign was put in at each of these places."""
    start, end = bisect_right(breaks, span.start), bisect_left(breaks, span.end)
    return Span(start=span.start + start * len(_BREAK), end=span.end + end * len(_BREAK))


def _pattern(tokens: Collection[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))


def _texts(said: object) -> list[str]:
    """All texts that a record says."""
    match said:
        case str():
            return [said]
        case tuple():
            return [text for each in said for text in _texts(each)]
        case _ if _is_record(said):
            return [text for field in fields(cast(Any, said)) for text in _texts(getattr(said, field.name))]
    return []


def _is_record(said: object) -> bool:
    return is_dataclass(said) and not isinstance(said, type)
