"""What a server's refusals take out of a request, in the words of real servers, and what they never take out."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextcliff.engines.openai.session import Dialect
from contextcliff.errors import EngineFault
from tests.commands import QUIET, contextcliff, of_server, reports
from tests.engines.fake_server import FakeServer, serving
from tests.engines.test_exchange import SPENT

MODELS = [{"id": "m", "max_model_len": 1024}]
FIELDS = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 9, "seed": 5, "top_k": 1, "min_p": 0.0}
STREAM: dict[str, object] = {"stream": True, "stream_options": {"include_usage": True}}
USE_THE_OTHER = (
    "Error code: 400 - Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead."
)


@pytest.mark.parametrize(
    ("refusal", "field"),
    [
        ("Unrecognized request argument supplied: seed", "seed"),
        ('Invalid JSON payload received. Unknown name "top_k": Cannot find field.', "top_k"),
        ("property 'top_k' is unsupported, did you mean 'top_p'?", "top_k"),
        ('{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}',
         "seed"),
        ("[{'type': 'extra_forbidden', 'loc': ('body', 'min_p'), 'msg': 'Extra inputs are not permitted'}, "
         "{'type': 'less_than', 'loc': ('body', 'max_tokens'), 'msg': 'Input should be less than 8'}]", "min_p"),
        ("Failed to deserialize the JSON body: unknown field `min_p`, expected one of `model`, `max_tokens`, `seed`",
         "min_p"),
        ("litellm.UnsupportedParamsError: openai does not support parameters: ['top_k'], for model=m", "top_k"),
        ("Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is "
         "supported.", "temperature"),
        ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.", "top_p"),
        ("Completions.create() got an unexpected keyword argument 'top_k'", "top_k"),
        ("Additional properties are not allowed ('min_p' was unexpected)", "min_p"),
        ("top_k isn't supported. max_tokens must be at least 1", "top_k"),
        ("unknown field `stream_options`, expected one of `model`, `max_tokens`", "stream_options"),
        ("Unsupported value: 'stream' does not support true with this model.", "stream"),
        ("Streaming is not supported for this model", "stream"),
        ("Your organization must be verified to stream this model", "stream"),
    ],
)  # fmt: skip
def test_a_field_that_a_server_does_not_know_is_left_out(refusal: str, field: str) -> None:
    dialect = Dialect()
    assert dialect.concede(f"Error code: 400 - {refusal}", STREAM | FIELDS)
    without = {field, "stream_options"} if field == "stream" else {field}
    left = {name: value for name, value in (STREAM | FIELDS).items() if name not in without}
    assert dialect.accepted(STREAM | FIELDS) == left


@pytest.mark.parametrize(
    "refusal",
    [
        "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens.",
        "max_tokens is too large for this key: 48",
        "max_tokens is too large: 5000. This model supports at most 4096 completion tokens",
        '{"detail":[{"type":"greater_than_equal","loc":["body","max_tokens"],"msg":"Input should be at least 1"}]}',
        "temperature must be strictly positive",
        "The model seed-oss-36b is not supported",
        "An unknown error occurred; top_k was 1",
        "something else is wrong",
    ],
)
def test_a_field_that_is_only_mentioned_stays(refusal: str) -> None:
    dialect = Dialect()
    assert not dialect.concede(refusal, STREAM | FIELDS)
    assert dialect.accepted(STREAM | FIELDS) == STREAM | FIELDS


@pytest.mark.parametrize(
    ("bound", "refusal", "instead"),
    [
        ("max_tokens", USE_THE_OTHER, "max_completion_tokens"),
        ("max_tokens", "Unrecognized request argument supplied: max_tokens", "max_completion_tokens"),
        ("max_completion_tokens", "('body', 'max_completion_tokens'): Extra inputs are not permitted", "max_tokens"),
        ("n_predict", "unknown field `n_predict`", "max_completion_tokens"),
    ],
)
def test_a_bound_that_is_refused_has_another_in_its_place(bound: str, refusal: str, instead: str) -> None:
    dialect, fields = Dialect(bound), {"temperature": 0.0, bound: 9}
    assert dialect.concede(refusal, fields)
    assert dialect.accepted(fields) == {"temperature": 0.0, instead: 9}
    with pytest.raises(EngineFault) as raised:
        dialect.concede(f"'{instead}' is not supported", fields)
    assert (raised.value.kind, raised.value.fatal) == ("no_bound", True)
    assert dialect.accepted(fields) == {"temperature": 0.0, instead: 9}


def asking(server: FakeServer, tokenizer: str) -> tuple[str, ...]:
    few = ("task.lengths=[300,600]", "task.depths=[0.0,1.0]", "task.trials=4")
    return (*of_server(server.address, tokenizer), "model=served", "engine.concurrency=1", *few, *QUIET)


def test_a_server_that_takes_no_bound_ends_the_run_at_once(tmp_path: Path, tokenizer: str) -> None:
    bounds = ("max_tokens", "max_completion_tokens")
    server = FakeServer(models=MODELS, refuses={name: f"'{name}' is unknown" for name in bounds})
    with serving(server):
        done = contextcliff(*asking(server, tokenizer), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1,
        "error: no_bound: the server takes neither max_tokens nor max_completion_tokens: Error code: 400 - "
        "'max_completion_tokens' is unknown; name the field that it bounds an answer by with engine.max_tokens_name, "
        "or lower sampling.max_tokens; nothing that was stored is lost\n",
    )
    assert len(server.bodies) <= 2


def test_a_run_ends_at_once_and_goes_on_later(tmp_path: Path, tokenizer: str) -> None:
    spent = True
    server = FakeServer(
        models=MODELS,
        fault=lambda number: "spent" if spent and number > 4 else None,
        errors={"spent": (429, {"error": SPENT})},
    )
    with serving(server):
        command = asking(server, tokenizer)
        first = contextcliff(*command, cwd=tmp_path)
        asked = len(server.bodies)
        spent = False
        second = contextcliff(*command, cwd=tmp_path)
    assert (first.returncode, asked) == (1, 5)
    assert first.stderr == (
        f"error: quota: Error code: 429 - {SPENT['message']}; add credit or raise the limit at the provider, or lower "
        "sampling.max_tokens; the same command goes on; nothing that was stored is lost\n"
    )
    assert (second.returncode, second.stderr, len(server.bodies)) == (0, "", 5 + 12)
    assert reports(tmp_path)[0]["counts"]["reused"] == 4
