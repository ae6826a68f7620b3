"""Failures that end a run with one clear line, and the exit code of each."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process tells its caller."""

    DONE = 0
    FAILED = 1
    BAD_CONFIGURATION = 2
    OVER_BUDGET = 4
    BUDGET_RAN_OUT = 5
    INTERRUPTED = 130
    TERMINATED = 143


class ContextCliffError(Exception):
    """Base of the failures that are explained in one line; `exit_code` is the process's."""

    exit_code = ExitCode.FAILED


class ConfigError(ContextCliffError):
    """The configuration is wrong: the line names the key, the value and the way out."""

    exit_code = ExitCode.BAD_CONFIGURATION


class RunError(ContextCliffError):
    """The run could not go on; what it has is kept."""


class UnreachableError(RunError):
    """A server that is not there, or not there now."""


class EngineFault(ContextCliffError):
    """One request did not bring a generation, and the model is not to blame.

    `kind` is the tag that the sample gets if it stays so (`timeout`, `connect`, `rate_limit`,
    `server_error`, `broken_stream`, `overflow`, `bad_request`, `content_filter` …); `retryable` says whether to try
    again; `fatal` that no request can succeed (a wrong key, an unknown model). `retry_after_s` is the server's wish.
    """

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        retryable: bool = False,
        fatal: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.retryable = retryable
        self.fatal = fatal
        self.retry_after_s = retry_after_s
