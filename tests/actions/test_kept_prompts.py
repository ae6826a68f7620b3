"""Prompts that are kept with a run, of one turn and of several, and the ratings of a judge."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from contextcliff.annotation.judge import rating_of
from tests.commands import QUIET, SIMULATED, contextcliff, reported, samples
from tests.engines.fake_server import FakeServer, serving

SHORT = ("task.lengths=[400,800]", "task.trials=2", "task.depths=[0.1,0.5,0.9]")


def test_prompts_are_kept_where_they_are_wanted(tmp_path: Path) -> None:
    reported(tmp_path, *SIMULATED, *SHORT, "task.save_contexts=true")
    with gzip.open(next(tmp_path.rglob("contexts.jsonl.gz")), "rt", encoding="utf-8") as stream:
        kept = {line["sample_id"]: line for line in map(json.loads, stream)}
    for sample in samples(tmp_path):
        prompt = kept[sample["sample_id"]]
        assert prompt["prompt_sha256"] == sample["prompt_sha256"]
        assert sample["question"] in prompt["user"]
        assert hashlib.sha256(b"\0" + b"\1" + prompt["user"].encode()).hexdigest() == prompt["prompt_sha256"]


RATINGS = {"8": 8, "Rating: 8/10": 8, "[[10]]": 10, "**7**.": 7, "10.": 10}
NO_RATINGS = ["", "0", "11", "eight", "8.5", "100"]


@pytest.mark.parametrize(("reply", "rating"), [*RATINGS.items(), *((reply, None) for reply in NO_RATINGS)])
def test_a_rating_is_the_first_whole_number_from_one_to_ten(reply: str, rating: int | None) -> None:
    assert rating_of(reply) == rating


ORDINALS = ("first", "second")
QUESTION = re.compile(r"reply with (\w+)\. .* repeat the (\w+) (.*) that you wrote")
FEW = (
    *("model=served", "model.context_window=4096", "task=mrcr", "task.lengths=[1024,2048]", "task.trials=2"),
    "task.save_contexts=true",
)


@dataclass
class Remembering(FakeServer):
    """Finds the piece that is asked for among what it said before."""

    def reply(self, messages: list[dict[str, str]]) -> str:
        assert [message["role"] for message in messages] == ["user", "assistant"] * (len(messages) // 2) + ["user"]
        asked = QUESTION.search(messages[-1]["content"])
        assert asked is not None
        prefix, ordinal, piece = asked.groups()
        same = [place for place, message in enumerate(messages) if message["content"] == f"Write a {piece}."]
        return f"{prefix}{messages[same[ORDINALS.index(ordinal)] + 1]['content']}"


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().splitlines()]


def test_a_server_gets_every_turn_as_a_message_and_the_run_keeps_them(tokenizer: str, tmp_path: Path) -> None:
    with serving(Remembering()) as server:
        at = (f"engine.base_url={server.address}", "tokenizer=huggingface", f"tokenizer.name={tokenizer}")
        done = contextcliff("engine=vllm", *at, *QUIET, *FEW, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(server.bodies) == 12
        lines = samples(tmp_path)
        assert [line["score"] for line in lines] == [1.0] * 12
    (kept,) = tmp_path.rglob("contexts.jsonl.gz")
    bodies = {json.dumps(body["messages"]) for body in server.bodies}
    for line in lines_of(kept):
        turns = [{"role": role, "content": turn[role]} for turn in line["turns"] for role in ("user", "assistant")]
        assert json.dumps([*turns, {"role": "user", "content": line["user"]}]) in bodies
    (page,) = tmp_path.rglob("evidence.jsonl.gz")
    excerpts = {line["sample_id"]: line["excerpts"] for line in lines_of(page)}
    for line in lines:
        ((before, evidence, _),) = excerpts[line["sample_id"]]
        assert line["answers"][0].startswith(evidence.removesuffix("…"))
        assert before.startswith("Write a ")
