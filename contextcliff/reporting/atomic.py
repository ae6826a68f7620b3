"""Writing a file whole or not at all, so that a run that is stopped leaves no half a report."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

LINE_ENDS = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}
"""For `str.translate` of JSON: some readers end a line at these too, and in a string an escape is the same."""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes replace `path` in one step when the block ends, and are dropped where it raises.

    The folder of `path` is made where it is missing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, since a rename is atomic only within one file system. `open` and not
    # `tempfile`: a report is for others to read, and `tempfile` would leave it private (mode 0600).
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(*, path: Path, data: bytes) -> Path:
    """Replace `path` by `data` in one step and return it; its folder is made where it is missing."""
    with replacing(path) as stream:
        stream.write(data)
    return path


def write_text(*, path: Path, text: str) -> Path:
    """Write `text` as UTF-8 with Unix line ends, as `write_bytes` does.

    A lone surrogate, which a model's broken JSON can hold, has no UTF-8 form; it becomes a six
    character escape, which inside JSON is the very escape that reads back as the same character.
    """
    return write_bytes(path=path, data=text.encode("utf-8", errors="backslashreplace"))
