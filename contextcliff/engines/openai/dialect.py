"""What a server accepts of the OpenAI protocol, learnt from what it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping

_USE_INSTEAD = re.compile(r"[Uu]se '(\w+)' instead")


class Dialect:
    """Starts with everything and concedes, one refusal at a time; each concession is kept to be told.

    Some servers refuse `stream_options` or streaming, some know other names for a field, some refuse a
    sampler. A refused sampler is left out and said, since the server's own default is then in force.
    """

    def __init__(self) -> None:
        self.streams = True
        self.stream_usage = True
        self.stream_ignored = False
        self.renamed: dict[str, str] = {}
        self.left_out: set[str] = set()

    def spoken(self, fields: Mapping[str, object]) -> dict[str, object]:
        """The fields of a request as this server takes them."""
        return {self.renamed.get(name, name): value for name, value in fields.items() if name not in self.left_out}

    def concede(self, told: str, fields: Mapping[str, object]) -> bool:
        """Give in to a refusal; False where it names nothing that could be left out."""
        if self.stream_usage and "stream_options" in told:
            self.stream_usage = False
            return True
        named = self._named_in(told, fields)
        if named is not None:
            instead = _USE_INSTEAD.search(told)
            if instead is not None and named not in self.renamed:
                self.renamed[named] = instead[1]
            else:
                self.left_out.add(named)
            return True
        if self.streams and re.search(r"\bstream(?:ing)?\b", told):
            self.streams = self.stream_usage = False
            return True
        return False

    def answered(self, *, streamed: bool) -> None:
        """Note an answer that came in one piece where a stream was asked for."""
        self.stream_ignored = self.stream_ignored or (self.streams and not streamed)

    def concessions(self) -> tuple[str, ...]:
        """What this server does not take, a phrase each."""
        said = [f"{name} is refused and left out: the server's own default holds" for name in sorted(self.left_out)]
        if not self.streams:
            said.append("streaming is refused: the time to first token is the time of the whole answer")
        elif self.stream_ignored:
            said.append("stream is ignored: the time to first token is the time of the whole answer")
        elif not self.stream_usage:
            said.append("stream_options is refused: token counts are the tokenizer's")
        return tuple(said)

    def _named_in(self, told: str, fields: Mapping[str, object]) -> str | None:
        spoken = {self.renamed.get(name, name): name for name in fields if name not in self.left_out}
        # The longest name first: max_tokens stands inside max_completion_tokens.
        for shown in sorted(spoken, key=len, reverse=True):
            if re.search(rf"(?<![\w]){re.escape(shown)}(?![\w])", told):
                return spoken[shown]
        return None
