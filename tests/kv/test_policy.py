"""KV policies: what they are called, which engines have them, and what can't be asked of them."""

from __future__ import annotations

import pytest

from contextcliff.errors import ConfigError
from contextcliff.kv.policy import KVPolicy
from tests.compositions import refusal


def q8(**changes: object) -> KVPolicy:
    return KVPolicy(**{"name": "q8_0", "key_type": "q8_0", "value_type": "q8_0", **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("policy", "shown"),
    [
        (KVPolicy(name="none"), "none"),
        (KVPolicy(name="none", key_type="bf16", value_type="bf16"), "bf16"),
        (q8(), "q8_0"),
        (q8(value_type="q4_0"), "q8_0-q4_0"),
        (KVPolicy(name="k8v4", key_type="q8_0", value_type="q4_0"), "k8v4"),
        (KVPolicy(name="snapkv", press="SnapKVPress", budget=0.5), "snapkv-0.5"),
        (KVPolicy(name="snapkv", press="SnapKVPress", sees_question=True), "snapkv-1-sees-question"),
    ],
)
def test_a_policy_is_called_by_what_it_does(policy: KVPolicy, shown: str) -> None:
    assert policy.shown == shown


def test_a_policy_lists_the_engines_that_have_it() -> None:
    with pytest.raises(ConfigError) as refused:
        KVPolicy(name="snapkv", press="SnapKVPress", budget=0.5).require_engine("llamacpp")
    assert str(refused.value) == (
        "kv_policy=snapkv-0.5: engine=llamacpp has no such cache; engines that have it: transformers, simulated"
    )
    with pytest.raises(ConfigError) as refused:
        q8(value_type="fp8").require_engine("llamacpp")
    assert str(refused.value) == (
        "kv_policy=q8_0-fp8: engine=llamacpp has no such cache; no engine has keys of q8_0 with values of fp8"
    )


def test_the_formats_alone_identify_a_policy_that_evicts_nothing() -> None:
    assert q8().identity() == ["q8_0", "q8_0"]
    assert q8(name="mine").identity() == q8().identity()


def test_whether_an_eviction_sees_the_question_is_part_of_its_identity() -> None:
    blind, seeing = (KVPolicy(name="tova", press="TOVAPress", budget=0.5, sees_question=sees) for sees in (False, True))
    assert blind.identity() != seeing.identity()


@pytest.mark.parametrize("key", ["budget=0.5", "sees_question=true"])
def test_what_only_an_eviction_has_is_refused_without_one(key: str) -> None:
    assert refusal(f"kv_policy.{key}") == (
        f"kv_policy.{key}: kv_policy=none evicts nothing; take one that does, such as kv_policy=snapkv, or leave it out"
    )


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    line = refusal("kv_policy=q8_0", "kv_policy.value_type=q3_k")
    assert line.startswith("kv_policy.value_type=q3_k: ")
    assert "'q8_0'" in line
