"""The samples that a run left in `samples.jsonl`, read back line by line and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from contextcliff.errors import ConfigError

SAMPLES_NAME = "samples.jsonl"
_LARGEST_FILE = 4 << 30
_LARGEST_LINE = 64 << 20
AGAIN = "write it again with action=analyze"
"""The way out of a file that lacks something."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredSample:
    """What a line says that two runs are compared by; the rest of it is not looked at."""

    sample_id: str
    context_tokens: int
    prompt_sha256: str
    score: float | None = Field(default=None, ge=0.0, le=1.0)
    cluster: str = ""
    item: str = ""
    """The question that it repeats; empty: none, or a file of an earlier version."""
    block: int | None = None
    replayed: bool = False
    """Whether it was asked only to stay paired with another run."""
    figures: Mapping[str, FiniteFloat] = Field(default_factory=dict)
    """What else the task measured of the answer; empty in a file of an earlier version."""


_sample = TypeAdapter(StoredSample)


def stored_samples(folder: Path, *, asked: str) -> Iterator[StoredSample]:
    """The samples of a run's folder. `asked` is what named the run, as `task.like=RUN`.

    Raises `ConfigError` that names file and line for what is none, and the way out.
    """
    file = folder / SAMPLES_NAME
    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise ConfigError(f"{asked}: {file} is larger than {_LARGEST_FILE >> 30} GiB; name another run")
        with file.open("rb") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(_LARGEST_LINE), b""), start=1):
                try:
                    yield _sample.validate_json(line)
                except ValidationError as error:
                    raise ConfigError(f"{asked}: {file} line {number} is no sample; {AGAIN}") from error
    except OSError as error:
        raise ConfigError(f"{asked}: {file}: {error.strerror}; {AGAIN}") from error
