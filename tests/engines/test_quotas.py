"""What a provider does not give any more: spent quotas and limits below one prompt end a run, others are waited for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import contextcliff, reports
from tests.engines.fake_server import FakeServer, serving
from tests.engines.test_dialect import asking
from tests.engines.test_exchange import chunk, fault, status, stream

SPENT = {
    "message": "You exceeded your current quota, please check your plan and billing details.",
    "type": "insufficient_quota",
    "code": "insufficient_quota",
}
TOO_LARGE = (
    "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000. The "
    "input or output tokens must be reduced in order to run successfully."
)
GROQ = (
    "Request too large for model `m` in organization `org` service tier `on_demand` on tokens per minute (TPM): Limit "
    "6,000, Requested 8,046, please reduce your message size and try again."
)


@pytest.mark.parametrize(
    ("code", "error", "kind"),
    [
        (402, {"message": "Insufficient Balance"}, "quota"),
        (429, SPENT, "quota"),
        (429, {"message": "You exceeded your current quota, please check your plan and billing details."}, "quota"),
        (429, {"message": "Your account is not active, please check your billing details on our website."}, "quota"),
        (400, {"message": "Your credit balance is too low to access the API."}, "quota"),
        (400, {"message": "ExceededBudget: User=u over budget. Spend=2.0, Budget=1.0", "type": "budget_exceeded"},
         "quota"),
        (403, {"message": "Your team has either used all available credits or reached its spending limit."}, "quota"),
        (429, {"message": TOO_LARGE, "type": "tokens", "code": "rate_limit_exceeded"}, "tokens_per_minute"),
        (413, {"message": GROQ, "type": "tokens", "code": "rate_limit_exceeded"}, "tokens_per_minute"),
        (429, {"message": "on tokens per min (TPM): Limit 30000, Used 100, Requested 40000."}, "tokens_per_minute"),
    ],
)  # fmt: skip
def test_what_no_wait_brings_back_is_fatal(code: int, error: object, kind: str) -> None:
    told = fault(status(code, {"error": error}))
    assert (told.kind, told.fatal, told.retryable) == (kind, True, False)


@pytest.mark.parametrize(
    ("error", "headers"),
    [
        ({"message": "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. "
          "Please try again in 6s."}, {}),
        ({"message": "Rate limit reached on requests per min (RPM): Limit 3, Used 3, Requested 1."}, {}),
        ({"message": "You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded "
          "for metric: free_tier_requests, limit: 5\nPlease retry in 34.8s."}, {}),
        ({"message": "You exceeded your current quota, please check your plan and billing details."},
         {"Retry-After": "7"}),
        ({"message": "Too many requests per min: Limit ,,, Requested ,,"}, {}),
    ],
)  # fmt: skip
def test_a_limit_that_passes_is_waited_for(error: object, headers: dict[str, str]) -> None:
    told = fault(status(429, {"error": error}, **headers))
    assert (told.kind, told.fatal, told.retryable) == ("rate_limit", False, True)


def test_a_refusal_that_repeats_a_prompt_about_money_spends_no_quota() -> None:
    told = fault(status(400, {"error": {"message": "no"}, "input": "There were insufficient funds, and no credits."}))
    assert (told.kind, told.fatal) == ("bad_request", False)


def test_a_quota_that_is_spent_inside_a_stream_is_fatal() -> None:
    told = fault(stream(chunk("12"), {"error": SPENT}))
    assert (told.kind, told.fatal) == ("quota", True)


@pytest.mark.parametrize(
    ("code", "error", "told"),
    [
        (429, SPENT, f"error: quota: Error code: 429 - {SPENT['message']}; add credit or raise the limit at the "
         "provider, or lower sampling.max_tokens; the same command goes on; nothing that was stored is lost\n"),
        pytest.param(
            429, {"message": TOO_LARGE}, f"error: tokens_per_minute: Error code: 429 - {TOO_LARGE}; ask for shorter "
            "prompts (task.lengths), or have the provider raise the limit; nothing that was stored is lost\n",
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_a_run_ends_at_once_and_goes_on_later(
    code: int, error: dict[str, str], told: str, tmp_path: Path, tokenizer: str
) -> None:
    spent = True
    server = FakeServer(
        models=[{"id": "m", "max_model_len": 1024}],
        fault=lambda number: "spent" if spent and number > 4 else None,
        errors={"spent": (code, {"error": error})},
    )
    with serving(server):
        command = asking(server, tokenizer)
        first = contextcliff(*command, cwd=tmp_path)
        asked = len(server.bodies)
        spent = False
        second = contextcliff(*command, cwd=tmp_path)
    assert (first.returncode, first.stderr, asked) == (1, told, 5)
    assert (second.returncode, second.stderr, len(server.bodies)) == (0, "", 5 + 12)
    assert reports(tmp_path)[0]["counts"]["reused"] == 4
