"""Which tokenizer is chosen (the server's, the hub's, tiktoken's), and the error where it can't be loaded."""

from __future__ import annotations

import pytest
import tiktoken

from contextcliff.errors import ConfigError, RunError
from contextcliff.records.sample import Prompt
from contextcliff.text import tokenizer_choice as choices
from contextcliff.text import tokenizers
from contextcliff.text.tokenizers import WordTokenizer

OWN = WordTokenizer()
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}{% if thinking %}!{% endif %}"
)


def sources(
    *, own: WordTokenizer | None = None, hub: str | None = None, **arguments: object
) -> choices.TokenizerSources:
    return choices.TokenizerSources(own=own, hub=hub, template_arguments=arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A byte-level tokenizer with a chat template, saved as a hub repository would have it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({sign: index for index, sign in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    place = tmp_path_factory.mktemp("hub")
    PreTrainedTokenizerFast(tokenizer_object=made, chat_template=TEMPLATE).save_pretrained(str(place))
    return str(place)


@pytest.fixture
def byte_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    """tiktoken without the network: an encoding whose tokens are bytes."""
    ranks = {bytes([value]): value for value in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=r"\s?\w+|\s|.", mergeable_ranks=ranks, special_tokens={})
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: encoding)


@pytest.mark.usefixtures("byte_encoding")
def test_auto_takes_the_servers_own_then_the_models_from_the_hub_then_tiktoken_and_a_name_before_all(
    folder: str,
) -> None:
    assert choices.AutoTokenizer().choose(sources(own=OWN, hub="owner/name")) is OWN
    assert choices.AutoTokenizer().choose(sources(hub=folder)).name == f"huggingface:{folder}"
    assert choices.AutoTokenizer().choose(sources()).name == "tiktoken:o200k_base"
    assert choices.AutoTokenizer(name=folder).choose(sources(own=OWN)).name == f"huggingface:{folder}"


@pytest.mark.parametrize(
    ("choice", "hub", "told"),
    [
        (choices.ServerTokenizer(), "owner/name", "tokenizer=server: this server does not tokenise"),
        (choices.HuggingFaceTokenizer(), None, "give tokenizer.name=OWNER/NAME"),
        (choices.Tiktoken(name="nonsense"), None, "tokenizer.name=nonsense: no such encoding or model; .*o200k_base"),
    ],
)
def test_what_can_not_be_chosen_is_an_error(choice: choices.TokenizerChoice, hub: str | None, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        choice.choose(sources(hub=hub))


def test_the_hub_tokenizer_counts_its_chat_template_where_there_is_one(folder: str) -> None:
    prompt = Prompt(user="Where?", system="Be brief.")
    tokenizer = choices.HuggingFaceTokenizer(name=folder)
    plain = tokenizer.choose(sources()).count_prompt(prompt)
    thinking = tokenizer.choose(sources(thinking=True)).count_prompt(prompt)
    assert plain == len("<system>Be brief.<user>Where?<assistant>")
    assert thinking == plain + 1
    base = choices.TokenizerSources(own=None, hub=folder, template_arguments={}, plain=True)
    assert choices.AutoTokenizer().choose(base).count_prompt(prompt) == len("Be brief.\n\nWhere?")


@pytest.mark.usefixtures("byte_encoding")
def test_tiktokens_offsets_are_characters() -> None:
    text = "Tea at 5, née 茶."
    starts = list(choices.Tiktoken().choose(sources()).starts(text))
    assert starts == sorted(starts)
    assert set(starts) == set(range(len(text)))
    assert len(starts) == len(text.encode())


def test_a_vocabulary_that_cannot_be_fetched_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    import requests

    def unreachable(_: str) -> tiktoken.Encoding:
        raise requests.ConnectionError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", unreachable)
    with pytest.raises(RunError) as raised:
        tokenizers.tiktoken_tokenizer("o200k_base")
    assert str(raised.value) == (
        "tokenizer.name=o200k_base: tiktoken fetches its vocabulary from the network at first use, and that "
        "failed; set TIKTOKEN_CACHE_DIR to a folder that holds it, or take another tokenizer"
    )
