"""GGUF files that are a header alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gguf import GGUFWriter


def gguf_file(path: Path, architecture: str = "llama", /, **keys: Any) -> Path:
    """A file of this architecture with these keys, each by the writer's own method `add_KEY`; None: left out."""
    writer = GGUFWriter(path, architecture)
    for key, value in keys.items():
        if value is not None:
            getattr(writer, f"add_{key}")(*value if isinstance(value, tuple) else (value,))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path
