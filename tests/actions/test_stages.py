"""A request is few calls away from the action."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2
import pytest

from contextcliff.actions.run import Run
from contextcliff.errors import ExitCode
from tests.commands import QUIET
from tests.compositions import built
from tests.engines.fake_server import FakeServer, serving

WINDOW = [{"id": "m", "max_model_len": 4096}]


def ours(frame: FrameType | None) -> list[str]:
    """The functions of ours on a stack above `Run.__call__`, the innermost last; all of them if that is not on it."""
    found: list[str] = []
    while frame is not None and frame.f_code is not Run.__call__.__code__:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("contextcliff."):
            found.append(f"{module.removeprefix('contextcliff.')}.{frame.f_code.co_qualname}")
        frame = frame.f_back
    return found[::-1]


class Recording(asyncio.DefaultEventLoopPolicy):
    """Notes which functions of ours led to each task."""

    def __init__(self) -> None:
        super().__init__()
        self.led_to: dict[asyncio.Task[Any], list[str]] = {}

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()

        def task(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **others: Any) -> asyncio.Task[Any]:
            made = asyncio.Task(work, loop=loop, **others)
            self.led_to[made] = self.calls()
            return made

        loop.set_task_factory(task)  # type: ignore[arg-type]
        return loop

    def calls(self) -> list[str]:
        """From `Run.__call__` to here, by way of the tasks that were made on the way."""
        try:
            task = asyncio.current_task()
        except RuntimeError:  # no loop runs
            task = None
        return [*self.led_to.get(task, []), *ours(sys._getframe(2))] if task is not None else []


@pytest.mark.parametrize("design", [("task.trials=1",), ("task.trials=auto",)], ids=str)
def test_at_most_eight_functions_lie_between_the_action_and_its_request(
    design: tuple[str, ...], tokenizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, seen = Recording(), list[list[str]]()
    send = httpx2.AsyncClient.send

    async def noted(self: httpx2.AsyncClient, request: httpx2.Request, **others: Any) -> httpx2.Response:
        seen.append(policy.calls())
        return await send(self, request, **others)

    monkeypatch.setattr(httpx2.AsyncClient, "send", noted)
    asyncio.set_event_loop_policy(policy)
    try:
        with serving(FakeServer(models=WINDOW)) as server:
            engine = ("engine=vllm", f"engine.base_url={server.address}", "model=served", "tokenizer=huggingface")
            samples = (f"tokenizer.name={tokenizer}", "task.lengths=[300]", "task.depths=[0.5]", *design)
            invocation = built(*engine, *samples, *QUIET, f"output_dir={tmp_path}")
            assert invocation.action(invocation) is ExitCode.DONE
    finally:
        asyncio.set_event_loop_policy(None)
    longest = max(seen, key=len)
    assert longest[0] == "actions.send.send"
    assert len(longest) <= 8, " > ".join(longest)
