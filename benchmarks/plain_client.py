"""What a sample costs beside a plain client: CPU of the whole process, by difference between few samples and many.

    .venv/bin/python benchmarks/plain_client.py [LENGTH ...]

A loopback server that speaks llama.cpp's routes answers at once, in a process of its own. ContextCliff builds, counts
(`tokenizer=server`), hashes, sends, stores and scores; the rival sends prompts of the same length that are in memory
already, by `openai`'s streaming client. Both have eight requests under way. Prints a line for each length, and JSON:
the least of three rounds.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any

from contextcliff.text.tokenizers import WordTokenizer

LENGTHS = (4_096, 32_768, 131_072)
FEW, MANY = 20, 200
ROUNDS = 3
AT_ONCE = 8
ANSWER_TOKENS = 8
_TOKENIZER = WordTokenizer()


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """CPU of a sample, and what the server was asked for it."""

    length: int
    ours_ms: float
    plain_ms: float
    requests: float
    """Of all routes, for each of our samples."""
    peak_mib: float

    @property
    def ratio(self) -> float:
        """Ours to the plain client's."""
        return self.ours_ms / self.plain_ms


class Server:
    """Just enough of llama.cpp's server; tokens are pieces of words."""

    def __init__(self) -> None:
        self.requests = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                path = lines[0].split(" ")[1]
                length = next((int(line[15:]) for line in lines if line.lower().startswith("content-length:")), 0)
                body = json.loads(await reader.readexactly(length) or b"{}")
                self.requests += path not in ("/requests", "/v1/models", "/props")
                if path == "/v1/chat/completions" and body.get("stream"):
                    self._stream(body, writer)
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
        if path == "/requests":
            return self.requests
        if path == "/v1/models":
            return {"data": [{"id": "mock"}]}
        if path == "/v1/chat/completions":
            return self._whole(body)
        if path == "/props":
            return {"default_generation_settings": {"n_ctx": 262_144}, "chat_template": "mock"}
        if path == "/apply-template":
            return {"prompt": self._framed(body)}
        text = body["content"]
        starts = _TOKENIZER.starts(text)
        pieces = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
        return {"tokens": [{"id": 1, "piece": piece} for piece in pieces] if body.get("with_pieces") else pieces}

    def _stream(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        whole = {"id": "1", "created": 1, "model": "mock", "object": "chat.completion.chunk"}
        for number in range(ANSWER_TOKENS + 1):
            delta, finish = ({"content": "7"}, None) if number < ANSWER_TOKENS else ({}, "stop")
            self._event(writer, {**whole, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        tokens = len(_TOKENIZER.starts(self._framed(body)))
        usage = {"prompt_tokens": tokens, "completion_tokens": ANSWER_TOKENS, "total_tokens": tokens + ANSWER_TOKENS}
        self._event(writer, {**whole, "choices": [], "usage": usage})
        end = b"data: [DONE]\n\n"
        writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(end), end))

    def _whole(self, body: dict[str, Any]) -> object:
        """The answer to a client that does not stream."""
        tokens = len(_TOKENIZER.starts(self._framed(body)))
        message = {"role": "assistant", "content": "7" * ANSWER_TOKENS}
        return {
            "id": "1",
            "created": 1,
            "model": "mock",
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": tokens,
                "completion_tokens": ANSWER_TOKENS,
                "total_tokens": tokens + ANSWER_TOKENS,
            },
        }

    @staticmethod
    def _framed(body: dict[str, Any]) -> str:
        return "".join(f"<|{each['role']}|>{each['content']}" for each in body["messages"])

    @staticmethod
    def _event(writer: asyncio.StreamWriter, event: object) -> None:
        line = f"data: {json.dumps(event)}\n\n".encode()
        writer.write(b"%x\r\n%b\r\n" % (len(line), line))


async def serve() -> None:
    """Print the port and serve until killed."""
    server = await asyncio.start_server(Server().talk, "127.0.0.1", 0, limit=2**26)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def plain(port: int, length: int, samples: int) -> None:
    """The rival."""
    import openai

    prompts = ["The tide came in over the flats. " * (length // 8) + f"Question {n}?" for n in range(4)]
    gate = asyncio.Semaphore(AT_ONCE)
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

        await asyncio.gather(*(ask(number) for number in range(samples)))


def _cpu(command: list[str], folder: str) -> tuple[float, float]:
    """Seconds of CPU of a process and its children, and its peak memory in MiB."""
    process = subprocess.Popen(command, cwd=folder)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _ours(port: int, length: int, samples: int) -> list[str]:
    asked = (
        "engine=llama_server", f"engine.base_url=http://127.0.0.1:{port}/v1", f"engine.concurrency={AT_ONCE}",
        "model.name=mock", "model.context_window=262144", "tokenizer=server", "task=niah", "dataset=synthetic",
        f"task.lengths=[{length}]", "task.depths=[0.05,0.15,0.25,0.35,0.45,0.55,0.65,0.75,0.85,0.95]",
        f"task.trials={samples // 10}", "tracking=none", "reporting.figures=false", "reporting.html=false",
        "reporting.progress=false", "reporting.console=none",
    )  # fmt: skip
    return [sys.executable, "-m", "contextcliff", *asked]


def _requests(port: int) -> int:
    import httpx2

    return int(httpx2.post(f"http://127.0.0.1:{port}/requests", json={}).json())


def measured(port: int, length: int) -> Cost:
    """One length. Of several rounds the least counts: what else the machine does only adds."""
    ours, plain = {FEW: inf, MANY: inf}, {FEW: inf, MANY: inf}
    requests, peak = {}, 0.0
    for _ in range(ROUNDS):
        for samples in (FEW, MANY):
            with tempfile.TemporaryDirectory() as folder:
                before = _requests(port)
                cpu, peak = _cpu(_ours(port, length, samples), folder)
                ours[samples] = min(ours[samples], cpu)
                requests[samples] = _requests(port) - before
                rival = [sys.executable, str(Path(__file__).resolve()), "--plain", str(port), str(length), str(samples)]
                plain[samples] = min(plain[samples], _cpu(rival, folder)[0])
    each = 1000 / (MANY - FEW)
    return Cost(
        length=length,
        ours_ms=(ours[MANY] - ours[FEW]) * each,
        plain_ms=(plain[MANY] - plain[FEW]) * each,
        requests=(requests[MANY] - requests[FEW]) / (MANY - FEW),
        peak_mib=peak,
    )


def main(lengths: tuple[int, ...]) -> None:
    """All lengths against one server."""
    with subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            costs = [measured(port, length) for length in lengths]
        finally:
            server.kill()
    for cost in costs:
        print(
            f"{cost.length:>7,} tokens: {cost.ours_ms:.1f} ms a sample, plain client {cost.plain_ms:.1f} ms: "
            f"{cost.ratio:.1f} times; {cost.requests:.1f} requests a sample, {cost.peak_mib:.0f} MiB at most"
        )
    print(json.dumps([asdict(cost) | {"ratio": cost.ratio} for cost in costs]))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--serve"]:
            asyncio.run(serve())
        case ["--plain", port, length, samples]:
            asyncio.run(plain(int(port), int(length), int(samples)))
        case given:
            main(tuple(map(int, given)) or LENGTHS)
