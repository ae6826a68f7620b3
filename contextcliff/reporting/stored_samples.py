"""The samples that a run left in `samples.jsonl`, read back line by line and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from contextcliff.datasets.local_files import MAX_BYTES, UnreadableFile, opened
from contextcliff.errors import ConfigError

SAMPLES_NAME = "samples.jsonl"
_LONGEST_LINE = 8 << 20
_MOST_SAMPLES = 500_000
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
        for number, line in enumerate(sample_lines(file), start=1):
            try:
                yield _sample.validate_json(line)
            except ValidationError as error:
                raise ConfigError(f"{asked}: {file} line {number} is no sample; {AGAIN}") from error
    except UnreadableFile as error:
        raise ConfigError(f"{asked}: {file}: {error}; {AGAIN}") from error


def sample_lines(file: Path) -> Iterator[bytes]:
    """The lines of a `samples.jsonl`. Raises `UnreadableFile`."""
    with opened(file, most=MAX_BYTES) as lines:
        for number, line in enumerate(iter(lambda: lines.readline(_LONGEST_LINE), b"")):
            if number == _MOST_SAMPLES:
                raise UnreadableFile(f"has more than {_MOST_SAMPLES:,} samples")
            yield line
