"""Tokens of SentencePiece models find their places in the text: they begin with a blank, and change some signs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.engines.openai.server_access import ApiKey
from contextcliff.engines.openai.server_tokens import LlamaServerTokenizer, TokenServer, piece_starts
from tests.commands import QUIET, contextcliff, contextcliff_process, reports, samples
from tests.engines.test_server_command import LLAMA

Pieces = Sequence[str | Sequence[int]]


@pytest.mark.parametrize(
    ("text", "pieces", "starts"),
    [
        ("harbour", ["harb", "our"], [0, 4]),
        ("Hello world", [" Hello", " world"], [0, 5]),
        (" Hello", [" ", " Hello"], [0, 0]),
        ("a▁b", [" a", " b"], [0, 1]),
        ("▁▁x ▁ y", ["  ", " x", "  ", " y"], [0, 1, 3, 5]),
        ("x\r\n y", [" x", "\r", "\n", " y"], [0, 1, 2, 3]),
        ("<s>Hello</s> you", ["<s>", " Hello", "</s>", " ", " you"], [0, 3, 8, 12, 13]),
        ("<|end|>  you", ["<|end|>", "you"], [0, 9]),
        ("one  two ", ["one", " two"], [0, 3]),
        ("  one", ["one"], [0]),
        ("日🙂", [" ", "日", [240, 159], [153, 130]], [0, 0, 1, 1]),
        ("Ａb ㍿ x", [" Ab", " 株式", "会社", " x"], [0, 2, 3, 4]),
        ("One", ["one", ""], [0, 2]),
        ("e\u0301x", ["é", "x"], [0, 2]),
        ("", [], []),
        ("\n", [" ", "\n"], [0, 0]),
    ],
)
def test_each_token_begins_where_its_first_character_stands(text: str, pieces: Pieces, starts: list[int]) -> None:
    assert piece_starts(text, pieces) == starts


@pytest.mark.parametrize("pieces", [["harb", "or"], ["harbour", "<unk>"], ["harb", [255]], ["harb"]])
def test_pieces_of_another_text_have_no_places(pieces: Pieces) -> None:
    assert piece_starts("harbour", pieces) is None


_SIGNS = "ab  ▁\n\rÉｶ㍿日🙂"


@given(st.text(alphabet=_SIGNS, max_size=30), st.booleans(), st.booleans(), st.data())
def test_starts_ascend_within_the_text_one_for_each_token(
    text: str, blank: bool, drops: bool, data: st.DataObject
) -> None:
    said = " ".join(text.split()) if drops else text
    encoded = f"{' ' * blank}{said}".replace("▁", " ").encode()
    cuts = data.draw(st.sets(st.integers(1, max(1, len(encoded) - 1)), max_size=8))
    edges = sorted({0, len(encoded), *(cut for cut in cuts if cut < len(encoded))})
    pieces = [list(encoded[a:b]) for a, b in pairwise(edges)]
    starts = piece_starts(text, pieces)
    assert starts is not None
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)
    assert len(starts) == (len(pieces) if text else 0)
    assert starts[:1] == [0][: len(starts)]


class Unknown(TokenServer):
    """A server whose model has no token for a sign, and tells no bytes of it."""

    def post(self, path: str, body: Any) -> Any:
        return {"tokens": [{"piece": "<unk>" if sign == "🙂" else sign} for sign in body["content"]]}


def test_tokens_without_places_are_counted_line_by_line() -> None:
    server = Unknown(http=None, root="", key=ApiKey(), model="m", api="chat", template_arguments={})  # type: ignore[arg-type]
    tokenizer = LlamaServerTokenizer(name="l", server=server)
    plain, text = "ten words of a plain text, " * 30, "and one 🙂 of them. " * 30
    assert list(tokenizer.starts(plain)) == list(range(len(plain)))
    assert not tokenizer.has_estimated
    assert list(tokenizer.starts(text)) == list(range(len(text)))
    assert tokenizer.has_estimated


@pytest.mark.slow
def test_a_tokenizer_that_only_counts_is_named_in_the_report(tmp_path: Path) -> None:
    from transformers import ByT5Tokenizer

    ByT5Tokenizer().save_pretrained(str(tmp_path / "byt5"))
    grid = ("task.lengths=[2000]", "task.depths=[0.5]", "task.trials=1")
    simulated = ("engine=simulated", "tokenizer=huggingface", f"tokenizer.name={tmp_path}/byt5")
    done = contextcliff(*simulated, *QUIET, *grid, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (report,) = reports(tmp_path)
    assert any("could not be matched with the text, only counted" in note for note in report["notes"])


_WORDS = "the of and to was that it number special magic is what answer harbour clerk tide one".split()


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights as of Llama 2, tiny and untrained: a SentencePiece vocabulary with bytes, and a blank before a text."""
    gguf = pytest.importorskip("gguf")
    import numpy as np

    letters = [chr(code) for code in range(33, 127)]
    words = [f"▁{word}"[:end] for word in _WORDS for end in range(1, len(word) + 2)]
    kept = list(dict.fromkeys(["▁", "▁▁", *words, *letters]))
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{value:02X}>" for value in range(256)), *kept]
    types = [2, 3, 3, *[6] * 256, *[1] * len(kept)]
    file = tmp_path_factory.mktemp("llama") / "llama.gguf"
    width, inner, layers = 32, 64, 2
    weights = gguf.GGUFWriter(str(file), "llama")
    weights.add_context_length(2048)
    weights.add_embedding_length(width)
    weights.add_block_count(layers)
    weights.add_feed_forward_length(inner)
    weights.add_head_count(2)
    weights.add_layer_norm_rms_eps(1e-5)
    weights.add_tokenizer_model("llama")
    weights.add_token_list(tokens)
    weights.add_token_scores([0.0] * 259 + [-float(rank) for rank in range(len(kept))])
    weights.add_token_types(types)
    weights.add_bos_token_id(1)
    weights.add_eos_token_id(2)
    weights.add_unk_token_id(0)
    weights.add_add_space_prefix(True)
    random = np.random.default_rng(0)
    shapes = {"token_embd": (len(tokens), width), "output": (len(tokens), width), "output_norm": (width,)}
    for layer in range(layers):
        shapes |= {f"blk.{layer}.attn_{part}": (width, width) for part in ("q", "k", "v", "output")}
        shapes |= {f"blk.{layer}.ffn_{part}": (inner, width) for part in ("gate", "up")}
        shapes |= {f"blk.{layer}.ffn_down": (width, inner)}
        shapes |= {f"blk.{layer}.{part}_norm": (width,) for part in ("attn", "ffn")}
    for name, shape in shapes.items():
        weights.add_tensor(f"{name}.weight", random.normal(scale=0.1, size=shape).astype(np.float32))
    weights.write_header_to_file()
    weights.write_kv_data_to_file()
    weights.write_tensors_to_file()
    weights.close()
    return file


@pytest.mark.slow
@pytest.mark.llm
@pytest.mark.parametrize("story", ["the_tide_clerk", "marked"])
@pytest.mark.parametrize("outside", [False, True], ids=["embedded", "llama_server"])
def test_prompts_of_a_sentencepiece_model_have_their_length(
    outside: bool, story: str, llama: Path, tmp_path: Path
) -> None:
    text = tmp_path / "marked.txt"
    text.write_text("  The tide ▁ came. <s>It was 1 o'clock.</s> Ｔhe clerk\r\nsaid: “▁No.” 潮が満ちた。\n\n" * 60)
    server = (
        "engine=llama_server",
        "engine.base_url=http://127.0.0.1:0",
        "engine.api=completions",
        f"engine.command='{LLAMA}'",
    )
    done = contextcliff_process(
        *(server if outside else ("engine=llamacpp",)),
        *QUIET,
        *(("dataset=essays", f"dataset.paths=[{text}]") if story == "marked" else ()),
        f"model.gguf.path={llama}",
        "model.name=llama",
        "model.context_window=2048",
        "task.lengths=[600,1200]",
        "task.depths=[0.5]",
        "task.trials=3",
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    (report,) = reports(tmp_path)
    assert not any("only counted" in note for note in report["notes"])
    for line in samples(tmp_path):
        assert line["context_tokens"] - 24 <= line["prompt_tokens"] <= line["context_tokens"]
