"""Reads the text of documents by their suffix, in a process of its own with bounds of time, memory and text.

A document may be anybody's. A few kilobytes can ask for hours of work or for gigabytes, and a library in C that fails
ends its process without a word: then this process ends, and the run goes on without the file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Self

from contextcliff.documents.cleaning import clean_text
from contextcliff.documents.containers import UnreadableError, decode
from contextcliff.documents.html_text import epub_text, html_text
from contextcliff.documents.office_text import docx_text, odt_text, rtf_text
from contextcliff.documents.pdf_text import pdf_text
from contextcliff.errors import ConfigError

_BLANK_LINES = re.compile(r"\n[ \t\n]*\n")
_STRIPPED = " \t\n\f\v\u00a0"
"""Removed at both ends of a text. The ideographic space stays: it indents a Japanese paragraph."""


def read_document(path: Path) -> str:
    """Plain text with blank lines between paragraphs, by the suffix; a file with any other is read as text.

    Raises `UnreadableError` for a file that is damaged, encrypted, in an unknown character set or without text (a
    scan), and `ConfigError` where the package that reads it is not installed."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"can't be read ({error.strerror})") from error
    text = _BLANK_LINES.sub("\n\n", _READERS.get(path.suffix.lower(), _plain)(data)).strip(_STRIPPED)
    if not text.strip():
        raise UnreadableError("holds no text")
    return text


def documents_in(folder: Path, *, place: str) -> tuple[list[Path], list[Path]]:
    """The files of a folder with one of `SUFFIXES`, sorted by name, without hidden files and subfolders.

    Links that lead out of the folder come apart, as the second list. Raises `ConfigError`, which begins with `place`,
    for a folder that can't be read and for one without a document."""
    try:
        home = folder.resolve()
        files = sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
    except OSError as error:
        raise ConfigError(f"{place}: can't be read ({error.strerror}); give a folder that can") from error
    visible = [file for file in files if not file.name.startswith(".")]
    links = [file for file in visible if not file.resolve().is_relative_to(home)]
    if len(links) == len(visible):
        why = links_left_out(links) or f"these are read: {', '.join(SUFFIXES)}"
        raise ConfigError(f"{place}: holds no document; {why}")
    return [file for file in visible if file not in links], links


def links_left_out(links: Sequence[Path]) -> str:
    """How many links of a folder are left out, one of them, and the way out. Empty without any."""
    if not links:
        return ""
    return (
        f"links that lead out of their folder are left out: {len(links)}, one of them "
        f"{' '.join(shown_name(links[0].name).split())}; copy into the folder what they name"
    )


def shown_name(name: str) -> str:
    """The name of a file; bytes in it that are not UTF-8 are escapes (`caf\\xe9`)."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _html(data: bytes) -> str:
    return html_text(decode(data, declares=True))


def _plain(data: bytes) -> str:
    text = decode(data, declares=False)
    if "\0" in text:
        raise UnreadableError("is binary, not text")
    return text


_READERS: Mapping[str, Callable[[bytes], str]] = {
    ".pdf": pdf_text,
    ".docx": docx_text,
    ".odt": odt_text,
    ".rtf": rtf_text,
    ".epub": epub_text,
    ".html": _html,
    ".htm": _html,
    ".xhtml": _html,
    ".md": lambda data: re.sub(r"<!--.*?-->", "", _plain(data), flags=re.DOTALL),
    ".txt": _plain,
}
SUFFIXES = tuple(_READERS)
"""The suffixes of documents, in lower case."""


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
        holds too much text, or ends the process."""
        size = path.stat().st_size if path.exists() else 0
        seconds = min(_LEAST_SECONDS + _SECONDS_PER_MIB * (size >> 20), _MOST_SECONDS)
        process = self._process = self._process or _started()
        timer = Timer(seconds, process.kill)
        timer.start()
        began = time.monotonic()
        try:
            kind, said = _answer(process, json.dumps([str(path), cleaned, seconds]))
        except (OSError, ValueError) as error:
            self._end()
            if time.monotonic() - began >= seconds:
                raise UnreadableError(f"takes longer than {seconds} s to read") from error
            perhaps = "" if process.returncode == _OUT_OF_MEMORY else "is damaged, or "
            raise UnreadableError(f"{perhaps}takes more than {_MEMORY_GIB} GiB of memory to read") from error
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
    assert process.stdin and process.stdout  # noqa: PT018 - for the type checker
    process.stdin.write(f"{request}\n".encode())
    process.stdin.flush()
    kind, length = process.stdout.readline().decode().split()
    data = process.stdout.read(int(length))
    if len(data) < int(length):
        raise ValueError("the answer is cut off")
    return kind, data.decode("utf-8", "surrogatepass")


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
