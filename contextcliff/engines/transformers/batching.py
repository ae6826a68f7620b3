"""Several prompts at once: padded on the left to one length, read in one pass, and answered token by token together.

For the cache as the model computes it: a press scores positions and knows of no padding, and a cache in other formats
is stored prompt by prompt. What is computed together is summed in another order, so that a close call between two
tokens can fall the other way, as on any server that batches; in float32 the answers of the tests are those of each
prompt alone. No beginning of a prompt is reused: a batch has as many beginnings as prompts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from contextcliff.engines.transformers.cache_layers import in_use, stores_otherwise
from contextcliff.engines.transformers.decoding import Answer, Decoder, Request

_PADDING = 0
"""Any token: it is masked."""


def can_batch(decoder: Decoder) -> bool:
    """Whether several prompts can be computed together under the decoder's policy."""
    return decoder.eviction is None and decoder.meter is None and not stores_otherwise(decoder.policy, decoder.dtype)


def answers(decoder: Decoder, requests: Sequence[Request]) -> list[Answer]:
    """Answer all of them. Raises `StoppedError` once none is wanted any more.

    The time to the first token is that of the whole batch: it is read in one pass.
    """
    started_s = time.perf_counter()
    with torch.inference_mode(), decoder.while_wanted(lambda: any(each.may_go_on() for each in requests)):
        return _Batch(decoder=decoder, requests=requests, started_s=started_s).answers()


@dataclass(kw_only=True)
class _Batch:
    decoder: Decoder
    requests: Sequence[Request]
    started_s: float

    def answers(self) -> list[Answer]:
        model = self.decoder.loaded.model
        lengths = [len(each.prompt.tokens) for each in self.requests]
        longest = max(lengths)
        rows = [[_PADDING] * (longest - len(each.prompt.tokens)) + list(each.prompt.tokens) for each in self.requests]
        padding = torch.tensor([longest - length for length in lengths], device=model.device)[:, None]
        places = torch.arange(longest, device=model.device)[None]
        mask = (places >= padding).long()
        cache = self.decoder.empty()
        output = model(
            input_ids=torch.tensor(rows, device=model.device),
            attention_mask=mask,
            position_ids=(places - padding).clamp(min=0),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self.decoder.cache_in_use = in_use(cache, tokens=longest * len(rows))
        written: list[list[int]] = [[] for _ in rows]
        ended_s = [0.0] * len(rows)
        self._draw(output.logits[:, -1], written, ended_s)
        first_s = time.perf_counter() - self.started_s
        step = 0
        while not all(ended_s):
            mask = torch.cat([mask, mask.new_ones((len(rows), 1))], dim=-1)
            output = model(
                input_ids=torch.tensor([[each[-1]] for each in written], device=model.device),
                attention_mask=mask,
                position_ids=torch.tensor(lengths, device=model.device)[:, None] + step,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
            self._draw(output.logits[:, -1], written, ended_s)
            step += 1
        ends = self.decoder.loaded.end_tokens
        return [
            Answer(
                tokens=tuple(tokens),
                ended=tokens[-1] in ends,
                cached_tokens=0,
                ttft_s=first_s,
                latency_s=ended,
                entropy=(),
            )
            for tokens, ended in zip(written, ended_s, strict=True)
        ]

    def _draw(self, scores: torch.Tensor, written: list[list[int]], ended_s: list[float]) -> None:
        """Add a token to each answer that has not ended; one that ends here gets its time."""
        for row, request in enumerate(self.requests):
            if ended_s[row]:
                continue
            tokens = written[row]
            tokens.append(request.drawing.next([*request.prompt.tokens, *tokens], scores[row]))
            request.on_tokens(tokens)
            over = tokens[-1] in self.decoder.loaded.end_tokens or len(tokens) >= request.max_tokens
            if over or not request.may_go_on():
                ended_s[row] = time.perf_counter() - self.started_s
