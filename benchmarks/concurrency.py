"""How busy many requests in flight keep a server: our run beside a bare asyncio loop with the same client.

    .venv/bin/python benchmarks/concurrency.py [CONCURRENCY] [REQUESTS] [ROUNDS]

A loopback server takes 20 ms a token, for every request by itself, and clocks the answers: from the first request that
came in to the last answer that went out. Ours builds, sends, stores and scores; the rival keeps as many requests of
the same length in flight and reads their streams. Best of the rounds; prints JSON.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LENGTH = 4_096
ANSWER_TOKENS = 50
S_PER_TOKEN = 0.02


class Server:
    """llama.cpp's routes, as far as a run of one length takes them; it counts letters in fours as tokens."""

    def __init__(self) -> None:
        self.first_s, self.last_s, self.answers = 0.0, 0.0, 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                path = lines[0].split(" ")[1]
                length = next((int(line[15:]) for line in lines if line.lower().startswith("content-length:")), 0)
                body = json.loads(await reader.readexactly(length) or b"{}")
                if path == "/v1/chat/completions":
                    await self._stream(body, writer)
                else:
                    content = json.dumps(self._answer(path, body)).encode()
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                    writer.write(f"Content-Length: {len(content)}\r\n\r\n".encode() + content)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    def _answer(self, path: str, body: dict[str, Any]) -> object:
        match path:
            case "/measured":
                measured = {"seconds": self.last_s - self.first_s, "answers": self.answers}
                self.first_s, self.last_s, self.answers = 0.0, 0.0, 0
                return measured
            case "/v1/models":
                return {"data": [{"id": "mock"}]}
            case "/props":
                return {"default_generation_settings": {"n_ctx": 262_144}, "chat_template": "mock"}
            case "/apply-template":
                return {"prompt": "".join(each["content"] for each in body["messages"])}
        text = body["content"]
        pieces = [text[start : start + 4] for start in range(0, len(text), 4)]
        return {"tokens": [{"id": 1, "piece": piece} for piece in pieces] if body.get("with_pieces") else pieces}

    async def _stream(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        self.first_s = self.first_s or time.perf_counter()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(ANSWER_TOKENS + 1):
            await asyncio.sleep(S_PER_TOKEN)
            delta, finish = ({"content": "7"}, None) if number < ANSWER_TOKENS else ({}, "stop")
            self._event(writer, {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        tokens = sum(len(each["content"]) for each in body["messages"]) // 4
        self._event(writer, {"choices": [], "usage": {"prompt_tokens": tokens, "completion_tokens": ANSWER_TOKENS}})
        end = b"data: [DONE]\n\n"
        writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(end), end))
        await writer.drain()
        self.last_s = time.perf_counter()
        self.answers += 1

    @staticmethod
    def _event(writer: asyncio.StreamWriter, event: dict[str, Any]) -> None:
        event = {"id": "1", "created": 1, "model": "mock", "object": "chat.completion.chunk", **event}
        line = f"data: {json.dumps(event)}\n\n".encode()
        writer.write(b"%x\r\n%b\r\n" % (len(line), line))


async def serve() -> None:
    """Print the port and serve until killed."""
    server = await asyncio.start_server(Server().talk, "127.0.0.1", 0, limit=2**26)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def bare(port: int, concurrency: int, requests: int) -> None:
    """The rival."""
    import openai

    prompt = "The tide came in over the flats. " * (LENGTH * 4 // 33)
    gate = asyncio.Semaphore(concurrency)
    async with openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none") as client:

        async def ask() -> str:
            async with gate:
                stream = await client.chat.completions.create(
                    model="mock",
                    messages=[{"role": "user", "content": prompt}],
                    stream=True,
                    stream_options={"include_usage": True},
                )
                return "".join([event.choices[0].delta.content or "" async for event in stream if event.choices])

        await asyncio.gather(*(ask() for _ in range(requests)))


def _ours(port: int, concurrency: int, requests: int) -> list[str]:
    asked = (
        "engine=llama_server", f"engine.base_url=http://127.0.0.1:{port}/v1", f"engine.concurrency={concurrency}",
        "model.name=mock", "model.context_window=262144", "tokenizer=server", "task=niah", "dataset=synthetic",
        f"task.lengths=[{LENGTH}]", "task.depths=[0.5]", f"task.trials={requests}", "tracking=none",
        "reporting.figures=false", "reporting.html=false", "reporting.progress=false", "reporting.console=none",
    )  # fmt: skip
    return [sys.executable, "-m", "contextcliff", *asked]


def _rate(port: int, command: list[str], requests: int) -> float:
    """Answers a second."""
    import httpx2

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, cwd=folder, check=True)
    measured = httpx2.post(f"http://127.0.0.1:{port}/measured", json={}).json()
    assert measured["answers"] == requests
    return requests / float(measured["seconds"])


def main(concurrency: int = 64, requests: int = 640, rounds: int = 3) -> None:
    """Both against one server, in turn."""
    script = str(Path(__file__).resolve())
    with subprocess.Popen([sys.executable, script, "--serve"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        rival = [sys.executable, script, "--bare", str(port), str(concurrency), str(requests)]
        try:
            rates = [
                (_rate(port, _ours(port, concurrency, requests), requests), _rate(port, rival, requests))
                for _ in range(rounds)
            ]
        finally:
            server.kill()
    ours, plain = (max(column) for column in zip(*rates, strict=True))
    most = concurrency / (S_PER_TOKEN * (ANSWER_TOKENS + 1))
    print(f"{concurrency} in flight: {ours:.1f} answers a second, bare loop {plain:.1f}: {ours / plain:.0%} of it")
    print(f"a server that never waits gives {most:.1f}: ours keeps it busy for {ours / most:.0%} of the time")
    print(json.dumps({"concurrency": concurrency, "ours_per_s": ours, "bare_per_s": plain, "ratio": ours / plain}))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--serve"]:
            asyncio.run(serve())
        case ["--bare", port, concurrency, requests]:
            asyncio.run(bare(int(port), int(concurrency), int(requests)))
        case given:
            main(*map(int, given))
