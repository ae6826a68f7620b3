"""llama.cpp's server as an outside process, with the flags of `llama-server` that tests use: run as a file."""

from __future__ import annotations

import argparse
import time
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-m", required=True)
    parser.add_argument("-c", type=int, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("-ctk", default="f16")
    parser.add_argument("-ctv", default="f16")
    parser.add_argument("-fa", default="auto")
    asked = parser.parse_args()
    import xllamacpp

    params: Any = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.port = asked.m, asked.c, asked.port
    params.hostnames, params.endpoint_props, params.verbosity, params.warmup = ["127.0.0.1"], True, -1, False
    params.cache_type_k = getattr(xllamacpp.ggml_type, f"GGML_TYPE_{asked.ctk.upper()}")
    params.cache_type_v = getattr(xllamacpp.ggml_type, f"GGML_TYPE_{asked.ctv.upper()}")
    if asked.fa == "on":
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    server = xllamacpp.Server(params)
    print(f"keys {asked.ctk}, values {asked.ctv}: {server.listening_address}", flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main()
