"""What the benchmarks of requests share: a loopback server, a plain client to measure against, and commands for both.

The server speaks llama.cpp's routes, as far as a run of one length takes them, in a process of its own. Tokens are
pieces of words.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SCRIPT = str(Path(__file__).resolve())


@dataclass(kw_only=True, slots=True)
class Server:
    """Answers at once."""

    answer_tokens: int
    requests: int = 0
    """Of all routes but those that tell of the server."""
    answers: int = 0
    first_s: float = 0.0
    """When the first streamed answer was asked for."""
    last_s: float = 0.0
    """When the last one had gone out."""

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                path = lines[0].split(" ")[1]
                length = next((int(line[15:]) for line in lines if line.lower().startswith("content-length:")), 0)
                body = json.loads(await reader.readexactly(length) or b"{}")
                self.requests += path not in ("/measured", "/v1/models", "/props")
                if path == "/v1/chat/completions" and body.get("stream"):
                    await self._stream(body, writer)
                else:
                    content = json.dumps(self._answer(path, body)).encode()
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                    writer.write(f"Content-Length: {len(content)}\r\n\r\n".encode() + content)
                    await writer.drain()
                if "connection: close" in head.decode().lower():
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    def _answer(self, path: str, body: dict[str, Any]) -> object:
        match path:
            case "/measured":
                told = {"requests": self.requests, "answers": self.answers, "seconds": self.last_s - self.first_s}
                self.requests, self.answers, self.first_s, self.last_s = 0, 0, 0.0, 0.0
                return told
            case "/v1/models":
                return {"data": [{"id": "mock"}]}
            case "/props":
                return {"default_generation_settings": {"n_ctx": 262_144}, "chat_template": "mock"}
            case "/apply-template":
                return {"prompt": _framed(body)}
            case "/v1/chat/completions":
                message = {"role": "assistant", "content": "7" * self.answer_tokens}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                return {**_HEAD, "object": "chat.completion", "choices": [choice], "usage": self._usage(body)}
        text = body["content"]
        pieces = _pieces(text)
        return {"tokens": [{"id": 1, "piece": piece} for piece in pieces] if body.get("with_pieces") else pieces}

    async def spoken(self, body: dict[str, Any], tokens: int) -> Sequence[str]:  # noqa: ARG002 - for a law
        """The answer to a prompt of so many tokens, in pieces."""
        return ("7",) * self.answer_tokens

    async def _stream(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        self.first_s = self.first_s or time.perf_counter()
        usage = self._usage(body)
        pieces = await self.spoken(body, usage["prompt_tokens"])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        deltas: list[tuple[dict[str, str], str | None]] = [({"content": piece}, None) for piece in pieces]
        for delta, finish in (*deltas, ({}, "stop")):
            _event(writer, {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        _event(writer, {"choices": [], "usage": usage})
        end = b"data: [DONE]\n\n"
        writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(end), end))
        await writer.drain()
        self.last_s, self.answers = time.perf_counter(), self.answers + 1

    def _usage(self, body: dict[str, Any]) -> dict[str, int]:
        tokens = len(_pieces(_framed(body)))
        total = tokens + self.answer_tokens
        return {"prompt_tokens": tokens, "completion_tokens": self.answer_tokens, "total_tokens": total}


_HEAD = {"id": "1", "created": 1, "model": "mock"}


def _pieces(text: str) -> list[str]:
    from contextcliff.text.tokenizers import WordTokenizer

    starts = WordTokenizer().starts(text)
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _framed(body: dict[str, Any]) -> str:
    return "".join(f"<|{each['role']}|>{each['content']}" for each in body["messages"])


def _event(writer: asyncio.StreamWriter, event: dict[str, Any]) -> None:
    line = f"data: {json.dumps({**_HEAD, 'object': 'chat.completion.chunk', **event})}\n\n".encode()
    writer.write(b"%x\r\n%b\r\n" % (len(line), line))


async def _serve(server: Server) -> None:
    """Print the port and serve until killed."""
    listening = await asyncio.start_server(server.talk, "127.0.0.1", 0, limit=2**26)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


@contextmanager
def served(*, answer_tokens: int) -> Iterator[int]:
    """The port of a server."""
    command = [sys.executable, _SCRIPT, "--serve", str(answer_tokens)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def measured(port: int) -> dict[str, float]:
    """What the server counted since it was last asked: `requests`, streamed `answers`, and the `seconds` of these."""
    import httpx2

    told: dict[str, float] = httpx2.post(f"http://127.0.0.1:{port}/measured", json={}).json()
    return told


def prompt_of(length: int, number: int) -> str:
    """About so many tokens."""
    return "The tide came in over the flats. " * (length // 8) + f"Question {number}?"


async def _ask(port: int, length: int, requests: int, at_once: int) -> None:
    import openai

    prompts = [prompt_of(length, number) for number in range(4)]
    gate = asyncio.Semaphore(at_once)
    async with openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none") as client:

        async def ask(number: int) -> str:
            async with gate:
                stream = await client.chat.completions.create(
                    model="mock",
                    messages=[{"role": "user", "content": prompts[number % len(prompts)]}],
                    stream=True,
                    stream_options={"include_usage": True},
                )
                return "".join([event.choices[0].delta.content or "" async for event in stream if event.choices])

        await asyncio.gather(*(ask(number) for number in range(requests)))


def plain_client(port: int, *, length: int, requests: int, at_once: int) -> list[str]:
    """The command of the rival: prompts that are in memory, sent by `openai`'s streaming client."""
    return [sys.executable, _SCRIPT, "--plain", *map(str, (port, length, requests, at_once))]


def ours(port: int, *, length: int, depths: Sequence[float], trials: int, at_once: int) -> list[str]:
    """The command of a run of niah at one length."""
    grid = (f"task.depths=[{','.join(map(str, depths))}]", f"task.trials={trials}")
    return command(port, f"task.lengths=[{length}]", *grid, at_once=at_once)


def command(port: int, *overrides: str, at_once: int) -> list[str]:
    """The command of a run of niah without figures, page and tracker."""
    asked = (
        "engine=llama_server", f"engine.base_url=http://127.0.0.1:{port}/v1", f"engine.concurrency={at_once}",
        "model.name=mock", "model.context_window=262144", "tokenizer=server", "task=niah", "dataset=synthetic",
        "tracking=none", "reporting.figures=false", "reporting.html=false", "reporting.progress=false",
        "reporting.console=none",
    )  # fmt: skip
    return [sys.executable, "-m", "contextcliff", *asked, *overrides]


def environment() -> dict[str, str]:
    """That of a command: Python keeps bytecode, as where it is installed; else each start compiles what it imports."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def cpu_and_peak(command: list[str]) -> tuple[float, float]:
    """Seconds of CPU of a process with its children, in an empty folder, and its peak memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--serve", answer_tokens]:
            asyncio.run(_serve(Server(answer_tokens=int(answer_tokens))))
        case ["--plain", *numbers]:
            asyncio.run(_ask(*map(int, numbers)))
