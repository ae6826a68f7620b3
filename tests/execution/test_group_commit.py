"""Generations go into the store in groups, and none counts as done before it is there."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Coroutine
from pathlib import Path
from threading import Event, get_ident

import pytest

from contextcliff.errors import RunError
from contextcliff.execution.group_commit import GroupCommit
from contextcliff.execution.store import Answered, Store
from tests.execution.planned_samples import planned
from tests.tasks.needles import said

ANSWERED = [Answered(planned=planned(f"s{number}", "a prompt"), generation=said(str(number))) for number in range(5)]


class Noting(Store):
    """A store that notes its commits, each of which waits until it is let go."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.groups: list[int] = []
        self.threads: set[int] = set()
        self.disk_is_ready = Event()

    def keep(self, *answered: Answered) -> None:
        self.disk_is_ready.wait()
        self.threads.add(get_ident())
        super().keep(*answered)
        self.groups.append(len(answered))


async def begun(waiting: Coroutine[None, None, None]) -> asyncio.Task[None]:
    """A task that has come as far as it can."""
    task = asyncio.create_task(waiting)
    for _ in range(5):
        await asyncio.sleep(0)
    return task


def kept(folder: Path) -> list[str]:
    """The keys that another connection sees."""
    with sqlite3.connect(folder / "state.db") as connection:
        return [key for (key,) in connection.execute("SELECT key FROM generations ORDER BY key")]


def test_what_ends_while_the_disk_is_busy_is_the_next_group(tmp_path: Path) -> None:
    async def keep(store: Noting) -> None:
        commits = GroupCommit(store=store)
        tasks = [await begun(commits.keep(each)) for each in ANSWERED[:4]]
        assert not any(task.done() for task in tasks)
        store.disk_is_ready.set()
        await asyncio.gather(*tasks)
        await commits.keep(ANSWERED[4])

    with Noting(tmp_path) as store:
        asyncio.run(keep(store))
        assert store.groups == [1, 3, 1]
        assert get_ident() not in store.threads
    assert kept(tmp_path) == sorted(each.planned.key for each in ANSWERED[:5])


def test_what_ends_at_once_is_one_commit(tmp_path: Path) -> None:
    async def keep(store: Noting) -> None:
        commits = GroupCommit(store=store)
        await asyncio.gather(*(commits.keep(each) for each in ANSWERED[:4]))

    with Noting(tmp_path) as store:
        store.disk_is_ready.set()
        asyncio.run(keep(store))
        assert store.groups == [4]


def test_a_generation_whose_caller_is_cancelled_is_kept(tmp_path: Path) -> None:
    async def keep(store: Noting) -> None:
        commits = GroupCommit(store=store)
        tasks = [await begun(commits.keep(each)) for each in ANSWERED[:3]]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert all(task.cancelled() for task in tasks)
        store.disk_is_ready.set()
        await commits.ended()

    with Noting(tmp_path) as store:
        asyncio.run(keep(store))
    assert len(kept(tmp_path)) == 3


def test_everyone_in_a_group_hears_why_it_was_not_written(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"no database at all, but a long enough text" * 50)

    async def keep(store: Store) -> list[BaseException | None]:
        commits = GroupCommit(store=store)
        return await asyncio.gather(*(commits.keep(each) for each in ANSWERED[:3]), return_exceptions=True)

    with Store(tmp_path) as store:
        errors = asyncio.run(keep(store))
    assert [type(error) for error in errors] == [RunError] * 3
    assert "state.db: is damaged, or no database" in str(errors[0])


@pytest.mark.parametrize("cause", [MemoryError(), TypeError("of our own making")])
def test_no_one_waits_for_ever_for_a_group_that_failed(tmp_path: Path, cause: Exception) -> None:
    class Failing(Store):
        def keep(self, *answered: Answered) -> None:
            raise cause

    async def keep(store: Store) -> None:
        commits = GroupCommit(store=store)
        with pytest.raises(type(cause)):
            await commits.keep(ANSWERED[0])
        await commits.ended()

    with Failing(tmp_path) as store:
        asyncio.run(keep(store))


def test_nothing_is_waited_for_where_nothing_was_kept(tmp_path: Path) -> None:
    asyncio.run(GroupCommit(store=Store(tmp_path)).ended())
