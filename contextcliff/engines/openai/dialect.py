"""What a server accepts of the OpenAI protocol, learnt from what it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping

from contextcliff.errors import EngineFault

_USE_INSTEAD = re.compile(r"use '(\w+)' instead", re.IGNORECASE)
_IS_UNKNOWN = re.compile(
    r"(?:not|n['’]t) (?:yet |currently )?(?:support|permit|allow|recogni[sz]e|accept|implement|available)"
    r"|un(?:supported|recogni[sz]ed|known)(?! error)|unexpected (?:keyword|field|param|arg|prop|key|name)"
    r"|(?:was|is|were|are) unexpected|(?:no such|cannot find|not a valid) (?:field|param|arg|name)"
    r"|extra[_ ](?:forbidden|inputs|fields)|additional propert|cannot both be",
    re.IGNORECASE,
)
"""How servers say that they do not know a field: OpenAI, Azure, Mistral, vLLM, TGI, LiteLLM, Groq, Gemini."""
_CLAUSE = re.compile(r"[.;!?]\s|\\n|\}, ?\{")
_BOUNDS = ("max_completion_tokens", "max_tokens")


class Dialect:
    """Starts with every field, and gives one up for each refusal; `concessions` lists them for the report.

    Some servers refuse `stream_options` or streaming, some have another name for a field, some refuse a sampler. A
    refused sampler is left out and reported, since the server's own default then applies. `bound` is the field that
    bounds an answer's length: it is never left out.
    """

    def __init__(self, bound: str = "max_tokens") -> None:
        self.bound = bound
        self.streams = True
        self.stream_usage = True
        self.stream_ignored = False
        self.uncounted = False
        self.renamed: dict[str, str] = {}
        self.left_out: set[str] = set()

    def accepted(self, fields: Mapping[str, object]) -> dict[str, object]:
        """The fields of a request that this server accepts, under its names."""
        return {self.renamed.get(name, name): value for name, value in fields.items() if name not in self.left_out}

    def concede(self, refusal: str, fields: Mapping[str, object]) -> bool:
        """Give up what a server does not know: a field is renamed or left out. False if it says so of none.

        Raises `EngineFault` if the server knows no bound of an answer's length.
        """
        refused, instead = self._refused(refusal, fields), _USE_INSTEAD.search(refusal)
        if refused is None:
            return False
        if refused == "stream_options":
            self.stream_usage = False
        elif refused == "stream":
            self.streams = self.stream_usage = False
        elif instead is not None and refused not in self.renamed and instead[1] not in fields:
            self.renamed[refused] = instead[1]
        elif refused != self.bound:
            self.left_out.add(refused)
        elif refused not in self.renamed:
            self.renamed[refused] = next(name for name in _BOUNDS if name != refused)
        else:
            raise EngineFault(
                "no_bound", f"the server takes neither {refused} nor {self.renamed[refused]}: {refusal}", fatal=True
            )
        return True

    def answered(self, *, streamed: bool, counted: bool) -> None:
        """Note whether an answer was streamed and its tokens counted, for the report."""
        self.stream_ignored = self.stream_ignored or (self.streams and not streamed)
        self.uncounted = self.uncounted or not counted

    def concessions(self) -> tuple[str, ...]:
        """What this server does not accept, a line each."""
        lines = [f"{name} is refused and left out: the server's own default holds" for name in sorted(self.left_out)]
        if not self.streams:
            lines.append("streaming is refused: the time to first token is the time of the whole answer")
        elif self.stream_ignored:
            lines.append("stream is ignored: the time to first token is the time of the whole answer")
        if self.uncounted:
            why = "no usage is sent" if self.stream_usage or not self.streams else "stream_options is refused"
            lines.append(f"{why}: token counts are the tokenizer's")
        return tuple(lines)

    def _refused(self, refusal: str, fields: Mapping[str, object]) -> str | None:
        """Our name of the field that is named next to where a refusal says that a field is unknown, or of streaming.

        A mention alone says nothing: "requires fewer max_tokens".
        """
        ours = {self.renamed.get(name, name): name for name in fields if name not in self.left_out}
        if self.stream_usage:
            ours["stream_options"] = "stream_options"
        if self.streams:
            ours |= dict.fromkeys(("stream", "streaming", "Streaming"), "stream")
        name = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, ours))})(?![\w-])")
        for clause in _CLAUSE.split(refusal):
            for said in _IS_UNKNOWN.finditer(clause):
                if named := list(name.finditer(clause)):
                    nearest = min(named, key=lambda at: max(at.start() - said.end(), said.start() - at.end()))
                    return ours[nearest[0]]
        # Some refuse streaming in other words, and no answer is lost or longer without it.
        mentioned = {ours[found] for found in name.findall(refusal)}
        return next((field for field in ("stream_options", "stream") if field in mentioned), None)
