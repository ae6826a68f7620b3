"""What is done to the KV cache while the model reads: the type of its values and how much of it is kept."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contextcliff.settings import Name, settings

CacheType = Literal["f16", "q8_0", "q4_0"]


@settings
class KVPolicy:
    """A KV-cache policy, by what it means to every engine.

    `key_type` and `value_type` are ggml block types (f16 is 16 bits a value, q8_0 8.5, q4_0 4.5);
    `budget` is the share of positions that are kept: 1.0, since none of these evicts any.
    An engine refuses the policies that it can't carry out.
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
        """Whether the cache holds anything but 16-bit values."""
        return (self.key_type, self.value_type) != ("f16", "f16")
