"""Errors that are reported in one line, the exit code of each, and what is shown of addresses and of others' words."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the process."""

    DONE = 0
    FAILED = 1
    BAD_CONFIGURATION = 2
    GATE_FAILED = 3
    """Everything is written, and the result is not what the command line requires of it."""
    OVER_BUDGET = 4
    BUDGET_RAN_OUT = 5
    INTERRUPTED = 130
    TERMINATED = 143


class ContextCliffError(Exception):
    """Base of the errors that are reported in one line; `exit_code` is what the process then exits with."""

    exit_code = ExitCode.FAILED


class ConfigError(ContextCliffError):
    """The configuration is wrong: the line names the key, the value and the way out."""

    exit_code = ExitCode.BAD_CONFIGURATION

    def __init__(self, message: str) -> None:
        super().__init__(_cut(message))


class RunError(ContextCliffError):
    """The run could not go on; the answers that it has are kept."""


class UnreachableError(RunError):
    """A server can't be reached, at least now."""


@contextmanager
def keys_named(**sections: str) -> Iterator[None]:
    """Errors from inside name their keys by where these sections stand, as `model="judge.model"`."""
    try:
        yield
    except ContextCliffError as error:
        said = str(error)
        for section, place in sections.items():
            said = re.sub(rf"(?<![\w.]){section}(?=\.\w)", place, said)
        error.args = (said,)
        raise


WITHOUT_WEIGHTS = (
    "ask a server that has the model (engine=openai engine.base_url=http://HOST:PORT/v1), or take model=smollm2, whose "
    "weights are installed, or engine=simulated, whose answers are made up; weights that are here already are found by "
    "HF_HOME=FOLDER or model.gguf.path=FILE.gguf"
)


class UnfetchedWeights(RunError):
    """Weights are not here, and the hub does not give them."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}; {WITHOUT_WEIGHTS}")


def in_short(error: str) -> str:
    return error.removesuffix(f"; {WITHOUT_WEIGHTS}")


class GateFailed(ContextCliffError):
    """A result is not what was required of it. Raised at the end, when everything is written and tracked."""

    exit_code = ExitCode.GATE_FAILED


class EngineFault(ContextCliffError):
    """A request brought no generation, and the model is not to blame.

    `kind` is the sample's failure tag where no retry helps (`timeout`, `connect`, `rate_limit`, `server_error`,
    `broken_stream`, `aborted`, `overflow`, `bad_request`, `content_filter` …). `retryable`: another try may succeed.
    `fatal`: no request can succeed (wrong key, unknown model). `retry_after_s`: the seconds that the server asks to
    wait."""

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


_LONGEST_LINE = 900
"""Of an error of the configuration: the options of the largest group go into it, or the models of a server."""
_JOINERS = "\u200c\u200d"
"""Between letters of many scripts and parts of a sign: nothing that a terminal obeys."""


def visible(text: str, *, keep: str = "") -> str:
    """`text` with escapes in the place of what has no shape, but for the characters of `keep`. So the words of a
    server, a model or a file can't move the cursor, set colours or turn the direction of writing."""
    if text.translate(dict.fromkeys(map(ord, keep))).isprintable():
        return text
    return "".join(
        char
        if char in keep or char.isprintable() or char in _JOINERS or unicodedata.category(char) == "Zs"
        else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def one_line(text: str, *, longest: int) -> str:
    """`text` on one line with blanks and escapes, cut after `longest` characters with `…` where it is longer."""
    line = visible(" ".join(text.split())[: longest + 1])
    return line if len(line) <= longest else f"{line[:longest]}…"


def _cut(message: str) -> str:
    """A message on one line, without its middle where it is long: it begins with the key and ends with the way out."""
    line = visible(" ".join(message.split()))
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE // 2]}…{line[-_LONGEST_LINE // 2 :]}"


def tell(line: str) -> None:
    """Write a line on stderr, whoever's words are in it."""
    sys.stderr.write(f"{visible(' '.join(line.split()))}\n")


_HIDDEN = "***"
_SECRET = re.compile(r"key|token|secret|pass|pwd|auth|sig|cred|code", re.IGNORECASE)
# Up to the last @ before the path. Where the part after the colon is no port, up to the last @ of all, since a
# password may hold a slash.
_USER_IN_TEXT = re.compile(r"(?<=://)(?:[^/?#@\s]*:(?!\d*(?:[/?#\s]|$))[^\s]*@|[^/?#\s]*@)")
_USER_IN_VALUE = re.compile(r"(?<=://)(?:[^/?#@]*:(?!\d*(?:[/?#]|$)).*@|[^/?#]*@)", re.DOTALL)
_IS_ADDRESS = re.compile(r"""([\w.@/+~]*=)?['"]?[\w+.-]+://""")
_PARAMETER = re.compile(r"(?<=[?&;])([^=&;?#\s]+)=([^&;#\s'\"]+)")


def is_secret(parameter: str) -> bool:
    """Whether the name of an address's parameter (`api_key`, `sig` …) says that it holds a key or a password."""
    return bool(_SECRET.search(parameter))


def shown_text(text: str) -> str:
    """`text` with the secrets of every address in it removed."""
    return _hidden(text, _USER_IN_TEXT)


def shown_value(value: str) -> str:
    """The same for a value, or `KEY=VALUE`, that is one address or none: its password may hold blanks."""
    return _hidden(value, _USER_IN_VALUE if _IS_ADDRESS.match(value) else _USER_IN_TEXT)


def _hidden(text: str, user: re.Pattern[str]) -> str:
    if "://" not in text:
        return text
    return _PARAMETER.sub(lambda pair: f"{pair[1]}={_HIDDEN}" if is_secret(pair[1]) else pair[0], user.sub("", text))


def print_error(error: Exception | str) -> None:
    tell(f"error: {shown_text(str(error))}")
