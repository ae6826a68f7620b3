"""What llama.cpp has as its KV cache: the formats and the bytes of a row, read from the state that it saves of a slot.

The server tells neither, and its log does so only together with a line for every request. The saved state of one token
takes a few kilobytes: after headers that change between versions of llama.cpp come, for the keys of every layer and
then the values, the format as a 32-bit number, the bytes of a token as a 64-bit one, and the row itself
(`llama_kv_cache::state_write_data` in its `src/llama-kv-cache.cpp`). The rows are recognised by ending where the file
ends.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import httpx2

from contextcliff.errors import RunError
from contextcliff.records.kv_cache import CacheInUse

_ROW = struct.Struct("<iQ")
_STEP, _LONGEST_HEADER = 4, 4096
_TOKEN = 2
"""Asked alone; no chat template begins with it, so that no prompt goes on from it."""
_STATE = "cache"


def erase(http: httpx2.Client, *, slots: int) -> None:
    """Empty so many slots of a server. Raises `RunError` where it does not answer."""
    for slot in range(slots):
        _post(http, f"/slots/{slot}?action=erase", {})


def read_back(http: httpx2.Client, folder: Path) -> CacheInUse | None:
    """Have the server compute one token and save it into `folder`, its `slot_save_path`; the slot is empty then.

    None for a model whose state can't be saved, and where that is not laid out as described above. Raises `RunError`
    where the server does not answer.
    """
    computed = _post(http, "/completion", {"prompt": [_TOKEN], "n_predict": 1, "id_slot": 0, "cache_prompt": True})
    saved = _post(http, "/slots/0?action=save", {"filename": _STATE})
    erase(http, slots=1)
    if computed.is_error or saved.is_error:
        return None
    return cache_of_state((folder / _STATE).read_bytes())


def _post(http: httpx2.Client, path: str, body: Mapping[str, object]) -> httpx2.Response:
    try:
        return http.post(path, json=body)
    except httpx2.HTTPError as error:
        raise RunError(f"llama.cpp does not answer: {error or type(error).__name__}") from error


def cache_of_state(state: bytes) -> CacheInUse | None:
    """The cache that the saved state of one token describes; None where no description ends where the file does."""
    for start in range(0, min(len(state), _LONGEST_HEADER), _STEP):
        rows = _rows(state, start)
        if rows and len(rows) % 2 == 0:
            keys, values = rows[: len(rows) // 2], rows[len(rows) // 2 :]
            return CacheInUse(
                key_type=_listed(keys),
                value_type=_listed(values),
                bytes_per_token=float(sum(size for _, size in rows)),
                tokens=1,
            )
    return None


def _rows(state: bytes, start: int) -> list[tuple[str, int]]:
    """Format and bytes of each row from there to the end of the file; empty where there are other things."""
    names, rows, offset = _names(), [], start
    while offset + _ROW.size <= len(state):
        kind, size = _ROW.unpack_from(state, offset)
        offset += _ROW.size + size
        if kind not in names or not 0 < size < len(state):
            return []
        rows.append((names[kind], size))
    return rows if offset == len(state) else []


@cache
def _names() -> Mapping[int, str]:
    import xllamacpp

    return {each.value: each.name.removeprefix("GGML_TYPE_").lower() for each in xllamacpp.ggml_type}


def _listed(rows: Sequence[tuple[str, int]]) -> str:
    return "+".join(dict.fromkeys(name for name, _ in rows))
