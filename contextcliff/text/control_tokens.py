"""Control tokens of the model that stand in a text: read as such, they would end the user's turn.

They are found by the tokenizers that know them, and written so that they are text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from contextcliff.records.corpus import Corpus, Span

T = TypeVar("T")
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
        breaks = {
            each.document_id: [token.start() + 1 for token in _pattern(self.counts).finditer(each.text)]
            for each in corpus.documents
        }
        return replace(
            corpus,
            documents=tuple(
                replace(each, title=self.spelt_in(each.title), text=self.spelt_in(each.text))
                for each in corpus.documents
            ),
            questions=tuple(
                replace(
                    each,
                    text=self.spelt_in(each.text),
                    answers=self.spelt_in(each.answers),
                    choices=self.spelt_in(each.choices),
                    evidence=tuple(
                        Span(start=span.start + bisect_right(at, span.start), end=span.end + bisect_left(at, span.end))
                        for span in each.evidence
                        for at in (breaks[each.document_id],)
                    ),
                )
                for each in corpus.questions
            ),
        )

    def spelt_in(self, value: T) -> T:
        """A text, several, or what a record such as a task says, with them as text."""
        said: Any = value
        match said:
            case str():
                said = _pattern(self.counts).sub(lambda token: f"{token[0][0]} {token[0][1:]}", said)
            case tuple():
                said = tuple(map(self.spelt_in, said))
            case _ if is_dataclass(said) and not isinstance(said, type):
                values = {field.name: getattr(said, field.name) for field in fields(said) if field.init}
                changed = {name: self.spelt_in(each) for name, each in values.items()}
                said = said if changed == values else replace(said, **changed)
        return cast(T, said)


def _pattern(tokens: Collection[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))


def _texts(said: object) -> list[str]:
    """All texts that a record says."""
    match said:
        case str():
            return [said]
        case tuple():
            return [text for each in said for text in _texts(each)]
        case _ if is_dataclass(said):
            return [text for field in fields(said) for text in _texts(getattr(said, field.name))]
    return []
