"""How the server bears up: how much it is asked at once, and when to stop asking."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.engines.openai.faults import CONTENT_FILTER, QUOTA, TOO_LITTLE_A_MINUTE, TOOL_CALLS
from contextcliff.errors import EngineFault, RunError
from contextcliff.records.generation import NO_ROOM, NO_TOKENS

_REMEDIES: Mapping[str, str] = {
    "timeout": "raise engine.timeout_s, or ask for shorter prompts",
    "connect": "is the server up, and is engine.base_url its address?",
    "broken_stream": "look at the server's log, and at what stands between that may cut answers off",
    "aborted": "look at the server's log: its engine gave answers up",
    NO_TOKENS: "look at the server's log, and whether its window is as long as it says",
    NO_ROOM: "ask for shorter prompts, or start the server with a longer window",
    "rate_limit": "lower engine.concurrency, or set engine.requests_per_minute",
    "server_error": "look at the server's log and its memory, or ask for shorter prompts",
    "oom": "give the server more memory, or ask for shorter prompts",
    "overflow": "ask for shorter prompts, or start the server with a longer window",
    "truncated": "ask for shorter prompts, or start the server with a longer context",
    "too_large": "lower sampling.max_tokens",
    "bad_request": "look at the server's log, and at what is sent beside the prompt: model.extra_body, sampling "
    "(engine.sampler_names=null sends the temperature alone)",
    "unauthorized": "set the right key, and name its variable with engine.api_key_env",
    "forbidden": "may this key use the model?",
    "not_found": "does the server have model.name, and is engine.base_url right?",
    "no_bound": "name the field that it bounds an answer by with engine.max_tokens_name, or lower sampling.max_tokens",
    QUOTA: "add credit or raise the limit at the provider, or lower sampling.max_tokens; the same command goes on",
    TOO_LITTLE_A_MINUTE: "ask for shorter prompts (task.lengths), or have the provider raise the limit",
    TOOL_CALLS: "turn tools off on the server: it answered by tool calls",
    CONTENT_FILTER: "take other texts (dataset.path), or a provider that lets these pass",
}


def way_out(kind: str) -> str:
    """What a user can do about a fault of this kind."""
    return _REMEDIES.get(kind, "look at the server's log")


FAILURES_IN_A_ROW = 25
"""At a failure rate of 30%, so many in a row come once in 10¹³ attempts: chance opens no breaker."""
REFUSALS_IN_A_ROW = 25
"""Prompts on one document come together, and a filter refuses them together: a row has to be longer than that."""
REFUSALS = ("bad_request", CONTENT_FILTER)
"""Kinds that are one prompt's fault unless they come again and again."""
_TOO_MUCH = "rate_limit"


class Health:
    """Adapts the number of requests in flight and opens the breaker.

    Additive increase, multiplicative decrease (V. Jacobson, SIGCOMM 1988): a 429 halves the limit, once for
    all requests that were in flight together, and each answer raises it by a share, up to what is allowed.
    """

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._answers_since_cut = 0
        self._failures = 0
        self._refusals = 0

    @property
    def limit(self) -> int:
        """Requests that may be in flight now; at least one."""
        return max(1, int(self._limit))

    def answered(self) -> None:
        """A request brought an answer."""
        self._refusals = 0
        self._alive()

    def refused(self, fault: EngineFault, *, before: bool = False) -> None:
        """The server answered that it won't. Raises `RunError` where it did so too often without an answer between.

        A prompt that is too long is its own fault however often that comes; so is one that an earlier invocation was
        refused `before`: a run that ended well with some of them ends well again.
        """
        self._alive()
        self._refusals += fault.kind in REFUSALS and not before
        if self._refusals >= REFUSALS_IN_A_ROW:
            raise RunError(
                f"{REFUSALS_IN_A_ROW} requests were refused and none was answered between them, the last with {fault}; "
                f"{way_out(fault.kind)}; what was answered is kept, and action=analyze reports it"
            )

    def _alive(self) -> None:
        self._failures = 0
        self._answers_since_cut += 1
        self._limit = min(float(self._most), self._limit + 1.0 / self._limit)

    def failed(self, fault: EngineFault) -> None:
        """A request failed on its way. Raises `RunError` after too many in a row."""
        self._failures += 1
        if fault.kind == _TOO_MUCH and (self._answers_since_cut > 0 or self._limit == self._most):
            self._limit = max(1.0, self._limit / 2.0)
            self._answers_since_cut = 0
        if self._failures >= FAILURES_IN_A_ROW:
            raise RunError(
                # Requests in flight together fail past the limit together; all tell of the row that opened it.
                f"{FAILURES_IN_A_ROW} requests failed in a row, the last with {fault}; what was answered is kept: "
                "when the server is well again, the same command goes on"
            )
