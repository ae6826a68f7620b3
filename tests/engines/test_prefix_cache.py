"""`engine.prefix_cache=false`: how each kind of server is told to compute a prompt whole, and what that changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextcliff.errors import ConfigError
from tests.commands import QUIET, contextcliff
from tests.compositions import built
from tests.engines.fake_server import FakeServer, serving

SMALL = ("model=served", "task.lengths=[200]", "task.depths=[0.0,1.0]", "task.trials=2", "task.haystacks=1", *QUIET)
WINDOW = [{"id": "m", "max_model_len": 4096}]


def asked(folder: Path, preset: str, *overrides: str) -> FakeServer:
    with serving(FakeServer(models=WINDOW, counts="/tokenize")) as server:
        done = contextcliff(f"engine={preset}", f"engine.base_url={server.address}", *SMALL, *overrides, cwd=folder)
        assert done.returncode == 0, done.stderr
    assert len(server.bodies) == 4
    return server


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "field"), [("vllm", "cache_salt"), ("sglang", "cache_salt"), ("llama_server", "cache_prompt")]
)
def test_each_request_has_a_salt_of_its_own_or_says_not_to_reuse_a_prompt(
    tmp_path: Path, preset: str, field: str
) -> None:
    told = [body[field] for body in asked(tmp_path, preset, "engine.prefix_cache=false").bodies]
    assert told == [False] * 4 if field == "cache_prompt" else {len(salt) for salt in set(told)} == {32}
    assert len(set(told)) == (1 if field == "cache_prompt" else 4)


@pytest.mark.parametrize("preset", ["openai", "ollama", "koboldcpp"])
def test_a_server_without_such_a_field_is_refused(preset: str) -> None:
    with pytest.raises(ConfigError) as raised:
        built(f"engine={preset}", "model.name=m", "engine.prefix_cache=false").identify()
    assert str(raised.value) == (
        f"engine.prefix_cache=false: engine={preset} has no field that forbids it in a request; start the server "
        "without its prefix cache, and tell its runs apart with label=NAME"
    )


@pytest.mark.parametrize("engine", ["llamacpp", "simulated", "vllm"])
def test_a_run_without_a_cache_is_another_run(engine: str) -> None:
    given = (f"engine={engine}", "model.name=m")
    with_cache = built(*given).identify()
    assert built(*given, "engine.prefix_cache=true").identify() == with_cache
    assert built(*given, "engine.prefix_cache=false").identify().fingerprint != with_cache.fingerprint
    assert "prefix_cache" not in with_cache.respondent.identity
