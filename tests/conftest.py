"""What tests of several folders need."""

from __future__ import annotations

import gc
import os
import sqlite3
from contextlib import suppress
from functools import partial
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings

from contextcliff.composing import conf_dir

# The embedded model takes one core: pytest's workers share them all, and llama.cpp's threads spin while they wait for
# each other. Before anything loads OpenMP, which reads it once; processes that tests start inherit it.
os.environ.setdefault("OMP_THREAD_LIMIT", "1")

# The same examples in every run, so that a change is judged by what it changed: 25 of a property in `make test`, a
# hundred in `make test-all`. HYPOTHESIS_PROFILE=explore draws new ones. No deadline: a busy machine is no failure.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("thorough", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_sessionstart() -> None:
    """Refuse to test over somebody's own defaults: every composed configuration would have them in it."""
    if (mine := conf_dir() / "local" / "default.yaml").is_file():
        pytest.exit(f"{mine} changes what every test composes; move it away while you test", returncode=2)
    _leave_the_disk_its_time()


def _leave_the_disk_its_time() -> None:
    """Let this process and its forks wait for no disk: what they write has to outlive them, not the machine."""

    class Store(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            return super().execute(sql.replace("synchronous = FULL", "synchronous = OFF"), *values)

    class Tracking(sqlite3.Connection):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            with suppress(sqlite3.Error):  # what is no database is found out later, by who asked for it
                self.execute("PRAGMA synchronous = OFF")

    mock.patch("os.fsync").start()
    mock.patch("sqlite3.connect", partial(sqlite3.connect, factory=Store)).start()
    mock.patch("sqlite3.dbapi2.connect", partial(sqlite3.dbapi2.connect, factory=Tracking)).start()  # SQLAlchemy's


def pytest_collection_finish() -> None:
    """Keep the modules and the tests out of every later search for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tokenizer in a folder that cuts much as the fake server does."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r" ?[^\W\d_]{1,7}| ?\d{1,3}|\s+|."), behavior="isolated")
    folder = tmp_path_factory.mktemp("tokenizer")
    PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]").save_pretrained(str(folder))
    return str(folder)
