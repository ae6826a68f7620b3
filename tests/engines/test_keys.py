"""Which key goes where: a provider's to that provider, a login to its address, and none to where it does not belong."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest

from contextcliff.annotation.embedding import OpenAIEmbedding
from contextcliff.engines.openai.http import KNOWN_VARIABLES, PROVIDERS, Address, address_of, variables_for, with_key
from contextcliff.errors import ConfigError, print_error
from tests.commands import QUIET, contextcliff, of_server
from tests.compositions import line_of
from tests.engines.fake_server import FakeServer, serving

LOGIN = "user:p@ss/w0rd #1"
IN_ADDRESS = "user:p%40ss%2Fw0rd%20%231"
PASSWORD = "p@ss/w0rd #1"
KEY = "sk-behind-the-address-0123"
NO_KEYS = dict.fromkeys(KNOWN_VARIABLES, "")
SMALL = ("model=served", "task.lengths=[300]", "task.depths=[0.0,1.0]", "task.trials=2", "engine.max_retries=0")
OPENAI = "https://api.openai.com/v1"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KNOWN_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def at(url: str) -> Address:
    return address_of(url)


def test_a_providers_own_variable_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, name.lower())
    assert with_key(at(GEMINI), None).key == "gemini_api_key"
    assert with_key(at(OPENAI), None).key == "openai_api_key"
    assert with_key(at("http://127.0.0.1:8000"), None).key == "api_key"


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.domain)
def test_a_providers_key_goes_to_no_other_provider(provider: object, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = {name for other in PROVIDERS if other is not provider for name in other.variables}
    for name in theirs:
        monkeypatch.setenv(name, "somebody-elses")
    with pytest.raises(ConfigError, match="needs a key, and none of"):
        with_key(at(f"https://eu.{provider.domain}/v1"), None)  # type: ignore[attr-defined]


def test_a_providers_key_goes_to_a_proxy_that_its_preset_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "gemini")
    proxy = at("http://127.0.0.1:4000")
    assert with_key(proxy, None, preset="gemini").key == "gemini"
    assert with_key(proxy, None, preset="vllm").key == ""
    assert "GEMINI_API_KEY" not in variables_for("openrouter.ai", "gemini")
    assert variables_for("notopenrouter.ai") == variables_for("127.0.0.1")  # it only ends like a provider's name


def test_the_readme_names_every_known_variable() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert [name for name in KNOWN_VARIABLES if f"`{name}`" not in readme] == []


def test_a_missing_key_is_one_line_before_anything_is_contacted(tmp_path: Path) -> None:
    # No network is here, so a contact would be another error.
    done = contextcliff("engine=gemini", "model=gemini", *QUIET, cwd=tmp_path, env=NO_KEYS)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: engine.api_key_env: generativelanguage.googleapis.com needs a key, and none of GEMINI_API_KEY, "
        "GOOGLE_API_KEY, API_KEY, API_PASSWORD is set; export one, or give the name of the variable that holds it with "
        "engine.api_key_env=NAME\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_login_wins_over_a_variable_that_happens_to_be_set_and_not_over_one_that_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somewhere-else")
    address = at("http://me:secret@host")
    assert with_key(address, None).key == ""
    with pytest.raises(ConfigError, match="engine.api_key_env=OPENAI_API_KEY: http://host/v1 has a user and a"):
        with_key(address, "OPENAI_API_KEY")
    with pytest.raises(ConfigError, match="engine.api_key_env=MY_KEY: this variable is not set"):
        with_key(address, "MY_KEY")


@pytest.mark.parametrize("echo", [PASSWORD, IN_ADDRESS.partition(":")[2], base64.b64encode(LOGIN.encode()).decode()])
def test_a_password_that_a_server_echoes_is_hidden_in_every_form(echo: str) -> None:
    address = with_key(at(f"http://{IN_ADDRESS}@host"), None)
    assert echo not in address.hide_in(f"refused: {echo}!")
    assert Address(key="sk-long-enough").hide_in("sk-long-enough") == "***"


def run(url: str, folder: Path, tokenizer: str, *overrides: str) -> subprocess.CompletedProcess[str]:
    asked = (*of_server(url, tokenizer), "reporting.progress=false", "reporting.figures=false", *SMALL, *overrides)
    return contextcliff(*asked, cwd=folder, env={**NO_KEYS, "API_KEY": "" if "@" in url or "?" in url else KEY})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "user", "query", "secrets"),
    [
        (FakeServer(key=KEY), "", "", (KEY,)),
        (FakeServer(login=LOGIN), f"{IN_ADDRESS}@", "", (PASSWORD, IN_ADDRESS.partition(":")[2])),
        (FakeServer(parameter=f"api_key={KEY}"), "", f"?api_key={KEY}&api-version=2", (KEY,)),
    ],
    ids=["a key", "a password", "a key behind the address"],
)
def test_what_an_address_carries_is_sent_and_reaches_nothing_that_a_run_leaves(
    server: FakeServer, user: str, query: str, secrets: tuple[str, ...], tmp_path: Path, tokenizer: str
) -> None:
    server.models = [{"id": "m", "max_model_len": 1024}]
    # The last request fails once, in the server's own words, so that the store keeps a fault.
    server.fault = lambda number: "500" if number == 2 else None
    with serving(server):
        url = f"{server.address.replace('http://', f'http://{user}')}/v1{query}"
        done = run(url, tmp_path, tokenizer)
        planned = run(url, tmp_path, tokenizer, "action=plan", "task.trials=3")
        again = run(url, tmp_path, tokenizer, "action=analyze")
    for each in (done, planned, again):
        assert (each.returncode, each.stderr) == (0, "")
    logins = (base64.b64encode(LOGIN.encode()).decode(),)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {"state.db", "mlflow.db", "plan.json", "report.json", "manifest.json", "config.yaml"} <= {
        f.name for f in files
    }
    for secret in (*secrets, *logins):
        assert secret not in done.stdout + planned.stdout + again.stdout
        assert not [file for file in files if secret.encode() in file.read_bytes()]
    shown = (tmp_path / "mlruns" / "mlflow.db").read_bytes()
    assert server.address.encode() in shown


@pytest.mark.parametrize(
    "override",
    [
        "engine.base_url=http://me:hunter22{@host",
        "engine.base_url=http://me:hun/ter22@host",
        "engine.base_url=[http://me:hunter22@host]",
        "engine.bse_url=http://me:hunter22@host",
        "output_dir=/etc/passwd/http://me:hunter22@host",
    ],
)
def test_a_password_is_in_no_error(override: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_error(line_of("engine=vllm", override, *QUIET))
    assert "ter22" not in capsys.readouterr().err


def test_an_embedder_is_sent_the_login_of_its_address_and_keeps_none_of_it() -> None:
    with serving(FakeServer(login=LOGIN, embeds=lambda text: [float(len(text)), 1.0])) as server:
        embedder = OpenAIEmbedding(base_url=server.address.replace("http://", f"http://{IN_ADDRESS}@"), model="e")
        with embedder.open() as embed:
            assert embed(["abc"]) == ((3.0, 1.0),)
    assert embedder.identity()["base_url"] == f"{server.address}/v1"
