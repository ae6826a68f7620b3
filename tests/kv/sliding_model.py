"""A tiny model of Gemma 3's layers that llama.cpp loads: of six, five have a sliding window."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFWriter, TokenType

_WIDTH, _HEADS, _HEAD_WIDTH, _LAYERS = 64, 2, 32, 6
_TENSORS = {
    **dict.fromkeys(("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"), (_WIDTH,)),
    **dict.fromkeys(("attn_q_norm", "attn_k_norm"), (_HEAD_WIDTH,)),
    **dict.fromkeys(("attn_k", "attn_v"), (_HEAD_WIDTH, _WIDTH)),
    **dict.fromkeys(("ffn_gate", "ffn_up", "ffn_down"), (_WIDTH, _WIDTH)),
    "attn_q": (_HEADS * _HEAD_WIDTH, _WIDTH),
    "attn_output": (_WIDTH, _HEADS * _HEAD_WIDTH),
}


def sliding_model(path: Path, *, window: int) -> Path:
    writer = GGUFWriter(path, "gemma3")
    writer.add_context_length(32_768)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(_LAYERS)
    writer.add_feed_forward_length(_WIDTH)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(1)
    writer.add_key_length(_HEAD_WIDTH)
    writer.add_value_length(_HEAD_WIDTH)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_sliding_window(window)
    special = ["<pad>", "<eos>", "<bos>", "<unk>"]
    tokens = [*special, *(f"<0x{byte:02X}>" for byte in range(256))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([TokenType.CONTROL] * len(special) + [TokenType.BYTE] * 256)
    shapes = {"token_embd": (len(tokens), _WIDTH), "output_norm": (_WIDTH,)}
    shapes |= {f"blk.{layer}.{name}": shape for layer in range(_LAYERS) for name, shape in _TENSORS.items()}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", np.full(shape, 0.01, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
