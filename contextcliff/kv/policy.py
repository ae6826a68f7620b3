"""The `kv_policy` group: the types of the KV cache's keys and values, and the share of positions that is kept."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contextcliff.settings import Name, settings

CacheType = Literal["f16", "q8_0", "q4_0"]


@settings
class KVPolicy:
    """A KV-cache policy. An engine refuses a policy that it can't apply.

    `key_type` and `value_type` are ggml block types (f16 has 16 bits a value, q8_0 8.5, q4_0 4.5). `budget` is the
    share of positions that is kept, always 1.0: no policy here evicts any.
    """

    name: Name
    budget: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    key_type: CacheType = "f16"
    value_type: CacheType = "f16"

    def __post_init__(self) -> None:
        if self.budget < 1.0:
            raise ValueError(
                f"kv_policy.budget={self.budget:g}: kv_policy={self.name} keeps every position, and no policy here "
                "evicts any; leave it at 1.0"
            )

    @property
    def is_quantised(self) -> bool:
        """Whether keys or values have fewer than 16 bits."""
        return (self.key_type, self.value_type) != ("f16", "f16")
