"""What a server accepts of the OpenAI protocol, learnt from what it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping

_USE_INSTEAD = re.compile(r"[Uu]se '(\w+)' instead")


class Dialect:
    """Starts with every field, and gives one up for each refusal; `concessions` lists them for the report.

    Some servers refuse `stream_options` or streaming, some have another name for a field, some refuse a sampler. A
    refused sampler is left out and reported, since the server's own default then applies.
    """

    def __init__(self) -> None:
        self.streams = True
        self.stream_usage = True
        self.stream_ignored = False
        self.renamed: dict[str, str] = {}
        self.left_out: set[str] = set()

    def accepted(self, fields: Mapping[str, object]) -> dict[str, object]:
        """The fields of a request that this server accepts, under its names."""
        return {self.renamed.get(name, name): value for name, value in fields.items() if name not in self.left_out}

    def concede(self, refusal: str, fields: Mapping[str, object]) -> bool:
        """Give up what a refusal names: a field is renamed or left out. False where it names nothing of the request."""
        if self.stream_usage and "stream_options" in refusal:
            self.stream_usage = False
            return True
        refused = self._field_named_in(refusal, fields)
        if refused is not None:
            instead = _USE_INSTEAD.search(refusal)
            if instead is not None and refused not in self.renamed:
                self.renamed[refused] = instead[1]
            else:
                self.left_out.add(refused)
            return True
        if self.streams and re.search(r"\bstream(?:ing)?\b", refusal):
            self.streams = self.stream_usage = False
            return True
        return False

    def answered(self, *, streamed: bool) -> None:
        """Note whether an answer was streamed: a server that ignores the request for a stream is reported."""
        self.stream_ignored = self.stream_ignored or (self.streams and not streamed)

    def concessions(self) -> tuple[str, ...]:
        """What this server does not accept, a line each."""
        lines = [f"{name} is refused and left out: the server's own default holds" for name in sorted(self.left_out)]
        if not self.streams:
            lines.append("streaming is refused: the time to first token is the time of the whole answer")
        elif self.stream_ignored:
            lines.append("stream is ignored: the time to first token is the time of the whole answer")
        elif not self.stream_usage:
            lines.append("stream_options is refused: token counts are the tokenizer's")
        return tuple(lines)

    def _field_named_in(self, refusal: str, fields: Mapping[str, object]) -> str | None:
        """Our name of the field that a refusal names; None where it names none."""
        ours = {self.renamed.get(name, name): name for name in fields if name not in self.left_out}
        # The longest name first: max_tokens is part of max_completion_tokens.
        for sent in sorted(ours, key=len, reverse=True):
            if re.search(rf"(?<![\w]){re.escape(sent)}(?![\w])", refusal):
                return ours[sent]
        return None
