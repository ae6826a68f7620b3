"""One process at a time asks the same of the same model: the next finds the answers in the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from contextcliff.errors import RunError, tell
from contextcliff.seeding import digest_of


@contextmanager
def in_turn(output_dir: Path, *coordinates: object, announce: bool) -> Iterator[None]:
    """Hold the turn for what `coordinates` name in a store; wait while another process holds it.

    Two runs that went through the same schedule side by side would pay for every prompt twice. The lock is the
    operating system's and ends with its process, however that ends. It lies in the user's cache folder, so that
    nothing is made in the output folder before there is an answer. Raises `RunError` where that can't be written.
    """
    name = digest_of(str(output_dir.resolve()), *coordinates)[:32]
    folder = user_cache_path("contextcliff")
    lock = FileLock(folder / f"{name}.lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        if announce:
            tell("waiting: another process asks this model the same; its answers will be used")
        lock.acquire()
    except OSError as error:
        raise RunError(f"{folder}: can't be written ({error.strerror}); name another with XDG_CACHE_HOME") from error
    try:
        yield
    finally:
        lock.release()
