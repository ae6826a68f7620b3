"""Reads documents in a process of its own, with bounds of time, memory and text.

A document may be anybody's. A few kilobytes can ask for hours of work or for gigabytes, and a library in C that fails
ends its process without a word: then this process ends, and the run goes on without the file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Self

from contextcliff.documents.cleaning import clean_text
from contextcliff.documents.containers import UnreadableError
from contextcliff.documents.reading import read_document
from contextcliff.errors import ConfigError

_LEAST_SECONDS, _SECONDS_PER_MIB, _MOST_SECONDS = 30, 3, 300
"""For one file. A novel takes a second, also as a PDF."""
_MEMORY_GIB = 2
_MAX_CHARACTERS = 64_000_000  # of one text: more than ten million tokens
_OUT_OF_MEMORY = 3  # exit code of the process, which ends so that the next file has all the memory again


class DocumentReader:
    """Reads files one after another. Its process starts with the first file and ends with the block."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def text(self, path: Path, *, cleaned: bool = False) -> str:
        """The text as `read_document` gives it, with `cleaned` as `clean_text` does.

        Raises what `read_document` raises, and `UnreadableError` for a file that takes too long or too much memory,
        holds too much text, or ends the process.
        """
        try:
            size = path.stat().st_size
        except OSError as error:
            raise UnreadableError(f"can't be read ({error.strerror})") from error
        seconds = min(_LEAST_SECONDS + _SECONDS_PER_MIB * (size >> 20), _MOST_SECONDS)
        process = self._process = self._process or _started()
        timer = Timer(seconds, process.kill)
        timer.start()
        began = time.monotonic()
        try:
            kind, said = _answer(process, json.dumps([str(path), cleaned, seconds]))
        except (OSError, ValueError) as error:
            self._end()
            raise UnreadableError(_why_ended(process.returncode, time.monotonic() - began, seconds)) from error
        finally:
            timer.cancel()
        if kind == "text":
            return said
        raise ConfigError(said) if kind == "config" else UnreadableError(said)

    def _end(self) -> None:
        if self._process is not None:
            _, self._process = self._process.communicate(), None


def _started() -> subprocess.Popen[bytes]:
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    return subprocess.Popen(  # noqa: S603 - this module
        [sys.executable, "-P", "-c", f"from {__name__} import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C is ours alone
    )


def _answer(process: subprocess.Popen[bytes], request: str) -> tuple[str, str]:
    """Kind and text of an answer. Raises `OSError` or `ValueError` where the process ends before it is complete."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{request}\n".encode())
    process.stdin.flush()
    kind, length = process.stdout.readline().decode().split()
    data = process.stdout.read(int(length))
    if len(data) < int(length):
        raise ValueError("the answer is cut off")
    return kind, data.decode("utf-8", "surrogatepass")


def _why_ended(code: int, took_s: float, seconds: int) -> str:
    if took_s >= seconds:
        return f"takes longer than {seconds} s to read"
    if code == _OUT_OF_MEMORY:
        return f"takes more than {_MEMORY_GIB} GiB of memory to read"
    return f"is damaged, or takes more than {_MEMORY_GIB} GiB of memory to read"


def main() -> None:
    """Answer each line of stdin, the JSON of path, `cleaned` and seconds, with a line of kind and bytes and a text."""
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    _set_limit("RLIMIT_AS", _MEMORY_GIB << 30)
    _set_limit("RLIMIT_CORE", 0)
    for line in sys.stdin.buffer:
        path, cleaned, seconds = json.loads(line)
        _set_limit("RLIMIT_CPU", int(time.process_time()) + seconds + 1)  # if nobody is left to end this process
        try:
            kind, said = "text", _text(Path(path), cleaned=cleaned)
        except UnreadableError as error:
            kind, said = "unreadable", error.reason
        except ConfigError as error:
            kind, said = "config", str(error)
        except MemoryError:
            os._exit(_OUT_OF_MEMORY)
        data = said.encode("utf-8", "surrogatepass")
        answers.write(f"{kind} {len(data)}\n".encode() + data)
        answers.flush()


def _text(path: Path, *, cleaned: bool) -> str:
    text = read_document(path)
    if len(text) > _MAX_CHARACTERS:
        raise UnreadableError(f"holds more than {_MAX_CHARACTERS:,} characters")
    return clean_text(text).strip("\n") if cleaned else text


def _set_limit(name: str, limit: int) -> None:
    """Set a soft limit of this process, where the system has it."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        kind = getattr(resource, name)
        resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))
